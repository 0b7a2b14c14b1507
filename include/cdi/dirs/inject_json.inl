// The bodies of <cdi/dirs/inject_json.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_INJECT_JSON_INL
#define CDI_DIRS_INJECT_JSON_INL

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/inject_json.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/targets/config_json.hpp>

namespace cdi::inline CDI_ABI {
namespace detail {

/// Holds a caller's text as a target, and always returns the text at the end.
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

}  // namespace detail

CDI_INLINE Result<void> inject_json(std::string& config, Names names) {
  return inject_json(config, names, default_spec_dirs());
}

CDI_INLINE Result<void> inject_json(std::string& config, Names names,
                                    const std::vector<std::string>& dirs) {
  const auto registry = scan_spec_dirs_for(names, dirs);
  detail::BorrowedText text{config};
  return registry->inject(text.config, names);
}

CDI_INLINE Result<void> inject_json(std::string& config, Names names, Cache& cache) {
  detail::BorrowedText text{config};
  return cache.inject(text.config, names);
}
}  // namespace cdi

#endif  // CDI_DIRS_INJECT_JSON_INL
