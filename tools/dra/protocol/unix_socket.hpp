// The files of unix sockets.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

namespace dra {

/// The address of a socket. `Errc::invalid` if the path is too long.
inline cdi::Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = "the path of a socket has at most 107 bytes",
                      .position = {.file = path}};
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

/// Whether a process serves a socket; an error if that is unknown.
inline cdi::Result<bool> is_served(const std::string& path, const sockaddr_un& address) {
  const cdi::Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  if (socket && ::connect(socket.get(), any, sizeof address) == 0) return true;
  switch (errno) {
    case EAGAIN:
    case EINPROGRESS:
    case EPROTOTYPE: return true;  // it is busy, or has another type
    case ECONNREFUSED:
    case ENOENT: return false;
    default: return cdi::file_error(path, "cannot find out whether a process serves the socket");
  }
}

/// Removes a socket that no process serves. `Errc::conflict` if one does, or if the file is not a
/// socket.
inline cdi::Result<void> remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return cdi::file_error(path, "cannot read the file");
  }
  const auto conflict = [&](std::string message, std::string advice) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = std::move(message),
                      .advice = std::move(advice),
                      .position = {.file = path}};
  };
  if (!S_ISSOCK(found.st_mode)) return conflict("it is not a socket", "remove it");
  const auto served = is_served(path, address);
  if (!served) return served.error();
  if (*served) return conflict("another process serves this socket", "end it first");
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return cdi::file_error(path, "cannot remove the socket");
}

}  // namespace dra
