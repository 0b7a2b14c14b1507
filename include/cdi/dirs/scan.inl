// The bodies of <cdi/dirs/scan.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_SCAN_INL
#define CDI_DIRS_SCAN_INL

#include <string_view>

#include <cdi/dirs/scan.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/files/file_state.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE std::vector<std::string> default_spec_dirs() {
  return {"/etc/cdi", "/var/run/cdi"};
}

CDI_INLINE std::shared_ptr<const Registry> scan_spec_dirs(const std::vector<std::string>& paths,
                                                          const ReadOptions& options) {
  const detail::ScanMode mode{.once = true};
  return detail::Scanner{options, mode}
      .scan(paths, nullptr, detail::ScanScope::everything)
      ->registry;
}

CDI_INLINE std::shared_ptr<const Registry> scan_spec_dirs_for(Names names,
                                                              const std::vector<std::string>& paths,
                                                              const ReadOptions& options) {
  const detail::RequestedKinds requested{names};
  const detail::ScanMode mode{.requested = &requested, .once = true};
  const detail::RetryWindow retry_window{options.retry_window};  // shared by all files of this call
  const auto everything = detail::ScanScope::everything;
  const auto found = detail::Scanner{options, mode, retry_window}.scan(paths, nullptr, everything);
  bool all = true;
  names.each(
      [&](std::string_view name) { all = all && found->registry->find(name).device != nullptr; });
  if (all) return found->registry;
  ReadOptions again = options;
  again.keep_last_good = false;  // as if each file had been read once
  return detail::Scanner{again, {.once = true}, retry_window}
      .scan(paths, found, everything)
      ->registry;
}

}  // namespace cdi

#endif  // CDI_DIRS_SCAN_INL
