// How `watch` waits for a change of the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/commands/watch.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../../tools/gpu/model/gpu_events.hpp"
#include "../../../support/made_up_host.hpp"

namespace {

using namespace prepare;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

constexpr auto gpu_event =
    "add@/devices/pci0/0000:01:00.0\0ACTION=add\0DEVPATH=/devices/pci0/0000:01:00.0\0"
    "SUBSYSTEM=pci\0"sv;
constexpr auto disk_event =
    "add@/devices/x/block/sda\0ACTION=add\0DEVPATH=/devices/x/block/sda\0SUBSYSTEM=block\0"sv;

bool trust_every_sender(const sockaddr_nl&, socklen_t) {
  return true;
}

/// What `watch` waits for: signals, and messages of a socket in the place of the kernel's.
struct Waiting {
  Waiting() {
    int ends[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    uevents.emplace(cdi::Descriptor{ends[0]}, &concerns_any_device, &trust_every_sender);
    kernel = cdi::Descriptor{ends[1]};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    signals = cdi::Descriptor{ends[0]};
    signaller = cdi::Descriptor{ends[1]};
  }

  void send(std::string_view message) const {
    REQUIRE(::send(kernel.get(), message.data(), message.size(), 0) > 0);
  }

  std::optional<Uevents> uevents{};
  cdi::Descriptor kernel{-1};
  cdi::Descriptor signals{-1};
  cdi::Descriptor signaller{-1};
};

}  // namespace

TEST_CASE("an event of a device ends the wait, before its time") {
  Waiting now;
  now.send(gpu_event);
  now.send(gpu_event);
  CHECK(wait_for_change(now.signals, now.uevents, std::chrono::hours{1}));
}

TEST_CASE("without an event of a device, the wait takes its time") {
  Waiting now;
  CHECK(wait_for_change(now.signals, now.uevents, 1ms));
  now.send(disk_event);
  CHECK(wait_for_change(now.signals, now.uevents, 20ms));
  now.uevents.reset();
  CHECK(wait_for_change(now.signals, now.uevents, 1ms));
}

TEST_CASE("a signal ends the program") {
  Waiting now;
  now.send(gpu_event);
  REQUIRE(::write(now.signaller.get(), "x", 1) == 1);
  CHECK_FALSE(wait_for_change(now.signals, now.uevents, std::chrono::hours{1}));
}

TEST_CASE("events of all devices count where a vendor file is") {
  const MadeUpHost host;
  Options options;
  options.root = host.path();
  CHECK_FALSE(has_vendor_files(options));
  options.vendor_files = {"/npu.toml"};
  CHECK(has_vendor_files(options));
  options.vendor_files.clear();
  host.make("etc/cdi-prepare.d");
  CHECK(has_vendor_files(options));
  options.root = host / "nothing";
  CHECK_FALSE(has_vendor_files(options));
}

TEST_CASE("a message is news if its kind or its text is another") {
  const Messages one{Message::note("a")};
  CHECK(one == Messages{Message::note("a")});
  CHECK(one != Messages{Message::warning("a")});
  CHECK(one != Messages{Message::note("b")});
}
