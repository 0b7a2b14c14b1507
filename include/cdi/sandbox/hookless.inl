// The bodies of <cdi/sandbox/hookless.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SANDBOX_HOOKLESS_INL
#define CDI_SANDBOX_HOOKLESS_INL

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/hook_effects.hpp>
#include <cdi/sandbox/hookless.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/sandbox/linker_setup.hpp>
#include <cdi/sandbox/state_dir.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE ContainerOutline outline_of(const Plan& plan) {
  ContainerOutline outline{.mounts = {{"/dev", "tmpfs"}, {"/proc", "proc"}, {"/sys", "sysfs"}}};
  for (const auto& [mount, origin, overridden] : plan.mounts) {
    if (!overridden) outline.mounts.push_back({mount.container_path, mount.type});
  }
  for (const auto& [node, origin, overridden] : plan.device_nodes) {
    if (!overridden) outline.nodes.push_back({node.path, node.type, node.minor});
  }
  auto& environment = outline.environment.emplace();
  for (const auto& one : plan.env) environment.push_back(one.edit);
  return outline;
}

namespace detail {

/// Makes a plan without hooks.
class HookReplacer {
 public:
  HookReplacer(const Plan& plan, const HooklessOptions& options, ReadHooks hooks,
               LinkerSetup linker)
      : options_{options},
        hooks_{std::move(hooks)},
        linker_{std::move(linker)},
        out_{.plan = plan},
        files_{plan},
        libraries_{files_} {
    for (const auto& one : out_.plan.device_nodes) {
      if (!one.overridden) nodes_[clean_path(one.edit.path)] = one.edit;
    }
  }

  Result<HooklessPlan> run() {
    out_.plan.hooks.clear();
    keep_unknown();
    gather();
    auto made = linker_.make(wishes_, libraries_.all());
    if (!made) return std::move(made).error();
    changes_ = *std::move(made);
    for (const auto& one : hooks_.effects) {
      if (auto done = replace(one); !done) return std::move(done).error();
    }
    sort_mounts(out_.plan.mounts);
    return std::move(out_);
  }

 private:
  void note(const HookEffects& from, HookWay way, std::string_view subject, std::string reason) {
    out_.notes.push_back(
        {from.hook_class, way, std::string{subject}, std::move(reason), from.hook->origin});
  }

  void keep_unknown() {
    for (const auto& [hook, why] : hooks_.unknown) {
      const auto id = classify_hook(command_of(hook->edit));
      out_.notes.push_back({id, HookWay::kept, hook->edit.path, why.message, hook->origin});
      out_.plan.hooks.push_back(*hook);
    }
  }

  /// Gathers what depends on all hooks together: links, directories and libraries.
  void gather() {
    for (const auto& [hook, id, changes] : hooks_.effects) {
      for (const auto& link : changes.links) links_[link.path] = link.target;
      for (const auto& folder : changes.library_folders) {
        add_once(wishes_.folders, folder);
        libraries_.add_folder(folder);
      }
      for (const auto& compat : changes.cuda_compat) wishes_.compat.push_back(compat);
    }
    for (const auto& [path, target] : links_) name_for_linker(path, target);
  }

  /// Lets the linker find a library by the name of a link, such as libx.so, as ldconfig does.
  void name_for_linker(const std::string& path, const std::string& target) {
    const auto name = path.substr(path.rfind('/') + 1);
    if (!name.ends_with(".so") || !is_library_name(name)) return;
    for (const auto& folder : wishes_.folders) {
      if (folder != parent_of(path)) continue;
      const auto kind = libraries_.kind_at(followed({path, target}));
      if (kind != 0) wishes_.names.push_back({name, path, kind});
    }
  }

  /// Adds a mount of a file of the host.
  void add_mount(const HookEffects& from, std::string host, std::string path,
                 std::vector<std::string> options) {
    Mount mount{.host_path = std::move(host), .container_path = std::move(path)};
    mount.options = std::move(options);
    files_.add(mount);
    out_.plan.mounts.push_back({std::move(mount), from.hook->origin});
  }

  static std::vector<std::string> read_only() { return {"ro", "nosuid", "nodev", "bind"}; }

  Result<void> replace(const HookEffects& one) {
    const auto notes = out_.notes.size();
    for (const auto& link : one.changes.links) make_link(one, link);
    for (const auto& mode : one.changes.modes) check_mode(one, mode);
    for (const auto& file : one.changes.files) {
      if (auto done = make_file(one, file); !done) return done;
    }
    if (!one.changes.library_folders.empty()) name_libraries(one);
    if (one.hook_class == HookClass::ldcache) set_up_linker(one, changes_.reason);
    if (!one.changes.cuda_compat.empty()) {
      note(one, changes_.compat_way, one.changes.cuda_compat.front().folder,
           changes_.compat_reason);
      if (changes_.compat_way != HookWay::nothing) set_up_linker(one, changes_.compat_reason);
    }
    if (out_.notes.size() == notes) note(one, HookWay::nothing, "", nothing_reason(one));
    return {};
  }

