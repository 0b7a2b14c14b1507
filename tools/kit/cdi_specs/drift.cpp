// `find_drift`: finds device nodes of specs whose type or number has changed on the host.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "drift.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/host_options.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/registry.hpp>

namespace tools {

using namespace cdi;
using cdi::detail::about_edits;
using cdi::detail::drift_of;
using cdi::detail::EditsOfDevices;
using cdi::detail::HostRef;
using cdi::detail::item_path;
using cdi::detail::NodeView;

namespace {

NodeView view_of(const DeviceNode& node) {
  NodeView view;
  view.path = node.path;
  view.host_path = node.host_path;
  view.type = node.type;
  view.major = node.major;
  view.minor = node.minor;
  return view;
}

}  // namespace

std::vector<Error> find_drift(std::span<const ResolvedDevice> devices, const HostRef& host) {
  const EditsOfDevices found{devices};
  std::vector<Error> out;
  for (std::size_t i = 0; i < found.edits.size(); ++i) {
    const auto& nodes = found.edits[i]->device_nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      HostNode on_host;
      auto drift = drift_of(view_of(nodes[n]), host, on_host);
      if (!drift) continue;
      auto error = (*std::move(drift)).under(item_path("deviceNodes", n));
      out.push_back(found.trace(about_edits(std::move(error), i)));
    }
  }
  return out;
}

}  // namespace tools
