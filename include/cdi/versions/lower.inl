// The bodies of <cdi/versions/lower.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_VERSIONS_LOWER_INL
#define CDI_VERSIONS_LOWER_INL

#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/copy_as.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/minimum_version.inl>
#include <cdi/rules/name.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/rules/validate.inl>
#include <cdi/version.hpp>
#include <cdi/versions/lower.hpp>
#include <cdi/versions/lowering.hpp>

namespace cdi {
inline namespace CDI_ABI {

#if CDI_BODIES
CDI_INLINE Error to_error(const Loss& loss) {
  return {.code = Errc::unsupported,
          .message = loss.what + " is lost: " + loss.breaks,
          .where = loss.where};
}
#endif  // CDI_BODIES

namespace detail {

inline Result<void> check_target(Release release) {
  for (const Release known : spec_releases) {
    if (known == release) return {};
  }
  return Error{.code = Errc::unsupported,
               .message = "release " + cdi::to_string(release) + " cannot be the version of a spec",
               .advice = "use one of " + spec_release_names()};
}

/// A spec without its class is useless, because no name leads to its devices.
template <class S>
Result<void> check_target_has_kind(Release release, const BasicSpec<S>& spec) {
  const Release needed = cdi::minimum_version(BasicSpec<S>{.kind = spec.kind});
  if (needed <= release) return {};
  return Error{.code = Errc::unsupported,
               .message = "kind " + cdi::quoted(spec.kind) + " has a dot in its class, which " +
                          cdi::to_string(release) + " does not allow",
               .advice = "rename it, or convert to " + cdi::to_string(needed) + " or newer",
               .where = "kind"};
}

/// Returns the error for a spec without devices, with the reason why the first device is lost.
inline Error no_device_left(Release release, const std::vector<Loss>& losses) {
  Error error{.code = Errc::unsupported,
              .message = cdi::to_string(release) + " can hold none of the devices",
              .where = "devices"};
  for (const auto& loss : losses) {
    if (loss.where == "devices[0]") error.message.append("; ").append(to_error(loss).message);
  }
  return error;
}

/// Returns the first loss as an error, which also names the next few losses.
inline Error refusal(const std::vector<Loss>& losses) {
  constexpr std::size_t named = 4;
  Error error = to_error(losses.front());
  for (std::size_t i = 1; i < losses.size() && i <= named; ++i) {
    error.message.append(i == 1 ? "; also lost: " : ", ").append(losses[i].where);
  }
  if (losses.size() > named + 1) {
    error.message.append(" and ").append(std::to_string(losses.size() - named - 1)).append(" more");
  }
  return error;
}

}  // namespace detail

template <class S>
Result<Lowered> lower(const BasicSpec<S>& spec, Release release, Losses losses) {
  if (auto known = detail::check_target(release); !known) return std::move(known).error();
  if (auto valid = cdi::validate(spec); !valid) return std::move(valid).error();
  if (auto r = detail::check_target_has_kind(release, spec); !r) return std::move(r).error();
  Lowered lowered;
  detail::copy_value(spec, lowered.spec);
  lowered.spec.version = cdi::to_string(release);
  detail::translate_monitoring(lowered.spec.container_edits, release);
  for (auto& device : lowered.spec.devices) {
    detail::translate_monitoring(device.container_edits, release);
  }
  detail::Lowering<Owning> lowering{release, spec.kind};
  lowering.lower_spec(lowered.spec);
  lowered.losses = std::move(lowering).take_losses();
  if (lowered.spec.devices.empty()) return detail::no_device_left(release, lowered.losses);
  if (losses == Losses::refuse && !lowered.losses.empty()) return detail::refusal(lowered.losses);
  assert(cdi::validate(lowered.spec));
  return lowered;
}

#ifdef CDI_SOURCE
template Result<Lowered> lower(const BasicSpec<Owning>&, Release, Losses);
template Result<Lowered> lower(const BasicSpec<Borrowed>&, Release, Losses);
#endif

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_VERSIONS_LOWER_INL
