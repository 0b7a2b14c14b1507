// The bodies of <cdi/files/make_registry.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_MAKE_REGISTRY_INL
#define CDI_FILES_MAKE_REGISTRY_INL

#include <memory>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/files/make_registry.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/registry/loaded_spec.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Registry make_registry(std::vector<SpecText> texts, const ReadOptions& options) {
  std::vector<std::shared_ptr<const LoadedSpec>> specs;
  std::vector<std::shared_ptr<const RejectedFile>> rejected;
  for (auto& one : texts) {
    const auto format = format_of(one.name).value_or(Format::yaml);
    auto read = detail::spec_of_kept_text(std::move(one.text), one.name, format, options);
    if (read.spec) {
      read.spec->priority = one.priority;
      specs.push_back(std::make_shared<const LoadedSpec>(*std::move(read.spec)));
    } else {
      rejected.push_back(std::make_shared<const RejectedFile>(std::move(read.rejected)));
    }
  }
  return Registry{std::move(specs), std::move(rejected)};
}

}  // namespace cdi

#endif  // CDI_FILES_MAKE_REGISTRY_INL
