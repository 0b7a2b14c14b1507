// The option `--make-nodes`: makes the missing nodes of NVIDIA's driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/make_node.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/vendors/driver_place.hpp"
#include "../../gpu/vendors/nvidia_nodes.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "../../kit/host/host_tree.hpp"
#include "output.hpp"

// On a fresh host, no program has used a GPU yet and made the nodes.

namespace prepare {

inline std::string to_line(const tools::HostNode& node) {
  return fmt::format("{} {} {}:{} {:04o} uid {} gid {}", node.path, node.type, node.major,
                     node.minor, node.mode, node.uid, node.gid);
}

/// The nodes that are not made; they are not reported again.
struct UnmadeNodes {
  std::vector<std::string> reasons{};          // why nodes are not tried
  std::map<std::string, cdi::Error> errors{};  // by path: why nodes cannot be made
};

/// Makes a missing node. Reports it, or adds the error to `errors`.
inline void make_and_report(const SurveyOptions& options, const std::string& dev_root,
                            tools::HostNode node, std::map<std::string, cdi::Error>& errors) {
  const auto path = node.path;
  node.path.insert(0, dev_root);
  if (options.make_nodes == MakeNodes::shown) {
    report(Message::note("would make " + to_line(node)));
    return;
  }
  const auto made = make_node(options.root, node);
  if (!made && made.error().system == EEXIST) return;  // by another program, just now
  if (!made) {
    auto error = made.error();
    error.message.insert(0, "cannot make ");
    error.advice = ::geteuid() == 0 ? "run nvidia-modprobe on the host" : "run this as root";
    errors.emplace(path, std::move(error));
    return;
  }
  make_char_link(options.root, node);
  report(Message::note("made " + to_line(node)));
}

/// Makes the missing nodes whose kernel module is loaded, or only reports them. A node that cannot
/// be made is reported, and does not prevent others. `unmade` is from the last call.
inline cdi::Result<void> make_missing_nodes(const SurveyOptions& options, UnmadeNodes& unmade) {
  if (options.make_nodes == MakeNodes::no) return {};
  auto tree = open_host(options);
  if (!tree) return tree.error();
  const auto dev_root = dev_root_of(*tree, options);
  if (!dev_root) return dev_root.error();
  if (!dev_root->empty()) tree->set_dev_root(*dev_root);
  const auto missing = nvidia::NodeCheck{*tree}.all();
  if (missing.not_made != std::exchange(unmade.reasons, missing.not_made)) {
    for (const auto& reason : unmade.reasons) report(Message::warning("not made: " + reason));
  }
  const auto known = std::exchange(unmade.errors, {});
  for (const auto& node : missing.nodes) {
    make_and_report(options, *dev_root, node, unmade.errors);
  }
  for (const auto& [path, error] : unmade.errors) {
    const auto same = known.find(path);
    const bool is_known =
        same != known.end() && cdi::to_string(same->second) == cdi::to_string(error);
    if (!is_known) report(Message::error(error));
  }
  return {};
}

/// Advice if nodes that containers need are missing; empty otherwise.
inline std::string advice_on_nodes(const SurveyOptions& options) {
  auto tree = open_host(options);
  const auto dev_root = tree ? dev_root_of(*tree, options) : tree.error();
  if (!dev_root) return {};
  if (!dev_root->empty()) tree->set_dev_root(*dev_root);
  const auto missing = nvidia::NodeCheck{*tree}.needed();
  if (missing.nodes.empty()) return {};
  auto arguments = place_arguments(options);
  for (auto& one : tools::keeping_arguments(*tree, "/var/run/cdi")) {
    arguments.push_back(std::move(one));
  }
  arguments.emplace_back("--make-nodes");
  const auto more = missing.nodes.size() - 1;
  return fmt::format("advice: the driver is loaded, but {}{} not exist: {} makes the missing nodes",
                     *dev_root + missing.nodes.front().path,
                     more > 0 ? fmt::format(" and {} more do", more) : " does",
                     tools::command_with(*tree, "write", arguments));
}

}  // namespace prepare
