// What the type and the options of a mount mean, as runc reads them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_MOUNT_OPTIONS_HPP
#define CDI_RULES_MOUNT_OPTIONS_HPP

#include <string_view>

#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Returns whether a mount's type is a file system type, so that the source need not be a path.
constexpr bool is_file_system(std::string_view type) {
  return !type.empty() && type != "bind" && type != "rbind" && type != "none";
}

/// Returns whether the options make a mount a bind mount in runc, which then ignores the type. runc
/// fails to mount a source with neither such an option nor a file system type.
template <class List>
constexpr bool has_bind(const List& options) {
  for (const std::string_view option : options) {
    if (option == "bind" || option == "rbind") return true;
  }
  return false;
}

/// Returns whether a mount can only be a bind mount, which shows a file or directory of the host:
/// programs other than runc need no option for it.
template <class S>
constexpr bool is_bind_mount(const BasicMount<S>& mount) {
  return has_bind(mount.options) || !is_file_system(mount.type);
}

/// Returns whether the last of two opposite options in a list is `yes`, or `otherwise` if the list
/// has neither.
template <class List>
constexpr bool last_is(const List& options, std::string_view yes, std::string_view no,
                       bool otherwise) {
  for (const std::string_view option : options) {
    if (option == yes || option == no) otherwise = option == yes;
  }
  return otherwise;
}

/// Returns whether a mount with these options is read-only. The last of `ro` and `rw` decides, but
/// runtimes apply `rro` and `rrw` after the mount, to all that is mounted below it, too.
template <class List>
constexpr bool is_read_only(const List& options) {
  return last_is(options, "rro", "rrw", last_is(options, "ro", "rw", false));
}

/// Returns whether any runtime makes a mount with these options writable: old ones ignore `rro`,
/// and others may apply `rrw` despite a later `rro`.
template <class List>
constexpr bool may_be_writable(const List& options) {
  for (const std::string_view option : options) {
    if (option == "rrw") return true;
  }
  return !last_is(options, "ro", "rw", false);
}

}  // namespace cdi::detail

#endif  // CDI_RULES_MOUNT_OPTIONS_HPP
