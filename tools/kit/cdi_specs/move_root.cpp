// `move_root`: replaces the root of host or container paths in a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "move_root.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/rules/minimum_version.hpp>

namespace tools {

using namespace cdi;

namespace {

/// Moves the paths of edits from one root to another, and counts the members that it changes.
class RootMove {
 public:
  RootMove(std::string_view from, std::string_view to, PathsOf paths)
      : from_{without_slash(clean_path(from))},
        to_{without_slash(clean_path(to))},
        host_{paths == PathsOf::host} {}

  std::size_t changed() const { return changed_; }

  void move(ContainerEdits& edits) {
    for (auto& node : edits.device_nodes) move_node(node);
    for (auto& mount : edits.mounts) move_path(host_ ? mount.host_path : mount.container_path);
    for (auto& hook : edits.hooks) move_hook(hook);
  }

 private:
  /// The root as a prefix of the paths below it: empty for `/`.
  static std::string without_slash(std::string path) { return path == "/" ? std::string{} : path; }

  /// Returns a path below the new root; nullopt if the path is not below the old root.
  std::optional<std::string> moved(std::string_view path) const {
    if (!path.starts_with('/')) return std::nullopt;
    const auto clean = clean_path(path);
    std::string_view below = clean;
    if (!below.starts_with(from_)) return std::nullopt;
    below.remove_prefix(from_.size());
    if (!below.empty() && !below.starts_with('/')) return std::nullopt;
    if (below == "/") below = {};
    auto result = std::string{to_}.append(below);
    return result.empty() ? "/" : result;
  }

  void replace(std::string& text, std::string value) {
    if (value == text) return;
    text = std::move(value);
    ++changed_;
  }

  void move_path(std::string& path) {
    if (auto result = moved(path)) replace(path, *std::move(result));
  }

  /// Moves one path of a node. The other path stays, even if it was the default for the first.
  void move_node(DeviceNode& node) {
    const std::string host = node.host_path.empty() ? node.path : node.host_path;
    auto result = moved(host_ ? host : node.path);
    if (!result || *result == (host_ ? host : node.path)) return;
    node.host_path = host;
    (host_ ? node.host_path : node.path) = *std::move(result);
    if (node.host_path == node.path) node.host_path.clear();
    ++changed_;
  }

  void move_hook(Hook& hook) {
    const bool host_program = hook.hook_name != "startContainer";
    const bool host_arguments = host_program && hook.hook_name != "createContainer";
    if (host_program == host_) move_path(hook.path);
    if (host_arguments != host_) return;
    for (auto& argument : hook.args) move_argument(argument);
  }

  void move_argument(std::string& argument) {
    const auto mark = argument.find("::");
    if (mark == std::string::npos) return move_path(argument);
    const auto target = argument.substr(0, mark);
    const auto link = argument.substr(mark + 2);
    replace(argument, moved(target).value_or(target) + "::" + moved(link).value_or(link));
  }

  std::string from_;
  std::string to_;
  bool host_;
  std::size_t changed_ = 0;
};

}  // namespace

Result<std::size_t> move_root(Spec& spec, std::string_view from, std::string_view to,
                              PathsOf paths) {
  for (const auto root : {from, to}) {
    if (root.starts_with('/')) continue;
    return Error{.code = Errc::invalid,
                 .message = "root " + cdi::quoted(root) + " is not an absolute path",
                 .advice = "begin it with a slash"};
  }
  RootMove move{from, to, paths};
  for (auto& device : spec.devices) move.move(device.container_edits);
  move.move(spec.container_edits);
  const auto version = parse_spec_version(spec.version);
  const auto needed = minimum_version(spec);
  if (move.changed() != 0 && version && *version < needed) spec.version = to_string(needed);
  return move.changed();
}

}  // namespace tools
