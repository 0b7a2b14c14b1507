// The findings about GPUs and their nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/gpus.hpp"

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("GPUs that are well") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  host.put("var/run/cdi/a.json", spec_of_gpu(195, "{}"));
  const auto findings = diagnose(host, {inventory()});
  CHECK(is_only(findings, "nvidia.com/gpu", Level::good, {"1 of 1"}));
  CHECK(about(findings, "nvidia GPU 0000:17:00.0").empty());
  CHECK_FALSE(has_fault(findings));
}

namespace {

/// The advice for a fault, with the whole command.
std::string advice_for(const Host& host, Fault fault) {
  return remedy_for(fault, doctor::make_nodes_command(host.tree(), {}));
}

}  // namespace

TEST_CASE("each fault has its own level and advice, whatever its text is") {
  const Host host;
  for (const auto& row : fault_meanings) {
    CAPTURE(row.code);
    auto found = inventory();
    found.gpus.front().whole.left_out = Problem{row.fault, "some text"};
    const bool intended = row.persistence == Persistence::intended;
    const auto findings = diagnose(host, {found});
    CHECK(is_only(findings, "nvidia GPU 0000:17:00.0", intended ? Level::note : Level::fault,
                  {"left out: some text", advice_for(host, row.fault)}));
    CHECK(about(findings, "nvidia GPU 0000:17:00.0").front().code == row.code);
  }
}

TEST_CASE("a text that looks like a command stays as it is") {
  const Host host;
  auto found = inventory();
  const std::string text = "cdi-prepare write --make-nodes";
  found.gpus.front().whole.left_out = Problem{Fault::nvidia_node, text};
  const auto findings = diagnose(host, {found});
  CHECK(is_only(findings, "nvidia GPU 0000:17:00.0", Level::fault,
                {"left out: " + text, "create it: `cdi-prepare write --root " + host.tree().root() +
                                          " --make-nodes`, or nvidia-modprobe -c N"}));
}

TEST_CASE("each partition that is left out") {
  const Host host;
  auto found = inventory();
  found.gpus[0].partitions = {
      {.suffix = ":gi1:ci0", .left_out = Problem{Fault::mig_node, "nvidia-cap1"}},
      {.suffix = ":gi2:ci0"}};
  const auto findings = diagnose(host, {found});
  CHECK(is_only(findings, "nvidia GPU 0000:17:00.0:gi1:ci0", Level::fault, {"nvidia-cap1"}));
  CHECK(about(findings, "nvidia GPU 0000:17:00.0:gi2:ci0").empty());
}

TEST_CASE("a GPU on no bus goes by its name") {
  const Host host;
  Gpu gpu{
      .vendor = "other", .id = "soc:gpu", .whole = {.left_out = Problem{Fault::udev_node, "x"}}};
  Inventory found{.kind = "drm.local/gpu"};
  found.gpus.push_back(gpu);
  CHECK(about(diagnose(host, {found}), "other GPU soc:gpu").size() == 1);
}

TEST_CASE("a GPU whose UUID is not known yet") {
  const Host host;
  auto found = inventory();
  found.gpus[0].id.clear();
  CHECK(is_only(diagnose(host, {found}), "nvidia GPU 0000:17:00.0", Level::note,
                {"UUID", "nvidia-persistenced"}));
}

TEST_CASE("what is not ready, missing or warned of") {
  const Host host;
  const auto level_and_advice = [&](const Inventory& found) {
    const auto findings = about(diagnose(host, {found}), found.kind);
    REQUIRE(findings.size() == 1);
    return std::pair{findings[0].level, findings[0].advice};
  };
  const auto expected = [&](Level level, Fault fault) {
    return std::pair{level, advice_for(host, fault)};
  };
  auto found = inventory();
  found.not_ready = Problem{Fault::nvidiactl_node, "x"};
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::nvidiactl_node));
  CHECK(about(diagnose(host, {found}), found.kind).front().code == "nvidiactl-node");

  found = inventory();
  found.missing = {{{Fault::uvm_module, "x"}, compute | video}};
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::uvm_module));
  found.missing.push_back({{Fault::uvm_module, "y"}, compute | video});  // of the same module
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::uvm_module));
  // A server without a screen does not need it.
  found.missing = {{{Fault::modeset_module, "x"}, graphics}};
  CHECK(level_and_advice(found).first == Level::good);

  found = inventory();
  for (const auto fault : {Fault::uvm_tools_node, Fault::modeset_node, Fault::other_libraries}) {
    found.warnings = {{fault, "x"}};
    CHECK(level_and_advice(found) == expected(Level::note, fault));
  }
  found.warnings = {{Fault::uvm_node, "x"}};  // without it no CUDA program runs
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::uvm_node));
}

TEST_CASE("links in /dev/char, where they are needed") {
  const Host host;
  auto found = inventory();
  found.control_nodes = {{{.path = "/dev/nvidiactl", .major = 195, .minor = 255}}};
  found.gpus[0].whole.nodes.push_back({{.path = "/dev/dri/card0", .major = 226, .minor = 0}});
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.put("usr/bin/runc", "");
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.make("run/systemd/system");
  CHECK(is_only(diagnose(host, {found}), "/dev/char", Level::note,
                {"without a link: 2 (the first is 195:0).", "create-dev-char-symlinks"}));
  host.make("dev/char");
  host.link("../nvidia0", "dev/char/195:0");
  CHECK(is_only(diagnose(host, {found}), "/dev/char", Level::note,
                {"without a link: 1 (the first is 195:255)."}));
  host.link("../nvidiactl", "dev/char/195:255");
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.remove("usr/bin/runc");
  CHECK(about(diagnose(host, {inventory()}), "/dev/char").empty());
}