  static std::string nothing_reason(const HookEffects& one) {
    if (one.changes.masked_params) {
      return "only a program that makes device nodes reads this setting of the driver, and a "
             "runtime cannot mount a file inside /proc";
    }
    return "this container needs nothing from this hook";
  }

  // --- links ---

  /// Follows the links that hooks make; the result is a clean path in the container.
  std::string followed(const RootLink& link) const {
    constexpr int max_links = 40;
    auto path = target_path(link.path, link.target);
    for (int i = 0; i < max_links; ++i) {
      const auto next = links_.find(path);
      if (next == links_.end()) break;
      path = target_path(next->first, next->second);
    }
    return path;
  }

  void make_link(const HookEffects& one, const RootLink& link) {
    const auto target = followed(link);
    if (const auto node = nodes_.find(target); node != nodes_.end()) {
      return add_node(one, node->second, link.path);
    }
    const auto there = files_.find(link.path);
    if (there && there->is_mount) {
      return note(one, HookWay::nothing, link.path, "a file is already mounted at this path");
    }
    auto found = files_.find(target);
    if (!found || mode_of(found->host) == 0) found = library_at(target);
    if (!found) return link_in_image(one, link, target);
    if (there) return link_in_folder(one, link, *there);
    add_mount(one, found->host, link.path, found->mount->options);
    note(one, HookWay::mounts, link.path, "the file of the link is mounted under its name too");
  }

  /// Returns the library that has a path only by its SONAME.
  std::optional<ContainerFiles::Found> library_at(const std::string& path) const {
    const auto* const library = libraries_.find(path);
    if (library == nullptr) return std::nullopt;
    return ContainerFiles::Found{library->host, library->mount, true};
  }

  /// A path in a directory of the host, in which nothing is made.
  void link_in_folder(const HookEffects& one, const RootLink& link,
                      const ContainerFiles::Found& there) {
    if (mode_of(there.host) != 0) {
      return note(one, HookWay::nothing, link.path, "the mounted directory has this file");
    }
    note(one, HookWay::lost, link.path,
         "the mounted directory of the host has no file of this name, and nothing is written in "
         "it: programs that open this path fail");
  }

  void link_in_image(const HookEffects& one, const RootLink& link, const std::string& target) {
    const auto& image = linker_.image();
    if (!image) {
      return note(one, HookWay::lost, link.path,
                  "its target " + cdi::quoted(target) +
                      " is not a file of the devices, and the image is unknown: programs that "
                      "open this path fail unless the image has it");
    }
    if (image->resolve(link.path)) {
      return note(one, HookWay::nothing, link.path, "the image has this file");
    }
    const auto resolved = image->resolve(target);
    if (!resolved) {
      return note(one, HookWay::nothing, link.path,
                  "its target " + cdi::quoted(target) + " exists in neither image nor devices");
    }
    add_mount(one, image->on_host(*resolved), link.path, read_only());
    note(one, HookWay::mounts, link.path, "the image's file is mounted under this name too");
  }

  void add_node(const HookEffects& one, const DeviceNode& node, const std::string& path) {
    if (!nodes_.contains(path)) {
      auto copy = node;
      copy.path = path;
      nodes_[path] = copy;
      out_.plan.device_nodes.push_back({std::move(copy), one.hook->origin});
    }
    note(one, HookWay::mounts, path, "the device node is made under this name too");
  }

  // --- modes and files ---

  void check_mode(const HookEffects& one, const RootMode& mode) {
    constexpr mode_t bits = 07777;
    for (const auto& [path, node] : nodes_) {
      if (mode.mode == 0755 && path.starts_with(mode.path + "/")) {
        return note(one, HookWay::nothing, mode.path,
                    "the runtime makes the directories of device nodes with this mode");
      }
    }
    mode_t found = 0;
    const auto mounted = files_.find(mode.path);
    if (mounted) found = mode_of(mounted->host);
    if (const auto& image = linker_.image(); !mounted && image) {
      if (const auto path = image->resolve(mode.path)) found = mode_of(image->on_host(*path));
    }
    if (found != 0 && (found & bits) == mode.mode) {
      return note(one, HookWay::nothing, mode.path, "the file has this mode");
    }
    note(one, HookWay::lost, mode.path,
         "its mode is not changed: the container may not be allowed to use it");
  }

