// The bodies of <cdi/dirs/inject_json.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_INJECT_JSON_HPP
#define CDI_DIRS_IMPL_INJECT_JSON_HPP

#include <string>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/inject_json.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The text of a caller as a target. The caller has it back at the end, whatever happens.
class BorrowedText {
 public:
  explicit BorrowedText(std::string& text) : text_{text} { config.text.swap(text_); }
  BorrowedText(const BorrowedText&) = delete;
  BorrowedText& operator=(const BorrowedText&) = delete;
  ~BorrowedText() { config.text.swap(text_); }

  ConfigJson config{};

 private:
  std::string& text_;
};

CDI_INLINE Result<void> inject_json_from(const std::vector<std::string>* dirs, std::string& config,
                                         AnyNames names) {
  const auto registry =
      detail::scan_for_names(names, dirs == nullptr ? default_spec_dirs() : *dirs, {});
  BorrowedText text{config};
  return registry->inject(text.config, names);
}

CDI_INLINE Result<void> inject_json_with(Cache& cache, std::string& config, AnyNames names) {
  BorrowedText text{config};
  return cache.inject(text.config, names);
}

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_INJECT_JSON_HPP
