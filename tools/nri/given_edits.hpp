// Finds the devices that a container already has from its runtime or another plugin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_GIVEN_EDITS_HPP
#define CDI_TOOLS_NRI_GIVEN_EDITS_HPP

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <nri.pb.h>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/host.hpp>
#include <cdi/oci.hpp>
#include <cdi/registry.hpp>

#include "container_spec.hpp"

namespace nri {

/// The edits that a container has, which show its devices. Not every runtime reports the names in
/// the CRI field, or whether it reads the container's own annotations.
class GivenEdits {
 public:
  /// `host_root` is the root directory of the host.
  GivenEdits(const Container& container, std::string host_root)
      : has_{shown(container_spec(container))} {
    host_.options.root = std::move(host_root);
  }

  /// Whether the container has all those edits of a device that every version of NRI shows. False
  /// if the whole spec has the same edits, since they may come from another device. If the device
  /// has a node of its own, the names of variables are enough: another device may have changed the
  /// values.
  bool include(const cdi::ResolvedDevice& device) const {
    const auto& own = device.device->container_edits;
    const bool is_shown =
        !own.env.empty() || !own.device_nodes.empty() || !own.mounts.empty() || !own.hooks.empty();
    cdi::oci::Spec bare;
    if (!is_shown || !cdi::Registry::inject_resolved(bare, std::span{&device, 1}, host_)) {
      return false;
    }
    const auto wanted = shown(bare);
    return has_all(has_.others, wanted.others) &&
           (own.device_nodes.empty() ? has_all(has_.env, wanted.env)
                                     : has_all(has_.variables, wanted.variables));
  }

 private:
  using Texts = std::set<std::string, std::less<>>;

  /// A text that identifies each edit.
  struct Edits {
    Texts env{}, variables{};  // with and without values
    Texts others{};
  };

  static bool has_all(const Texts& texts, const Texts& wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&texts](const auto& text) { return texts.contains(text); });
  }

  static std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const auto part : parts) text.append(part).append(1, '\0');
    return text;
  }

  static void add_hooks(std::string_view point, const std::vector<cdi::oci::Hook>& hooks,
                        Texts& out) {
    for (const auto& hook : hooks) {
      auto text = joined({point, hook.path});
      for (const auto& word : hook.args) text += joined({word});
      out.insert(std::move(text));
    }
  }

  static Edits shown(const cdi::oci::Spec& spec) {
    Edits edits;
    if (spec.process) {
      for (const auto& entry : spec.process->env) {
        edits.env.insert(entry);
        edits.variables.insert(entry.substr(0, entry.find('=')));
      }
    }
    for (const auto& mount : spec.mounts) {
      edits.others.insert(joined({"mount", mount.destination, mount.source}));
    }
    if (spec.hooks) {
      add_hooks("prestart", spec.hooks->prestart, edits.others);
      add_hooks("createRuntime", spec.hooks->create_runtime, edits.others);
      add_hooks("createContainer", spec.hooks->create_container, edits.others);
      add_hooks("startContainer", spec.hooks->start_container, edits.others);
      add_hooks("poststart", spec.hooks->poststart, edits.others);
      add_hooks("poststop", spec.hooks->poststop, edits.others);
    }
    if (spec.linux_) {
      for (const auto& node : spec.linux_->devices) {
        edits.others.insert(joined({"node", node.path, node.type, std::to_string(node.major),
                                    std::to_string(node.minor)}));
      }
    }
    return edits;
  }

  Edits has_;
  cdi::HostWithOptions<> host_{};
};

}  // namespace nri

#endif  // CDI_TOOLS_NRI_GIVEN_EDITS_HPP
