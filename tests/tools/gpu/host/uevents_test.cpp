// Messages of the kernel, real and made up.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/host/uevents.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

namespace {

using cdi::Descriptor;
using namespace prepare;
using namespace std::string_view_literals;

constexpr auto card_added =
    "add@/devices/pci0000:16/0000:17:00.0/drm/card1\0ACTION=add\0"
    "DEVPATH=/devices/pci0000:16/0000:17:00.0/drm/card1\0SUBSYSTEM=drm\0MAJOR=226\0MINOR=1\0"
    "DEVNAME=dri/card1\0DEVTYPE=drm_minor\0SEQNUM=4711\0"sv;
constexpr auto disk_added =
    "add@/devices/x/block/sda\0ACTION=add\0DEVPATH=/devices/x/block/sda\0SUBSYSTEM=block\0"sv;

bool is_of_card(const Uevent& event) {
  return event.subsystem == "drm";
}

bool is_of_memory(const Uevent& event) {
  return event.subsystem == "mem";
}

bool trust_all(const sockaddr_nl&, socklen_t) {
  return true;
}

/// Two ends of a connection that keeps messages apart.
struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    ours = Descriptor{ends[0]};
    theirs = Descriptor{ends[1]};
  }
  void send(std::string_view message) const {
    REQUIRE(::send(theirs.get(), message.data(), message.size(), MSG_DONTWAIT) ==
            static_cast<ssize_t>(message.size()));
  }
  Descriptor ours{-1};
  Descriptor theirs{-1};
};

bool is_readable(int fd, int milliseconds) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, milliseconds) == 1;
}

/// A netlink socket that is not made by what is tested, and its address.
Descriptor netlink_socket(int protocol, std::uint32_t groups, sockaddr_nl& address) {
  Descriptor fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)};
  REQUIRE(fd);
  address = {};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return Descriptor{-1};
  REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return fd;
}

ssize_t send_to(const Descriptor& from, std::string_view message, const sockaddr_nl& to) {
  return ::sendto(from.get(), message.data(), message.size(), MSG_DONTWAIT,
                  reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

}  // namespace

TEST_CASE("a message is read") {
  const auto event = parse_uevent(card_added);
  REQUIRE(event);
  CHECK(event->action == "add");
  CHECK(event->devpath == "/devices/pci0000:16/0000:17:00.0/drm/card1");
  CHECK(event->subsystem == "drm");
  CHECK(event->name() == "card1");
}

TEST_CASE("a text without the kernel's format is not a message") {
  for (const auto text :
       {""sv, "\0"sv, "\0\0\0\0"sv, "@"sv, "add@"sv, "add@/x"sv, "add@/x\0"sv,
        "add@/x\0ACTION=add\0DEVPATH=/x\0"sv, "add@/x\0ACTION=add\0SUBSYSTEM=drm\0"sv,
        "add@/x\0DEVPATH=/x\0SUBSYSTEM=drm\0"sv, "add@/x\0ACTION=\0DEVPATH=/x\0SUBSYSTEM=drm\0"sv,
        "libudev\0\xfe\xed\xca\xfe\0ACTION=add\0DEVPATH=/x\0SUBSYSTEM=drm\0"sv}) {
    CAPTURE(std::string{text});
    CHECK_FALSE(parse_uevent(text));
  }
}

TEST_CASE("odd parts of a message are passed over") {
  const auto event = parse_uevent(
      "add@/x\0=\0\0NOTHING\0SUBSYSTEMS=block\0XACTION=no\0ACTION=add\0ACTION=remove\0DEVPATH=x\0"
      "\xff\xfe=\x01\0SUBSYSTEM=drm"sv);
  REQUIRE(event);
  CHECK(event->action == "add");
  CHECK(event->subsystem == "drm");
  CHECK(event->name() == "x");
}

TEST_CASE("every part of a message can be its end") {
  for (std::size_t size = 0; size <= card_added.size(); ++size) {
    const std::string exact{card_added.substr(0, size)};  // so that a sanitizer sees its end
    const auto event = parse_uevent(exact);
    CHECK(event.has_value() == (card_added.substr(0, size).find("SUBSYSTEM=d") != exact.npos));
  }
}

TEST_CASE("all messages that are there are read at once") {
  Pair pair;
  Uevents events{std::move(pair.ours), &is_of_card, &trust_all};
  CHECK_FALSE(events.drain());

  pair.send(disk_added);
  CHECK_FALSE(events.drain());

  pair.send(card_added);
  for (int i = 0; i < 20; ++i) pair.send(disk_added);
  CHECK(events.drain());
  CHECK_FALSE(is_readable(events.descriptor(), 0));
  CHECK_FALSE(events.drain());
}

TEST_CASE("odd messages neither count nor hide others") {
  Pair pair;
  Uevents events{std::move(pair.ours), &is_of_card, &trust_all};
  for (const auto text : {"\0"sv, "add"sv, "add@/x\0SUBSYSTEM=drm\0"sv}) pair.send(text);
  CHECK_FALSE(events.drain());
  pair.send("\xff\xff"sv);
  pair.send(card_added);
  CHECK(events.drain());
}

TEST_CASE("a message too long to be read may be about GPUs") {
  Pair pair;
  Uevents events{std::move(pair.ours), &is_of_card, &trust_all};
  pair.send(std::string(9000, 'x'));
  CHECK(events.drain());
}

TEST_CASE("the end of a connection, and no socket at all, end the reading") {
  Pair pair;
  Uevents events{std::move(pair.ours), &is_of_card, &trust_all};
  pair.send(card_added);
  pair.theirs = Descriptor{-1};
  CHECK(events.drain());
  CHECK_FALSE(events.drain());

  Uevents none{Descriptor{-1}, &is_of_card, &trust_all};
  CHECK_FALSE(none.drain());
  Uevents file{Descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)}, &is_of_card, &trust_all};
  CHECK_FALSE(file.drain());
}

