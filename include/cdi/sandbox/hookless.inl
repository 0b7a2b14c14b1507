// The bodies of <cdi/sandbox/hookless.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_HOOKLESS_INL
#define CDI_SANDBOX_HOOKLESS_INL

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/sandbox/changed_plan.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/sandbox/hook_effects.hpp>
#include <cdi/sandbox/hook_links.hpp>
#include <cdi/sandbox/hookless.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/sandbox/linker_setup.hpp>
#include <cdi/sandbox/state_dir.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Makes a plan without hooks.
class HookReplacer {
 public:
  HookReplacer(const Plan& plan, const HooklessOptions& options, std::vector<HookEffects> hooks,
               LinkerSetup linker)
      : options_{options}, hooks_{std::move(hooks)}, linker_{std::move(linker)}, out_{plan} {}

  Result<HooklessPlan> run() {
    gather();
    auto made = linker_.make(wishes_, out_.files, libraries_.all());
    if (!made) return std::move(made).error();
    changes_ = *std::move(made);
    for (const auto& one : hooks_) {
      if (auto done = replace(one); !done) return std::move(done).error();
    }
    sort_mounts(out_.plan.mounts);
    return HooklessPlan{std::move(out_.plan), std::move(out_.notes)};
  }

 private:
  /// Gathers what depends on all hooks together: links, directories and libraries, each once.
  void gather() {
    for (const auto& one : hooks_) {
      for (const auto& link : one.changes.links) links_.add(link);
      for (const auto& folder : one.changes.library_folders) add_folder(folder);
      for (const auto& compat : one.changes.cuda_compat) wishes_.compat.push_back(compat);
    }
    for (const auto& [path, target] : links_.targets()) {
      if (unnamed_.contains(parent_of(path))) name_for_linker(path, target);
    }
  }

  /// Adds a directory of libraries, unless it is known.
  void add_folder(const std::string& folder) {
    if (unnamed_.contains(folder)) return;
    const auto known = static_cast<std::ptrdiff_t>(libraries_.all().size());
    libraries_.add_folder(folder);
    unnamed_[folder].assign(libraries_.all().begin() + known, libraries_.all().end());
    wishes_.folders.push_back(folder);
  }

  /// Lets the linker find a library by the name of a link, such as libx.so, as ldconfig does.
  void name_for_linker(const std::string& path, const std::string& target) {
    const auto name = path.substr(path.rfind('/') + 1);
    if (!name.ends_with(".so") || !is_library_name(name)) return;
    const auto kind = libraries_.kind_at(links_.followed({path, target}));
    if (kind != 0) wishes_.names.push_back({name, path, kind});
  }

  Result<void> replace(const HookEffects& one) {
    if (one.unknown) {
      out_.note(one, HookWay::kept, one.hook->edit.path, one.unknown->message);
      out_.plan.hooks.push_back(*one.hook);
      return {};
    }
    const auto& [links, modes, files, compats, folders, masks_params] = one.changes;
    const auto notes = out_.notes.size();
    for (const auto& link : links) links_.make(one, link);
    for (const auto& mode : modes) check_mode(one, mode);
    for (const auto& file : files) {
      if (auto done = make_file(one, file); !done) return done;
    }
    if (!folders.empty()) {
      name_libraries(one);
      set_up_linker(one);
      for (const auto& step : changes_.steps) out_.note(one, step.way, step.subject, step.reason);
    }
    for (const auto& compat : compats) use_compat(one, compat);
    if (out_.notes.size() == notes) out_.note(one, HookWay::nothing, "", nothing_reason(one));
    return {};
  }

  void check_mode(const HookEffects& one, const HookMode& mode) {
    constexpr mode_t bits = 07777;
    bool is_known = true;
    const auto found = mode_in_container(mode.path, is_known);
    if (found && (*found & bits) == mode.mode) {
      return out_.note(one, HookWay::nothing, mode.path, "the file has this mode");
    }
    const bool is_made = is_made_folder(mode.path);
    if (!found && is_made && mode.mode == 0755) {
      return out_.note(
          one, HookWay::nothing, mode.path,
          "the runtime makes the directories of device nodes and mounts with this mode");
    }
    if (!found && !is_made && is_known) {
      return out_.note(one, HookWay::nothing, mode.path, "the container has no such file");
    }
    out_.note(one, HookWay::lost, mode.path,
              "its mode is not changed: the container may not be allowed to use it");
  }

