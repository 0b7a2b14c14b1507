// The command `slices`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <string>

#include <fmt/format.h>

#include "../../gpu/base/one_line.hpp"
#include "../../gpu/base/options.hpp"
#include "../../gpu/slices/limits.hpp"
#include "../../gpu/slices/resource_slices.hpp"
#include "../../kit/base/result_text.hpp"
#include "../../kit/host/host_tree.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "selection_options.hpp"
#include "verdict.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The name of a host as a node: the host name, which kubelets use by default. Empty if it is
/// unknown.
std::string node_name(const tools::HostTree& tree) {
  auto name = tree.line("/proc/sys/kernel/hostname");
  if (name.empty()) name = tree.line("/etc/hostname");
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return is_dns_subdomain(name, slice_limits::object_name) ? name : std::string{};
}

/// A line for a device.
std::string slice_line(const FoundDevice& device) {
  const auto& gpu = *device.whole.gpu;
  auto out = fmt::format("{} {}", dns_name(device), cdi_name(device));
  if (!gpu.model.empty()) out += ", " + gpu.model;
  if (const auto division = device.division(); !division.empty()) out += ", " + division;
  if (gpu.numa_node) out += fmt::format(", NUMA node {}", *gpu.numa_node);
  if (const auto& fault = device.fault()) {
    out += fmt::format("; tainted, {}: {}", fault->code(), fault->text);
  }
  return as_line(out);
}

ExitCode show_slices(const AssessedSurvey& assessed, const Options& options,
                     const SliceOptions& given) {
  report(survey_messages(assessed, options));
  auto named = given;
  if (named.node.empty()) named.node = node_name(assessed.survey.tree);
  if (named.node.empty()) {
    report(Message::error(cdi::Error{.message = "the host has no name that a node can have",
                                     .advice = "give the name of the node with --node"}));
    return ExitCode::failed;
  }
  if (options.json()) {
    return finish(tools::json_text(slice_list(assessed.survey, named)), assessed.verdict.code);
  }
  std::string out;
  for (const auto& device : all_devices(assessed.survey)) out += slice_line(device);
  return finish(out, assessed.verdict.code);
}

std::string driver_name_fault(const std::string& text) {
  if (is_dns_subdomain(text, slice_limits::driver)) return "";
  return cdi::quoted(text) + " is not the name of a driver: give a DNS name of at most 63 " +
         "characters, such as gpu.example.com";
}

std::string node_name_fault(const std::string& text) {
  if (is_dns_subdomain(text, slice_limits::object_name)) return "";
  return cdi::quoted(text) + " is not the name of a node: see kubectl get nodes";
}

Run set_up_slices(CLI::App& app, Options& options) {
  const auto own = std::make_shared<SliceOptions>();
  own->driver = "gpu.cdi.local";
  app.add_option("--driver", own->driver, "Name of the DRA driver that publishes them")
      ->type_name("NAME")
      ->check(driver_name_fault)
      ->capture_default_str();
  app.add_option("--node", own->node, "Name of this host's node in the cluster")
      ->type_name("NAME")
      ->check(node_name_fault)
      ->default_str("the host name");
  add_driver_place(app, options);
  add_selection(app, options);
  add_survey_options(app, options);
  add_wait(app, options);
  add_output(app, options);
  return after_survey(show_slices, own);
}

}  // namespace

constexpr Command slices_command{"slices", "Show the devices as ResourceSlices of Kubernetes",
                                 set_up_slices, "cdi-prepare slices -o json"};

}  // namespace prepare