TEST_CASE("a flood comes to an end") {
  Pair pair;
  const Descriptor sender = std::move(pair.theirs);
  static int to_send = -1;
  to_send = sender.get();
  // Whoever is asked about a message sends the next one.
  Uevents events{std::move(pair.ours), &is_of_card, [](const sockaddr_nl&, socklen_t) {
                   return ::send(to_send, disk_added.data(), disk_added.size(), MSG_DONTWAIT) > 0;
                 }};
  REQUIRE(::send(to_send, disk_added.data(), disk_added.size(), MSG_DONTWAIT) > 0);
  CHECK(events.drain());  // what is left may match
  CHECK(is_readable(events.descriptor(), 0));
}

TEST_CASE("only the kernel has the number 0") {
  sockaddr_nl sender = {};
  sender.nl_family = AF_NETLINK;
  CHECK(is_from_kernel(sender, sizeof sender));
  CHECK_FALSE(is_from_kernel(sender, 0));
  sender.nl_pid = 1;
  CHECK_FALSE(is_from_kernel(sender, sizeof sender));
  sender.nl_pid = 0;
  sender.nl_family = AF_UNIX;
  CHECK_FALSE(is_from_kernel(sender, sizeof sender));
}

TEST_CASE("what another process sends is read and not believed") {
  Pair pair;
  pair.send(card_added);
  Uevents local{std::move(pair.ours), &is_of_card};
  CHECK_FALSE(local.drain());
  CHECK_FALSE(is_readable(local.descriptor(), 0));

  sockaddr_nl to = {};
  sockaddr_nl from = {};
  auto receiver = netlink_socket(NETLINK_USERSOCK, 0, to);
  const auto sender = netlink_socket(NETLINK_USERSOCK, 0, from);
  REQUIRE(receiver);
  REQUIRE(sender);
  REQUIRE(send_to(sender, card_added, to) == static_cast<ssize_t>(card_added.size()));
  REQUIRE(is_readable(receiver.get(), 0));
  Uevents events{std::move(receiver), &is_of_card};
  CHECK_FALSE(events.drain());
  CHECK_FALSE(is_readable(events.descriptor(), 0));
}

TEST_CASE("messages that were lost may have been about GPUs") {
  sockaddr_nl group = {};
  auto receiver = netlink_socket(NETLINK_USERSOCK, 1, group);
  if (!receiver) {
    MESSAGE("skipped 'this user may not join a netlink group'");
    return;
  }
  const int smallest = 0;
  REQUIRE(::setsockopt(receiver.get(), SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest) == 0);
  sockaddr_nl own = {};
  const auto sender = netlink_socket(NETLINK_USERSOCK, 0, own);
  sockaddr_nl to = {};
  to.nl_family = AF_NETLINK;
  to.nl_groups = 1;
  for (int i = 0; i < 1000; ++i) static_cast<void>(send_to(sender, disk_added, to));
  Uevents events{std::move(receiver), &is_of_card};
  CHECK(events.drain());
  CHECK_FALSE(events.drain());
}

TEST_CASE("the kernel's own messages come") {
  auto events = Uevents::open(&is_of_memory);
  sockaddr_nl address = {};
  const auto witness = netlink_socket(NETLINK_KOBJECT_UEVENT, 1, address);
  if (!events || !witness) {
    MESSAGE("skipped 'no messages of the kernel here'");
    return;
  }
  CHECK((::fcntl(events->descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(events->descriptor(), F_GETFL) & O_NONBLOCK) != 0);
  const auto provoke = [&](const char* path) {
    const Descriptor file{::open(path, O_WRONLY | O_CLOEXEC)};
    // Another network namespace than the host's may hear nothing.
    return file && ::write(file.get(), "change", 6) == 6 && is_readable(witness.get(), 5000);
  };
  if (!provoke("/sys/class/mem/null/uevent")) {
    MESSAGE("skipped 'this user may not ask the kernel for an event, or it sends none here'");
    return;
  }
  CHECK(is_readable(events->descriptor(), 5000));
  CHECK(events->drain());
}
