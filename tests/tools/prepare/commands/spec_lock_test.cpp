// Runs that change specs exclude each other, from the survey of the host to the last change.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/commands/spec_lock.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/text_file.hpp>

#include "../../../../tools/prepare/commands/verdict.hpp"
#include "../../../../tools/prepare/commands/watch.hpp"
#include "../../../../tools/prepare/commands/write.hpp"
#include "../../../support/made_up_host.hpp"

namespace {

using namespace prepare;
using State = DirectoryLock::State;

/// A host with a GPU of a vendor file, whose node has this number now, and perhaps a directory for
/// specs.
struct LockedHost : MadeUpHost {
  LockedHost() {
    put("etc/cdi-prepare.d/acme.toml", "kind = \"acme.com/npu\"\ndevices = \"/dev/npu*\"\n");
    make("sys/bus/pci/devices");
    put("proc/devices", "Character devices:\n 510 acme\n 511 acme\n");
    options.root = path();
    options.output_dir = *this / "run/cdi";
    set_number(510);
  }

  void set_number(int major) const {
    put("dev/npu0", "");
    put("dev.tab", "/dev/npu0 c " + std::to_string(major) + " 0 0666 0 0\n");
  }

  State state() const {
    return DirectoryLock::take(options, options.output_dir, Missing::stays).state();
  }

  std::string spec() const {
    const auto text = cdi::read_file(*this / "run/cdi/acme.com-npu.yaml");
    REQUIRE(text);
    return *text;
  }

  Options options{};
};

}  // namespace

TEST_CASE("a run waits for the lock, but a process that keeps it prevents no spec") {
  const LockedHost host;
  const auto other = DirectoryLock::take(host.options, host.options.output_dir, Missing::stays);
  REQUIRE(other.state() == State::held);
  std::chrono::steady_clock::duration left = std::chrono::milliseconds{10};
  CHECK(lock_specs(host.options, Missing::stays, left).state() == State::busy);
  CHECK(left <= left.zero());
  SpecKeeper patient{host.options, {}};
  SpecKeeper hasty{host.options, {.max_wait = std::chrono::milliseconds{0}}};
  for (int i = 0; i < 3; ++i) patient.survey();
  CHECK(std::filesystem::is_empty(host / "run/cdi"));
  for (int i = 0; i < 3; ++i) hasty.survey();
  CHECK(host.spec().find("major: 510") != std::string::npos);
}

TEST_CASE("the lock is held from before the survey until its result is no longer used") {
  const LockedHost host;
  {
    const auto assessed = survey_until_ready(host.options, Missing::stays);
    REQUIRE(assessed);
    CHECK(assessed->lock.state() == State::held);
    CHECK(host.state() == State::busy);
  }
  CHECK(host.state() == State::held);
}

TEST_CASE("commands that change no spec neither take the lock nor wait for it") {
  const LockedHost host;
  const auto other = DirectoryLock::take(host.options, host.options.output_dir, Missing::stays);
  REQUIRE(other.state() == State::held);
  const auto assessed = survey_until_ready(host.options);
  REQUIRE(assessed);
  CHECK(assessed->lock.state() == State::impossible);
}

TEST_CASE("where there is no lock to take, the run goes on") {
  LockedHost host;
  host.remove("run/cdi");
  CHECK(host.state() == State::missing);
  CHECK_FALSE(std::filesystem::exists(host / "run/cdi"));
  host.put("run/cdi", "a file");
  CHECK(host.state() == State::impossible);
  const auto assessed = survey_until_ready(host.options, Missing::stays);
  REQUIRE(assessed);
  CHECK(assessed->lock.state() == State::impossible);
}

TEST_CASE("specs of a directory that was made after the survey stay") {
  LockedHost host;
  REQUIRE(write_specs(*survey_until_ready(host.options, Missing::stays), host.options, {}) ==
          ExitCode::done);
  const auto written = host.spec();
  host.remove("run/cdi");
  host.remove("dev/npu0");
  auto assessed = survey_until_ready(host.options, Missing::stays);  // sees no device
  REQUIRE(assessed);
  host.put("run/cdi/acme.com-npu.yaml", written);  // by a later run
  CHECK(write_specs(std::move(*assessed), host.options, {}) == ExitCode::done);
  CHECK(host.spec() == written);
}

TEST_CASE("a run that makes the directory surveys the host again") {
  LockedHost host;
  host.remove("run/cdi");
  auto assessed = survey_until_ready(host.options, Missing::stays);
  REQUIRE(assessed);
  host.set_number(511);
  CHECK(write_specs(std::move(*assessed), host.options, {}) == ExitCode::done);
  CHECK(host.spec().find("major: 511") != std::string::npos);
}

TEST_CASE("the second survey has only the time that the first left of --wait") {
  LockedHost host;
  host.remove("run/cdi");
  host.put("etc/cdi-prepare.d/wrong.toml", "kind = 3\n");  // --wait may see its correction
  host.options.wait = 0.1;
  auto assessed = survey_until_ready(host.options, Missing::stays);
  REQUIRE(assessed);
  host.options.wait = 3600;  // the test would not end if the second survey waited
  CHECK(write_specs(std::move(*assessed), host.options, {}) == ExitCode::not_ready);
  CHECK(host.spec().find("major: 510") != std::string::npos);

  host.remove("etc/cdi-prepare.d/wrong.toml");
  assessed = survey_until_ready(host.options, Missing::stays);  // waits for nothing
  REQUIRE(assessed);
  CHECK(assessed->wait_left > 0);
  CHECK(assessed->wait_left <= 3600);
}
