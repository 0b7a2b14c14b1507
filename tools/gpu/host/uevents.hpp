// Receives kernel messages about devices, drivers and modules.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <linux/netlink.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <system_error>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"

namespace prepare {

/// A kernel message about a device or module.
struct Uevent {
  std::string action{};     // "add", "remove", "bind", "unbind", "change"
  std::string devpath{};    // under /sys: "/devices/virtual/misc/vfio", "/module/nvidia"
  std::string subsystem{};  // "misc", "module"

  /// The last part of `devpath`.
  std::string_view name() const {
    const std::string_view path = devpath;
    return path.substr(path.rfind('/') + 1);
  }
};

/// Parses a message; nullopt if it is not in the kernel's format.
inline std::optional<Uevent> parse_uevent(std::string_view message) {
  const auto lines = tools::split(message, std::string_view{"\0", 1});
  if (lines.empty() || lines.front().find('@') == std::string::npos) return std::nullopt;
  Uevent event;
  const std::pair<std::string_view, std::string*> wanted[] = {
      {"ACTION=", &event.action}, {"DEVPATH=", &event.devpath}, {"SUBSYSTEM=", &event.subsystem}};
  for (const auto& line : lines) {
    for (const auto& [key, value] : wanted) {
      if (value->empty() && line.starts_with(key)) *value = line.substr(key.size());
    }
  }
  if (event.action.empty() || event.devpath.empty() || event.subsystem.empty()) return std::nullopt;
  return event;
}

/// Whether a netlink message is from the kernel; other processes may also be allowed to send
/// messages.
inline bool is_from_kernel(const sockaddr_nl& sender, socklen_t size) {
  return size >= sizeof sender && sender.nl_family == AF_NETLINK && sender.nl_pid == 0;
}

/// A subscription to kernel messages.
class Uevents {
 public:
  /// Whether the caller waits for an event.
  using Matches = bool (*)(const Uevent&);

  /// Whether a sender is trusted.
  using Trust = bool (*)(const sockaddr_nl& sender, socklen_t size);

  /// Subscribes to kernel messages. Needs no privileges.
  static cdi::Result<Uevents> open(Matches matches) {
    cdi::Descriptor fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,  //
                                NETLINK_KOBJECT_UEVENT)};
    sockaddr_nl address = {};
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1;  // the kernel's; udev repeats them in group 2
    const auto* const any = reinterpret_cast<const sockaddr*>(&address);
    if (!fd || ::bind(fd.get(), any, sizeof address) != 0) {
      const int number = errno;
      return cdi::Error{.code = cdi::Errc::system,
                        .message = "cannot subscribe to kernel events: " +
                                   std::generic_category().message(number),
                        .system = number};
    }
    return Uevents{std::move(fd), matches};
  }

  /// Reads messages from any socket.
  Uevents(cdi::Descriptor socket, Matches matches, Trust trust = &is_from_kernel)
      : socket_{std::move(socket)}, matches_{matches}, trust_{trust} {}

  /// Readable (`poll`) if messages are waiting. This object closes the descriptor.
  int descriptor() const { return socket_.get(); }

  /// Reads all waiting messages without blocking. Returns whether a message matches, or may match
  /// because messages were lost, or are left in a flood of them.
  bool drain() {
    bool found = false;
    for (int left = at_once; left > 0; --left) {
      const auto message = receive();
      if (message == Message::none) return found;
      found = found || message == Message::matching;
    }
    return true;
  }

 private:
  enum class Message { none, matching, other };

  static constexpr int at_once = 10000;  // limits the work during a flood of messages

  Message receive() {
    char text[8192];  // the kernel writes at most 2048 bytes plus the path
    sockaddr_nl sender = {};
    iovec space{.iov_base = text, .iov_len = sizeof text};
    msghdr header = {};
    header.msg_name = &sender;
    header.msg_namelen = sizeof sender;
    header.msg_iov = &space;
    header.msg_iovlen = 1;
    const auto size = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT);
    if (size < 0 && errno == ENOBUFS) return Message::matching;
    if (size < 0 && errno == EINTR) return Message::other;
    if (size <= 0) return Message::none;
    if (!trust_(sender, header.msg_namelen)) return Message::other;
    if ((header.msg_flags & MSG_TRUNC) != 0) return Message::matching;
    const auto event = parse_uevent({text, static_cast<std::size_t>(size)});
    return event && matches_(*event) ? Message::matching : Message::other;
  }

  cdi::Descriptor socket_;
  Matches matches_;
  Trust trust_;
};

}  // namespace prepare
