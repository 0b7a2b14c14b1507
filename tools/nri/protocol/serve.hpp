// `nri::serve`: runs a plugin on the NRI socket of a runtime.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "plugin.hpp"
#include "session.hpp"

namespace nri {

/// The socket where runtimes expect plugins.
inline constexpr const char* default_socket = "/var/run/nri/nri.sock";

/// How a plugin reaches its runtime.
struct ServeOptions {
  std::string socket = default_socket;
  /// Called with the reason why there is no connection, once for each reason.
  std::function<void(const cdi::Error&)> disconnected{};
};

namespace detail {

inline cdi::Error socket_error(std::string_view path, std::string_view what, int number) {
  return {.code = cdi::Errc::system,
          .message = std::string{what} + ": " + std::generic_category().message(number),
          .position = {.file = std::string{path}},
          .system = number};
}

/// Connects to a Unix socket.
inline Result<cdi::Descriptor> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return cdi::Error{.code = cdi::Errc::invalid,
                      .message = "the path of a socket has from 1 to 107 bytes",
                      .position = {.file = path}};
  }
  std::memcpy(&address.sun_path[0], path.data(), path.size());
  cdi::Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!socket) return socket_error(path, "cannot make a socket", errno);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    auto error = socket_error(path, "cannot connect", errno);
    error.advice = "check that the runtime runs and that NRI is switched on in it";
    return error;
  }
  return socket;
}

/// Sends all of `bytes`.
inline Result<void> send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return socket_error("", "cannot send", errno);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// Talks until the runtime closes the connection. Returns whether the runtime accepted the plugin,
/// so that events could come.
inline Result<bool> converse(const Plugin& plugin, int socket) {
  constexpr std::size_t buffer_size = 1 << 16;
  const auto buffer = std::make_unique<char[]>(buffer_size);
  Session session{plugin};
  while (true) {
    if (auto sent = send_all(socket, session.take_output()); !sent) return sent.error();
    const auto count = ::recv(socket, buffer.get(), buffer_size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return socket_error("", "cannot receive", errno);
    if (count == 0) return session.is_synchronized();
    const std::string_view bytes{buffer.get(), static_cast<std::size_t>(count)};
    if (auto done = session.receive(bytes); !done) return done.error();
  }
}

/// The descriptor of a plugin that the runtime launched; nothing for another one.
inline Result<std::optional<int>> launched_socket() {
  constexpr const char* variable = "NRI_PLUGIN_SOCKET";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::optional<int>{};
  int number = -1;
  const auto* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= 0) return std::optional{number};
  return cdi::Error{
      .code = cdi::Errc::invalid,
      .message = std::string{variable} + " is " + cdi::quoted(text) + ", which is not a descriptor",
      .advice = "unset it, unless a runtime launches this plugin"};
}

}  // namespace detail

/// Takes name and index from the environment if the runtime has launched this process.
inline void use_launched_name(Plugin& plugin) {
  if (const char* const name = std::getenv("NRI_PLUGIN_NAME")) plugin.name = name;
  if (const char* const index = std::getenv("NRI_PLUGIN_IDX")) plugin.index = index;
}

/// Runs a plugin. If the runtime has launched this process, returns when it closes the connection.
/// Otherwise connects again whenever the runtime goes away, after a pause of 50 ms that doubles up
/// to 1 s, and returns only if the plugin is refused or the socket cannot exist, with the error.
inline Result<void> serve(const Plugin& plugin, const ServeOptions& options = {}) {
  using std::chrono::milliseconds;
  constexpr milliseconds first_pause{50};
  constexpr milliseconds max_pause{1000};
  const auto launched = detail::launched_socket();
  if (!launched) return launched.error();
  if (*launched) {
    const cdi::Descriptor socket{**launched};
    ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
    auto done = detail::converse(plugin, socket.get());
    return done ? Result<void>{} : done.error();
  }
  std::string reason;
  for (auto pause = first_pause;; pause = std::min(pause * 2, max_pause)) {
    Result<bool> known{false};
    {
      const auto socket = detail::connect_to(options.socket);
      known = socket ? detail::converse(plugin, socket->get()) : Result<bool>{socket.error()};
    }
    if (known && *known) pause = first_pause / 2;
    auto error = known ? cdi::Error{.code = cdi::Errc::system,
                                    .message = "the runtime has closed the connection"}
                       : std::move(known).error();
    error.position.file = options.socket;
    if (error.code == cdi::Errc::denied || error.code == cdi::Errc::invalid) return error;
    if (options.disconnected && to_string(error) != reason) options.disconnected(error);
    reason = known && *known ? "" : to_string(error);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace nri
