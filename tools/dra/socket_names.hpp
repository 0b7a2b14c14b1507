// The sockets of a driver in the kubelet's directories.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/directory.hpp>
#include <cdi/result.hpp>

#include "../kit/base/sha256.hpp"

// Two instances of a driver run side by side while a DaemonSet is updated. The kubelet calls the
// one that registered last.

namespace dra {

/// The paths of an instance.
struct SocketNames {
  std::string data_dir{};      // KUBELET_DIR/plugins/DRIVER
  std::string registry_dir{};  // KUBELET_DIR/plugins_registry
  std::string service{};       // the socket for claims
  std::string registration{};  // the socket that the kubelet finds
  std::string serial_lock{};   // of all instances
};

/// The longest path of a socket.
inline constexpr std::size_t max_socket_path = 107;

namespace detail {

/// Bytes in URL-safe base64, without padding.
inline std::string base64_of(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned left = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    left = (left << 8 | static_cast<unsigned char>(c)) & 0xffff;
    bits += 8;
    for (; bits >= 6; bits -= 6) out += digits[left >> (bits - 6) & 63];
  }
  if (bits > 0) out += digits[left << (6 - bits) & 63];
  return out;
}

/// The first bytes of a text's SHA-256 digest, in base64.
inline std::string hash_of(std::string_view text, std::size_t size) {
  const auto digest = tools::sha256(text);
  const auto hex = std::string_view{digest}.substr(digest.find(':') + 1);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    const auto digit = [&](std::size_t at) {
      const char c = hex[at];
      return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    };
    bytes += static_cast<char>(digit(2 * i) << 4 | digit(2 * i + 1));
  }
  return base64_of(bytes);
}

}  // namespace detail

/// Makes a missing folder for sockets, as the kubelet does: other users can neither list it,
/// whatever the umask is, nor replace a socket.
inline cdi::Result<void> make_kubelet_folder(const std::string& path) {
  const auto made = cdi::detail::open_or_make_directory(path, 0750);
  return made ? cdi::Result<void>{} : made.error();
}

/// The paths of a driver under the kubelet's directory, which is absolute; `instance`, the UID of
/// the pod, is empty without rolling updates. Names with a UID are shortened by hashes until the
/// path fits. `Errc::limit` if none does.
inline cdi::Result<SocketNames> socket_names(const std::string& kubelet_dir,
                                             const std::string& driver,
                                             const std::string& instance) {
  SocketNames out{.data_dir = kubelet_dir + "/plugins/" + driver,
                  .registry_dir = kubelet_dir + "/plugins_registry"};
  out.service = out.data_dir + "/dra.sock";
  out.registration = fmt::format("{}/{}-reg.sock", out.registry_dir, driver);
  out.serial_lock = out.data_dir + "/serialize.lock";
  if (!instance.empty()) {
    const auto of_uid = detail::hash_of(instance, 8);
    out.service = fmt::format("{}/dra-{}.sock", out.data_dir, instance);
    if (out.service.size() > max_socket_path) {
      out.service = fmt::format("{}/dra-{}.sock", out.data_dir, of_uid);
    }
    const auto of_both = detail::hash_of(fmt::format("{}{}{}", driver, '\0', instance), 16);
    for (const auto& name :
         {fmt::format("{}-{}-reg.sock", driver, instance),
          fmt::format("{}-{}-reg.sock", driver, of_uid), fmt::format("dra-{}-reg.sock", of_both)}) {
      out.registration = out.registry_dir + "/" + name;
      if (out.registration.size() <= max_socket_path) break;
    }
  }
  for (const auto& path : {out.service, out.registration}) {
    if (path.size() <= max_socket_path) continue;
    return cdi::Error{
        .code = cdi::Errc::limit,
        .message = fmt::format("the path of a socket has at most {} bytes", max_socket_path),
        .advice = "use a shorter --kubelet-dir or --driver",
        .position = {.file = path}};
  }
  return out;
}

}  // namespace dra
