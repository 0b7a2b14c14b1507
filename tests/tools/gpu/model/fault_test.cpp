// The table of faults.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/model/fault.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace prepare;

namespace {

/// The options of each nvidia-modprobe in a text.
std::vector<std::string_view> options_of_nvidia_modprobe(std::string_view text) {
  constexpr std::string_view program = "nvidia-modprobe ";
  std::vector<std::string_view> found;
  for (auto at = text.find(program); at != text.npos; at = text.find(program)) {
    text.remove_prefix(at + program.size());
    auto end = std::min(text.find_first_of(".;("), text.find(" for "));
    auto options = text.substr(0, end);
    while (options.ends_with(' ')) options.remove_suffix(1);
    found.push_back(options);
  }
  return found;
}

}  // namespace

// That each fault is found on some host is tested by faults_test.py.

TEST_CASE("each fault has a code of its own, and a remedy") {
  std::set<std::string_view> codes;
  for (const auto& row : fault_meanings) {
    CAPTURE(row.code);
    CHECK(codes.insert(row.code).second);
    CHECK_FALSE(row.code.empty());
    CHECK(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(remedy_for(row.fault, "`x`").ends_with('.'));
    CHECK((remedy_for(row.fault, "`x`").find("`x`") == std::string::npos) ==
          row.after_command.empty());
  }
}

// `nvidia-modprobe -c MINOR` creates a node of the module nvidia, with -u one of nvidia-uvm, and
// with -s one of nvidia-nvswitch. Without -c and -m it creates none.
TEST_CASE("the advised nvidia-modprobe creates the missing node") {
  const std::pair<Fault, std::vector<std::string_view>> advised[] = {
      {Fault::nvidia_node, {"-c N"}}, {Fault::nvidiactl_node, {"-c 255", "-u -c 0"}},
      {Fault::uvm_node, {"-u -c 0"}}, {Fault::uvm_tools_node, {"-u -c 0"}},  // creates both nodes
      {Fault::modeset_node, {"-m"}},  {Fault::fabric_node, {"-s -c MINOR"}},
      {Fault::mig_node, {"-f FILE"}}};
  std::set<Fault> with_command;
  for (const auto& [fault, options] : advised) {
    const auto& row = meaning_of(fault);
    CAPTURE(row.code);
    const bool as_advised = options_of_nvidia_modprobe(remedy_for(fault, "`x`")) == options;
    CHECK(as_advised);
    with_command.insert(fault);
  }
  for (const auto& row : fault_meanings) {
    CAPTURE(row.code);
    const auto remedy = remedy_for(row.fault, "`x`");
    CHECK(with_command.contains(row.fault) == !options_of_nvidia_modprobe(remedy).empty());
  }
}

TEST_CASE("a problem has the code and the persistence of its fault") {
  CHECK(Problem{Fault::no_compute_instance, "x"}.code() == "no-compute-instance");
  CHECK(Problem{Fault::other_libraries, "x"}.code() == "other-libraries");
  CHECK_FALSE(Problem{Fault::nvidia_node, "x"}.is_lasting());
  CHECK(Problem{Fault::bound_to_no_driver, "x"}.is_lasting());
  CHECK(Problem{Fault::excluded_by_driver, "x"}.is_lasting());
}
