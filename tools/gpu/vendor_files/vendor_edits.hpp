// The edits of a vendor file other than its nodes: mounts, environment and hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../../kit/host/host_tree.hpp"
#include "placeholders.hpp"
#include "vendor_file.hpp"

// An entry with a placeholder belongs to its device, any other to all containers.

namespace prepare {

inline bool is_constant(const VendorMount& mount) {
  return mount.host.is_constant() && mount.target().is_constant();
}

/// Adds a mount; an optional one only if the host has its source.
inline cdi::Result<void> add_mount(const VendorMount& mount, const DeviceFacts& facts,
                                   cdi::ContainerEdits& edits) {
  auto host = mount.host.expand_path(facts);
  auto container = mount.target().expand_path(facts);
  if (mount.is_optional && (!host || !container || !facts.tree->mode(*host))) return {};
  if (!host) return std::move(host).error();
  if (!container) return std::move(container).error();
  edits.mounts.push_back({.host_path = std::move(*host),
                          .container_path = std::move(*container),
                          .options = mount.options});
  return {};
}

/// Expands each text of a list.
inline cdi::Result<std::vector<std::string>> expanded(const std::vector<Template>& texts,
                                                      const DeviceFacts& facts) {
  std::vector<std::string> out;
  for (const auto& text : texts) {
    auto value = text.expand(facts);
    if (!value) return std::move(value).error();
    out.push_back(std::move(*value));
  }
  return out;
}

inline cdi::Result<cdi::Hook> hook_for(const VendorHook& hook, const DeviceFacts& facts) {
  cdi::Hook out{.hook_name = hook.name, .path = hook.path, .timeout = hook.timeout};
  auto args = expanded(hook.args, facts);
  if (!args) return std::move(args).error();
  auto env = expanded(hook.env, facts);
  if (!env) return std::move(env).error();
  out.args = std::move(*args);
  out.env = std::move(*env);
  return out;
}

/// The constant edits of a vendor file, or the others.
inline cdi::Result<cdi::ContainerEdits> edits_of(const VendorFile& file, const DeviceFacts& facts,
                                                 bool constant) {
  cdi::ContainerEdits edits;
  for (const auto& mount : file.mounts) {
    if (is_constant(mount) != constant) continue;
    if (auto good = add_mount(mount, facts, edits); !good) return std::move(good).error();
  }
  for (const auto& variable : file.env) {
    if (variable.is_constant() != constant) continue;
    auto text = variable.expand(facts);
    if (!text) return std::move(text).error();
    edits.env.push_back(std::move(*text));
  }
  for (const auto& hook : file.hooks) {
    if (hook.is_constant() != constant) continue;
    auto made = hook_for(hook, facts);
    if (!made) return std::move(made).error();
    edits.hooks.push_back(std::move(*made));
  }
  return edits;
}

/// The edits for a container with one of the devices.
inline cdi::Result<cdi::ContainerEdits> device_edits_of(const VendorFile& file,
                                                        const DeviceFacts& facts) {
  return edits_of(file, facts, false);
}

/// The edits for every container with a device.
inline cdi::ContainerEdits shared_edits_of(const tools::HostTree& tree, const VendorFile& file) {
  const DeviceFacts none{.tree = &tree};
  auto edits = edits_of(file, none, true);
  return edits ? std::move(*edits) : cdi::ContainerEdits{};  // no placeholder, so no error
}

}  // namespace prepare