  Result<void> make_file(const HookEffects& one, const RootFile& file) {
    if (!linker_.state()) {
      note(one, HookWay::lost, file.path,
           "no directory for generated files is given: the driver does not find this file");
      return {};
    }
    const auto name = std::string_view{file.path}.substr(file.path.rfind('/') + 1);
    auto made = linker_.state()->file(name, file.text);
    if (!made) return std::move(made).error();
    add_mount(one, *std::move(made), file.path, read_only());
    note(one, HookWay::file, file.path, "a generated file is mounted");
    return {};
  }

  // --- libraries ---

  /// Mounts each library under its SONAME.
  void name_libraries(const HookEffects& one) {
    for (const auto* const library : libraries_.all()) {
      if (library->link == library->path) continue;
      if (files_.find(library->link)) {
        if (!needs_link(*library) || changes_.way == HookWay::linker_cache) continue;
        note(one, HookWay::lost, library->link,
             "the mounted directory of the host has no file of this name, and nothing is written "
             "in it: run ldconfig -n in the directory on the host");
        continue;
      }
      add_mount(one, library->host, library->link, library->mount->options);
    }
  }

  /// Whether a library in a mounted directory lacks a file with its SONAME.
  bool needs_link(const DriverLibrary& library) const {
    const auto found = files_.find(library.link);
    return found && !found->is_mount && mode_of(found->host) == 0;
  }

  /// Makes the changes for the linker, once for all hooks.
  void set_up_linker(const HookEffects& one, const std::string& reason) {
    if (linker_done_ || changes_.way == HookWay::nothing) return;
    linker_done_ = true;
    for (auto& file : changes_.files) add_mount(one, file.host, file.path, read_only());
    if (!changes_.variable_folders.empty()) add_variable(one, library_folders(one));
    if (one.hook_class == HookClass::ldcache) note(one, changes_.way, changes_.subject, reason);
  }

  /// Returns the directories for LD_LIBRARY_PATH; mounts the libraries in `library_dir`, if it is
  /// one of them.
  std::vector<std::string> library_folders(const HookEffects& one) {
    if (options_.library_dir.empty()) return changes_.variable_folders;
    for (const auto* const library : libraries_.all()) {
      add_library(one, library->link, files_.find(library->link));
    }
    for (const auto& name : wishes_.names) {
      const auto target = followed({name.path, links_.at(name.path)});
      const auto found = files_.find(target);
      add_library(one, name.path, found ? found : library_at(target));
    }
    return {options_.library_dir};
  }

  /// Mounts a library in `library_dir`, under the name of a path.
  void add_library(const HookEffects& one, const std::string& path,
                   const std::optional<ContainerFiles::Found>& found) {
    if (!found || mode_of(found->host) == 0) return;
    auto link = options_.library_dir + path.substr(path.rfind('/'));
    if (!files_.find(link)) add_mount(one, found->host, std::move(link), found->mount->options);
  }

  /// Puts directories before those of LD_LIBRARY_PATH.
  void add_variable(const HookEffects& one, const std::vector<std::string>& folders) {
    constexpr std::string_view name = "LD_LIBRARY_PATH=";
    std::string text{name};
    for (const auto& folder : folders) text.append(text.ends_with('=') ? "" : ":").append(folder);
    std::string_view old;
    for (const auto& variable : options_.environment) {
      if (variable.starts_with(name)) old = variable;
    }
    for (auto& one_of_plan : out_.plan.env) {
      if (!one_of_plan.edit.starts_with(name)) continue;
      old = one_of_plan.edit;
      one_of_plan.overridden = true;
    }
    if (old.size() > name.size()) text.append(":").append(old.substr(name.size()));
    out_.plan.env.push_back({std::move(text), one.hook->origin});
  }

  const HooklessOptions& options_;
  ReadHooks hooks_;
  LinkerSetup linker_;
  HooklessPlan out_;
  ContainerFiles files_;
  DriverLibraries libraries_;
  std::map<std::string, DeviceNode, std::less<>> nodes_{};
  std::map<std::string, std::string, std::less<>> links_{};
  LinkerWishes wishes_{};
  LinkerChanges changes_{};
  bool linker_done_ = false;
};

}  // namespace detail

CDI_INLINE Result<HooklessPlan> without_hooks(const Plan& plan, const HooklessOptions& options) {
  auto container = outline_of(plan);
  container.mounts.clear();  // the effects are mounts themselves, which nothing hides
  container.environment->insert(container.environment->begin(), options.environment.begin(),
                                options.environment.end());
  auto hooks = detail::read_hooks(plan, std::move(container));
  if (!hooks.unknown.empty() && !options.keep_unknown) return detail::unknown_hooks(hooks);
  auto linker = detail::LinkerSetup::open(options);
  if (!linker) return std::move(linker).error();
  return detail::HookReplacer{plan, options, std::move(hooks), *std::move(linker)}.run();
}

}  // namespace cdi

#endif  // CDI_SANDBOX_HOOKLESS_INL
