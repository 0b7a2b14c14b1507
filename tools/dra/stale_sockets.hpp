// Removes sockets of killed instances.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "protocol/unix_socket.hpp"
#include "socket_names.hpp"

// The kubelet would continue to call them.

namespace dra {

namespace detail {

/// Removes a socket unless a process serves it.
inline bool remove_if_stale(const std::string& path) {
  const auto address = address_of(path);
  return address && remove_stale(path, *address);
}

/// The UID of an instance in the name of its socket; empty if the name has another form.
inline std::string instance_in(const std::string& file) {
  constexpr std::string_view begin = "dra-";
  constexpr std::string_view end = ".sock";
  const bool is_one = file.starts_with(begin) && file.ends_with(end);
  return is_one ? file.substr(begin.size(), file.size() - begin.size() - end.size())
                : std::string{};
}

}  // namespace detail

/// Removes the sockets of a driver's instances that no longer run. Leaves other drivers' sockets
/// and other files.
inline void remove_stale_sockets(const SocketNames& own, const std::string& driver) {
  namespace fs = std::filesystem;
  const auto kubelet_dir = fs::path{own.registry_dir}.parent_path().string();
  std::error_code failed;
  for (fs::directory_iterator at{own.data_dir, failed}, end; !failed && at != end;
       at.increment(failed)) {
    const auto file = at->path().filename().string();
    const auto instance = detail::instance_in(file);
    if (instance.empty() && file != "dra.sock") continue;
    const auto names = socket_names(kubelet_dir, driver, instance);
    if (!detail::remove_if_stale(at->path().string()) || !names) continue;
    detail::remove_if_stale(names->registration);
  }
}

}  // namespace dra
