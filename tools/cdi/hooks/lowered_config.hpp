// Replaces hooks in an OCI config with their effects.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_HOOKS_LOWERED_CONFIG_HPP
#define CDI_TOOLS_CDI_HOOKS_LOWERED_CONFIG_HPP

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/cdi.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/targets/json_patch.hpp>
#include <cdi/text/member_case.hpp>

#include "host_hooks.hpp"
#include "made_paths.hpp"

/// The annotation in a config with the changes for `cdi rootfs`: `cdi::RootChanges` as JSON.
inline constexpr std::string_view changes_annotation = "cdi-hooks/root-changes";

/// The changes recorded in a config; none without the annotation. `where` of an error is a path in
/// the config.
inline cdi::Result<cdi::RootChanges> recorded_changes(const cdi::oci::Spec& spec) {
  const auto found = spec.annotations.find(changes_annotation);
  if (found == spec.annotations.end()) return cdi::RootChanges{};
  auto changes = cdi::read_json<cdi::RootChanges>(found->second);
  if (changes) return changes;
  auto error = std::move(changes).error();
  error.message = fmt::format("the annotation {}: {}", changes_annotation, to_string(error));
  error.where = "annotations";
  return error;
}

/// A hook that stays.
struct KeptHook {
  cdi::oci::HookPoint point{};
  std::size_t index = 0;  // in the list of its hook point
  cdi::oci::Hook hook{};
  cdi::Error why{};  // without a place in the text
};

/// A config without its lowered hooks.
struct LoweredConfig {
  std::string text{};
  std::vector<KeptHook> kept{};
};

namespace detail {

inline cdi::SortedOutline outline_of(const cdi::oci::Spec& spec) {
  cdi::ContainerOutline outline;
  for (const auto& mount : spec.mounts) outline.mounts.push_back({mount.destination, mount.type});
  outline.environment = spec.process ? spec.process->env : std::vector<std::string>{};
  if (!spec.linux_) return cdi::SortedOutline{std::move(outline)};
  for (const auto& node : spec.linux_->devices) {
    outline.nodes.push_back({node.path, node.type, node.minor});
  }
  return cdi::SortedOutline{std::move(outline)};
}

/// Whether NVIDIA's libraries would create device nodes in containers on this host.
inline bool host_lets_create_nodes() {
  const auto text = cdi::read_file(std::string{cdi::params_path});
  return text && cdi::masked_params(*text);
}

/// `Errc::schema` if an object has a member that is one of `keys` in another case.
inline cdi::Result<void> check_case(const cdi::Document::Value& object, std::string_view path,
                                    std::span<const std::string_view> keys) {
  for (const auto [name, value] : object.members()) {
    for (const auto key : keys) {
      if (!cdi::detail::is_in_other_case(name.text(), key)) continue;
      auto error = cdi::detail::wrong_case(name.text(), key, path);
      error.position = name.position();
      return error;
    }
  }
  return {};
}

/// Checks the names of the members that lowering changes, and of their parents. The model reads the
/// names in any case, but runtimes would see two members.
inline cdi::Result<void> check_case(const cdi::Document& document) {
  constexpr std::array<std::string_view, 3> parts{"annotations", "hooks", "linux"};
  constexpr std::array<std::string_view, 1> devices{"devices"};
  if (auto good = check_case(document.root(), {}, parts); !good) return good;
  for (const auto [name, value] : document.root().members()) {
    cdi::Result<void> good;
    if (name.text() == "hooks") good = check_case(value, "hooks", cdi::oci::hook_point_names);
    if (name.text() == "linux") good = check_case(value, "linux", devices);
    if (!good) return good;
  }
  return {};
}

/// Lowers the hooks of one config.
class HookLowering {
 public:
  HookLowering(const cdi::Document& document, cdi::oci::Spec spec, BundlePaths bundle)
      : patch_{document},
        spec_{std::move(spec)},
        host_{std::move(bundle), spec_},
        outline_{outline_of(spec_)} {}

  cdi::Result<LoweredConfig> run() {
    if (!spec_.hooks) return LoweredConfig{patch_.text()};
    // An invalid record is an error only if it must be written again.
    if (const auto earlier = recorded_changes(spec_)) static_cast<void>(made_.add(*earlier));
    for (std::size_t i = 0; i < cdi::oci::hook_point_names.size(); ++i) {
      auto done = lower_point(static_cast<cdi::oci::HookPoint>(i));
      if (!done) return done.error();
    }
    const auto all = cdi::merge(lowered_);
    if (auto done = add_annotation(all.changes); !done) return done.error();
    add_hooks(all);
    if (auto done = add_nodes(all.node_links); !done) return done.error();
    return LoweredConfig{patch_.text(), std::move(kept_)};
  }

 private:
  using Id = cdi::detail::JsonPatch::Id;
  static constexpr Id root = cdi::detail::JsonPatch::root;

  /// Whether an earlier run added this hook.
  bool is_own(const cdi::oci::Hook& hook) const {
    return host_.is_ldconfig(hook) || host_.is_params(hook);
  }

