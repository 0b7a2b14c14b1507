// A survey that is used again while the host would give the same.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendors/kept_survey.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../support/made_up_host.hpp"

namespace {

using namespace prepare;
using namespace std::string_view_literals;
using Kept = std::shared_ptr<const Survey>;

bool trust_each(const sockaddr_nl&, socklen_t) {
  return true;
}

/// A host with an empty PCI bus, and a socket in the place of the kernel's.
struct ToldHost : MadeUpHost {
  ToldHost() {
    make("sys/bus/pci/devices");
    put("proc/devices", "Character devices:\n  1 mem\n");
    options.root = path();
    int ends[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    ours = cdi::Descriptor{ends[0]};
    kernel = cdi::Descriptor{ends[1]};
  }

  void send(std::string_view message) const {
    REQUIRE(::send(kernel.get(), message.data(), message.size(), 0) > 0);
  }

  std::optional<Uevents> events() {
    return Uevents{std::move(ours), &concerns_any_device, &trust_each};
  }

  SurveyOptions options{};
  cdi::Descriptor ours{-1};
  cdi::Descriptor kernel{-1};
};

Kept now(KeptSurvey& kept) {
  auto survey = kept.get();
  REQUIRE(survey);
  return *std::move(survey);
}

/// The survey once one is kept, which takes a few clock ticks after the last change.
Kept settled(KeptSurvey& kept) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  auto last = now(kept);
  for (;;) {
    auto next = now(kept);
    if (next == last) return next;
    REQUIRE(std::chrono::steady_clock::now() < end);
    last = std::move(next);
  }
}

}  // namespace

TEST_CASE("A survey is kept until the host changes") {
  ToldHost host;
  KeptSurvey kept{host.options, host.events()};
  const auto first = settled(kept);
  CHECK(now(kept) == first);
  host.put("proc/devices", "Character devices:\n  2 mem\n");
  CHECK(now(kept) != first);
}

TEST_CASE("A message of the kernel about a device ends a survey") {
  ToldHost host;
  KeptSurvey kept{host.options, host.events()};
  const auto first = settled(kept);
  host.send(
      "add@/devices/x/block/sda\0ACTION=add\0DEVPATH=/devices/x/block/sda\0"
      "SUBSYSTEM=block\0"sv);
  CHECK(now(kept) == first);
  host.send(
      "add@/devices/pci0/0000:01:00.0\0ACTION=add\0DEVPATH=/devices/pci0/0000:01:00.0\0"
      "SUBSYSTEM=pci\0"sv);
  const auto second = now(kept);
  CHECK(second != first);
  CHECK(now(kept) == second);
}

TEST_CASE("A doubt ends a survey, once") {
  ToldHost host;
  KeptSurvey kept{host.options, std::nullopt};
  const auto first = settled(kept);
  kept.doubt();
  const auto second = now(kept);
  CHECK(second != first);
  CHECK(now(kept) == second);
}

TEST_CASE("A survey with GPUs that may be missing is not kept") {
  ToldHost host;
  host.put("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de");  // and no class
  KeptSurvey kept{host.options, std::nullopt};
  settled(*std::make_unique<KeptSurvey>(ToldHost{}.options, std::nullopt));  // let some ticks pass
  CHECK_FALSE(now(kept)->complete);
  CHECK(now(kept) != now(kept));
}

TEST_CASE("Without the kernel's messages, no survey of a real /sys is kept") {
  struct statfs about = {};
  const bool is_there = ::statfs("/sys/bus/pci/devices", &about) == 0 && about.f_type == 0x62656572;
  if (!is_there) {
    MESSAGE("skipped: there is no PCI bus in /sys");
    return;
  }
  KeptSurvey kept{{}, std::nullopt};
  CHECK(now(kept) != now(kept));
}

TEST_CASE("A root that is gone is an error, and a survey again when it is back") {
  ToldHost host;
  KeptSurvey kept{host.options, std::nullopt};
  settled(kept);
  const auto away = host.path() + ".away";
  std::filesystem::rename(host.path(), away);
  CHECK_FALSE(kept.get());
  std::filesystem::rename(away, host.path());
  CHECK(kept.get());
}