  /// Returns the mode of a file; nullopt if there is none, or if its mode is not known.
  std::optional<mode_t> mode_in_container(const std::string& path, bool& is_known) const {
    if (const auto node = out_.nodes.find(path); node != out_.nodes.end()) {
      is_known = node->second.file_mode.has_value();
      return is_known ? std::optional<mode_t>{*node->second.file_mode} : std::nullopt;
    }
    mode_t mode = 0;
    if (const auto mounted = out_.files.find(path)) {
      mode = mode_of(mounted->host);
    } else if (const auto& image = linker_.image(); image && !path.starts_with("/dev/")) {
      if (const auto found = image->resolve(path)) mode = mode_of(image->on_host(*found));
    } else {
      is_known = false;
    }
    return mode != 0 ? std::optional{mode} : std::nullopt;
  }

  /// Returns whether the runtime makes this directory, for a device node or mount in it, unless the
  /// image has it.
  bool is_made_folder(const std::string& path) const {
    const auto folder = path + "/";
    const auto node = out_.nodes.lower_bound(folder);
    if (node != out_.nodes.end() && node->first.starts_with(folder)) return true;
    const auto mount = out_.files.mounts().lower_bound(folder);
    return mount != out_.files.mounts().end() && mount->first.starts_with(folder);
  }

  Result<void> make_file(const HookEffects& one, const HookFile& file) {
    if (!linker_.state()) {
      out_.note(one, HookWay::lost, file.path,
                "no directory for generated files is given: the driver does not find this file");
      return {};
    }
    if (const auto there = out_.files.find(file.path)) {
      out_.note(one, there->is_mount ? HookWay::nothing : HookWay::lost, file.path,
                there->is_mount
                    ? "a file is already mounted at this path"
                    : "a directory of the host is mounted over it, and nothing is written "
                      "in it: the driver does not find this file");
      return {};
    }
    const auto name = std::string_view{file.path}.substr(file.path.rfind('/') + 1);
    auto made = linker_.state()->file(name, file.text);
    if (!made) return std::move(made).error();
    out_.add_read_only(one, *std::move(made), file.path);
    out_.note(one, HookWay::file, file.path, "a generated file is mounted");
    return {};
  }

  /// Names the libraries in the directories of a hook, unless an earlier hook has the directory.
  void name_libraries(const HookEffects& one) {
    for (const auto& folder : one.changes.library_folders) {
      for (const auto* const library : unnamed_[folder]) name_library(one, *library);
      unnamed_[folder].clear();
    }
  }

  /// Mounts a library under its SONAME.
  void name_library(const HookEffects& one, const DriverLibrary& library) {
    if (library.link == library.path) return;
    if (!out_.files.find(library.link)) {
      return out_.add_mount(one, library.host, library.link, *library.mount);
    }
    if (!needs_link(library) || finds_without_links()) return;
    out_.note(one, HookWay::lost, library.link,
              "the mounted directory of the host has no file of this name, and nothing is written "
              "in it: run ldconfig -n in the directory on the host");
  }

  /// Whether a library in a mounted directory lacks a file with its SONAME.
  bool needs_link(const DriverLibrary& library) const {
    const auto found = out_.files.find(library.link);
    return found && !found->is_mount && mode_of(found->host) == 0;
  }

  /// Whether each linker finds the libraries, although their directories lack files with their
  /// SONAMEs: by their paths in ld.so.cache, or in `library_dir`.
  bool finds_without_links() const {
    for (const auto& step : changes_.steps) {
      const bool in_own_folder = step.way == HookWay::variable && !options_.library_dir.empty();
      if (step.way != HookWay::linker_cache && !in_own_folder) return false;
    }
    return true;
  }