  /// The effects of a hook, if this host and config can replace it.
  cdi::Result<cdi::LoweredHook> lower(const cdi::oci::Hook& hook, cdi::oci::HookPoint point) {
    auto lowered = cdi::lower_hook(cdi::command_of(hook), point, outline_);
    if (!lowered) return lowered;
    if (lowered->needs_ldconfig) {
      if (auto run = host_.ldconfig(lowered->ldconfig); !run) return run.error();
    }
    if (lowered->changes.masked_params) {
      lowered->changes.masked_params = masks_params_;
      if (masks_params_ && !host_.params()) return host_.params().error();
    }
    if (auto added = made_.add(lowered->changes); !added) return added.error();
    return lowered;
  }

  cdi::Result<void> lower_point(cdi::oci::HookPoint point) {
    const auto& hooks = spec_.hooks->at(point);
    std::vector<std::size_t> staying;
    for (std::size_t i = 0; i < hooks.size(); ++i) {
      auto lowered = lower(hooks[i], point);
      if (lowered) {
        lowered_.push_back(*std::move(lowered));
        continue;
      }
      staying.push_back(i);
      if (!is_own(hooks[i])) keep(hooks[i], point, i, lowered.error());
    }
    if (staying.size() == hooks.size()) return {};
    const auto list = patch_.list(patch_.object(root, "hooks"), hook_point_name(point));
    patch_.rearrange(list, staying);
    return {};
  }

  void keep(const cdi::oci::Hook& hook, cdi::oci::HookPoint point, std::size_t index,
            const cdi::Error& why) {
    const auto id = cdi::classify_hook(cdi::command_of(hook));
    cdi::Error warning{
        .code = why.code,
        .message = fmt::format("the hook {} of class {} stays: {}", cdi::quoted(hook.path),
                               hook_class_name(id), why.message),
        .advice = why.advice,
        .where = fmt::format("hooks.{}[{}]", hook_point_name(point), index)};
    kept_.push_back({point, index, hook, std::move(warning)});
  }

  /// Records the changes that the root needs, merged with the record of an earlier run.
  cdi::Result<void> add_annotation(const cdi::RootChanges& added) {
    if (added == cdi::RootChanges{}) return {};
    auto changes = recorded_changes(spec_);
    if (!changes) return changes.error();
    merge(*changes, added);
    const auto text = cdi::write_json(*changes, -1);
    if (!text) return text.error();
    const auto annotations = patch_.object(root, "annotations");
    patch_.set(annotations, changes_annotation, {&*text, cdi::detail::table_of<std::string>()});
    return {};
  }

  /// Adds the hooks that earlier runs have not added.
  void add_hooks(const cdi::LoweredHook& all) {
    bool has_ldconfig = false;
    bool has_params = false;
    for (const auto& hook : spec_.hooks->create_container) {
      has_ldconfig = has_ldconfig || host_.is_ldconfig(hook);
      has_params = has_params || host_.is_params(hook);
    }
    if (all.needs_ldconfig && !has_ldconfig) add_hook(*host_.ldconfig(all.ldconfig));
    if (all.changes.masked_params && !has_params) add_hook(*host_.params());
  }

  void add_hook(const cdi::oci::Hook& hook) {
    patch_.append(patch_.list(patch_.object(root, "hooks"), "createContainer"),
                  {&hook, cdi::detail::table_of<cdi::oci::Hook>()});
  }

  /// Adds a node for each link in /dev, with the numbers of the link's target.
  cdi::Result<void> add_nodes(const std::vector<cdi::RootLink>& links) {
    if (links.empty()) return {};
    std::map<std::string, const cdi::oci::LinuxDevice*> nodes;
    for (const auto& node : spec_.linux_->devices) nodes.emplace(cdi::clean_path(node.path), &node);
    const auto list = patch_.list(patch_.object(root, "linux"), "devices");
    for (const auto& link : links) {
      auto copy = *nodes.at(link.target);
      copy.path = link.path;
      patch_.append(list, {&copy, cdi::detail::table_of<cdi::oci::LinuxDevice>()});
    }
    return {};
  }

  cdi::detail::JsonPatch patch_;
  cdi::oci::Spec spec_;
  HostHooks host_;
  cdi::SortedOutline outline_;
  bool masks_params_ = host_lets_create_nodes();
  MadePaths made_{};
  std::vector<cdi::LoweredHook> lowered_{};
  std::vector<KeptHook> kept_{};
};

}  // namespace detail

/// Lowers the hooks of a config, whose path is `file`, or `-` for standard input. All other bytes
/// of the config stay.
inline cdi::Result<LoweredConfig> lower_hooks(const std::string& text, const std::string& file) {
  const auto document = cdi::parse_json(text, file);
  if (!document) return document.error();
  auto spec = cdi::read<cdi::oci::Spec>(*document);
  if (!spec) return spec.error();
  if (auto good = detail::check_case(*document); spec->hooks && !good) return good.error();
  auto bundle = BundlePaths::of(file, *spec);
  auto lowered = detail::HookLowering{*document, *std::move(spec), std::move(bundle)}.run();
  if (!lowered) return lowered;
  const auto mark = text.size() - document->source().size();  // the byte order mark
  lowered->text.insert(0, text, 0, mark);
  return lowered;
}

#endif  // CDI_TOOLS_CDI_HOOKS_LOWERED_CONFIG_HPP
