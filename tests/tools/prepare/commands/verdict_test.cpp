// The verdict on a survey, for hosts with and without usable GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/commands/verdict.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../../tools/gpu/model/fault.hpp"
#include "../../../../tools/gpu/model/gpu.hpp"
#include "../../../support/made_up_host.hpp"

using namespace prepare;

namespace {

using Texts = std::vector<std::string>;
using Faults = std::vector<std::optional<Fault>>;

/// A survey with a GPU for each of `faults`, left out when there is one.
Survey survey_with(const Faults& faults) {
  const MadeUpHost host;
  Survey survey{.tree = host.tree()};
  if (faults.empty()) return survey;
  Inventory found{.kind = "nvidia.com/gpu"};
  for (const auto& fault : faults) {
    Gpu gpu{.vendor = "nvidia", .pci_address = "0000:17:00.0"};
    if (fault) gpu.whole.left_out = Problem{*fault, "some reason"};
    found.gpus.push_back(std::move(gpu));
  }
  survey.inventories.push_back(std::move(found));
  return survey;
}

Verdict verdict(const Faults& faults, std::size_t expect = 0) {
  Options options;
  options.expect = expect;
  return verdict_on(survey_with(faults), options);
}

}  // namespace

TEST_CASE("the exit code by what can be handed out") {
  const auto lasting = Fault::bound_to_no_driver;
  const auto intended = Fault::excluded_by_driver;
  const auto passing = Fault::nvidia_node;
  CHECK(verdict({}).code == ExitCode::done);
  CHECK(verdict({std::nullopt}).code == ExitCode::done);
  CHECK(verdict({std::nullopt, lasting}).code == ExitCode::partial);
  CHECK(verdict({std::nullopt, passing}).code == ExitCode::partial);
  CHECK(verdict({lasting, intended}).code == ExitCode::failed);
  CHECK(verdict({lasting, passing}).code == ExitCode::not_ready);
}

TEST_CASE("only a fault that may pass is a reason to wait") {
  CHECK(verdict({Fault::nvidia_node}).not_ready == Texts{"nvidia.com/gpu: some reason"});
  CHECK(verdict({Fault::bound_to_no_driver}).not_ready.empty());
  CHECK(verdict({std::nullopt, Fault::nvidia_node}).not_ready.empty());
}

TEST_CASE("fewer GPUs than expected hold all specs back") {
  CHECK_FALSE(verdict({std::nullopt}, 1).held_back);
  const auto one_less = verdict({std::nullopt}, 2);
  CHECK(one_less.held_back);
  CHECK(one_less.code == ExitCode::not_ready);
  CHECK(one_less.not_ready == Texts{"1 of 2 expected GPUs can be handed out"});
  CHECK(verdict({}, 1).held_back);
}

TEST_CASE("each fault has its message") {
  Options options;
  options.expect = 3;
  auto survey = survey_with({std::nullopt, Fault::nvidia_node});
  survey.inventories.front().warnings = {{Fault::uvm_node, "some warning"}};
  const auto found = verdict_on(survey, options);
  std::string lines;
  std::string records;
  for (const auto& message : survey_messages({std::move(survey), found}, options)) {
    lines += message_text(message);
    records += message_json(message);
  }
  CHECK(lines ==
        "cdi-prepare: warning: some warning\n"
        "cdi-prepare: left out: nvidia GPU 0000:17:00.0: some reason\n"
        "cdi-prepare: not ready: 1 of 3 expected GPUs can be handed out\n");
  CHECK(records ==
        R"({"level":"warning","message":"some warning"})"
        "\n"
        R"({"level":"warning","message":"left out: nvidia GPU 0000:17:00.0: some reason"})"
        "\n"
        R"({"level":"error","message":"not ready: 1 of 3 expected GPUs can be handed out"})"
        "\n");
}

TEST_CASE("the record of an error has the parts of the error") {
  const cdi::Error error{.message = "is wrong",
                         .advice = "write it again",
                         .position = {.file = "/etc/a\nb", .line = 3, .column = 7}};
  CHECK(message_text(Message::error(error)) ==
        "cdi-prepare: error: /etc/a\\nb:3:7: is wrong: write it again\n");
  CHECK(message_json(Message::error(error)) ==
        R"({"level":"error","message":"is wrong","advice":"write it again",)"
        R"("file":"/etc/a\nb","line":3,"column":7})"
        "\n");
  CHECK(message_json(Message::note("made /dev/a")) == R"({"level":"note","message":"made /dev/a"})"
                                                      "\n");
}