  /// Makes the changes for the linkers, once for all hooks.
  void set_up_linker(const HookEffects& one) {
    if (linker_done_) return;
    linker_done_ = true;
    for (auto& file : changes_.files) out_.add_read_only(one, file.host, file.path);
    if (!changes_.variable_folders.empty()) {
      auto text = library_path(library_folders(one), options_.environment, out_.plan.env);
      out_.plan.env.push_back({std::move(text), one.hook->origin});
    }
  }

  void use_compat(const HookEffects& one, const CudaCompat& compat) {
    if (!linker_.image()) {
      return out_.note(
          one, HookWay::nothing, compat.folder,
          "the image is unknown: a CUDA compatibility library in it is used only if the "
          "image itself selects it");
    }
    bool is_preferred = false;
    for (const auto& folder : changes_.preferred) is_preferred |= folder == compat.folder;
    if (!is_preferred) {
      return out_.note(
          one, HookWay::nothing, compat.folder,
          "the image has no CUDA compatibility library that is newer than the driver of "
          "the host");
    }
    set_up_linker(one);
    for (const auto& step : changes_.steps) {
      out_.note(
          one, step.way, compat.folder,
          "the image's CUDA compatibility library is newer than the driver of the host, and works "
          "with this driver");
    }
  }

  /// Returns the directories for LD_LIBRARY_PATH; mounts the libraries in `library_dir`, if it is
  /// given, each kind of them in a directory of its own, behind the preferred ones of the image.
  /// Directories follow from which no library is mounted: the image may have some there.
  std::vector<std::string> library_folders(const HookEffects& one) {
    if (options_.library_dir.empty()) return changes_.variable_folders;
    std::vector<std::string> folders = changes_.preferred;
    std::map<std::uint32_t, std::string> of_kinds;
    std::set<std::string> replaced;
    const auto add = [&](const std::string& path, std::uint32_t kind, const std::string& target) {
      const auto found = links_.file_at(target);
      if (!found) return;
      replaced.insert(path.substr(0, path.rfind('/')));
      auto& folder = of_kinds[kind];
      if (folder.empty()) {
        folder = options_.library_dir + (of_kinds.size() == 1 ? "" : "/" + std::to_string(kind));
        folders.push_back(folder);
      }
      auto link = folder + path.substr(path.rfind('/'));
      if (!out_.files.find(link)) out_.add_mount(one, found->host, std::move(link), *found->mount);
    };
    for (const auto* const library : libraries_.all()) {
      add(library->link, library->kind, library->link);
    }
    for (const auto& name : wishes_.names) {
      add(name.path, name.kind, links_.followed({name.path, links_.targets().at(name.path)}));
    }
    for (const auto& folder : changes_.variable_folders) {
      if (!replaced.contains(folder)) folders.push_back(folder);
    }
    return folders;
  }

  const HooklessOptions& options_;
  std::vector<HookEffects> hooks_;
  LinkerSetup linker_;
  ChangedPlan out_;
  DriverLibraries libraries_{out_.files};
  std::map<std::string, std::vector<const DriverLibrary*>, std::less<>> unnamed_{};  // by directory
  HookLinks links_{out_, libraries_, linker_.image()};
  LinkerWishes wishes_{};
  LinkerChanges changes_{};
  bool linker_done_ = false;
};

}  // namespace detail

CDI_INLINE Result<HooklessPlan> without_hooks(const Plan& plan, const HooklessOptions& options) {
  auto hooks = detail::read_hooks(plan, options.environment);
  if (!options.keep_unknown) {
    if (auto unknown = detail::unknown_hooks(hooks)) return *std::move(unknown);
  }
  auto linker = detail::LinkerSetup::open(options.image_root, options.state_dir, options.mounts);
  if (!linker) return std::move(linker).error();
  return detail::HookReplacer{plan, options, std::move(hooks), *std::move(linker)}.run();
}

}  // namespace cdi

#endif  // CDI_SANDBOX_HOOKLESS_INL
