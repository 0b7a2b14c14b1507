// How a container's dynamic linker finds libraries without a run of ldconfig.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_LINKER_SETUP_HPP
#define CDI_SANDBOX_LINKER_SETUP_HPP

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/rules/mount_options.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/cuda_compat.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/sandbox/linker_cache.hpp>
#include <cdi/sandbox/state_dir.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The directories and libraries that a linker should find.
struct LinkerWishes {
  std::vector<std::string> folders{};
  std::vector<CudaCompat> compat{};
  std::vector<LinkerEntry> names{};  // libraries under other names, such as libx.so
};

/// What makes a container's linkers find libraries.
struct LinkerChanges {
  /// How one of the linkers finds the libraries.
  struct Step {
    HookWay way{};
    std::string subject{};
    std::string reason{};
  };
  /// A generated file, and the path in the container at which it is mounted.
  struct File {
    std::string host{};
    std::string path{};
  };
  std::vector<Step> steps{};  // one for each linker
  std::vector<File> files{};
  std::vector<std::string> variable_folders{};  // for LD_LIBRARY_PATH
  std::vector<std::string> preferred{};         // of the image, before those of the driver
};

/// Adds a text unless a list has it.
inline void add_once(std::vector<std::string>& list, const std::string& text) {
  for (const auto& known : list) {
    if (known == text) return;
  }
  list.push_back(text);
}

/// Returns directories, and then those of an older list, each once.
inline std::string folder_list(const std::vector<std::string>& folders, std::string_view old,
                               char separator) {
  std::set<std::string_view> known;
  std::string out;
  for (const auto& folder : folders) {
    if (known.insert(folder).second) out.append(out.empty() ? 0 : 1, separator).append(folder);
  }
  if (old.empty()) return out;
  for (;;) {
    const auto end = old.find(separator);
    const auto folder = old.substr(0, end);
    if (!known.contains(folder)) out.append(out.empty() ? 0 : 1, separator).append(folder);
    if (end == old.npos) return out;
    old.remove_prefix(end + 1);
  }
}

/// Returns LD_LIBRARY_PATH with these directories before its old ones, which a variable of the plan
/// or else of the container has. The variable of the plan is then overridden.
inline std::string library_path(const std::vector<std::string>& folders,
                                const std::vector<std::string>& environment,
                                std::vector<Planned<std::string>>& planned) {
  constexpr std::string_view name = "LD_LIBRARY_PATH=";
  std::string_view old;
  for (const auto& variable : environment) {
    if (variable.starts_with(name)) old = variable;
  }
  for (auto& variable : planned) {
    if (!variable.edit.starts_with(name)) continue;
    old = variable.edit;
    variable.overridden = true;
  }
  if (!old.empty()) old.remove_prefix(name.size());
  return std::string{name} + folder_list(folders, old, ':');
}

/// The image and the directory for generated files, which decide how a linker is set up.
class LinkerSetup {
 public:
  /// Opens directories; an empty path is none. `mounts` are those of the container without the
  /// plan. Fails as `ImageRoot::open` and `StateDir::open`.
  static Result<LinkerSetup> open(const std::string& image_root, const std::string& state_dir,
                                  const std::vector<Mount>& mounts = {}) {
    LinkerSetup out;
    if (!image_root.empty()) {
      auto image = ImageRoot::open(image_root);
      if (!image) return std::move(image).error();
      out.image_.emplace(*std::move(image));
    }
    if (!state_dir.empty()) {
      auto state = StateDir::open(state_dir);
      if (!state) return std::move(state).error();
      out.state_.emplace(*std::move(state));
    }
    for (const auto& mount : mounts) {
      if (is_bind_mount(mount)) out.mounted_[clean_path(mount.container_path)] = mount.host_path;
    }
    return out;
  }

  const std::optional<ImageRoot>& image() const { return image_; }
  const std::optional<StateDir>& state() const { return state_; }

  /// Sets up the linkers for libraries, which are files of a container. Fails with `Errc::system`
  /// if a file cannot be generated.
  Result<LinkerChanges> make(const LinkerWishes& wishes, const ContainerFiles& files,
                             const std::vector<const DriverLibrary*>& libraries) const {
    LinkerChanges out;
    if (image_) out.preferred = preferred_folders(wishes.compat);
    auto folders = out.preferred;
    std::set<std::string_view> known(out.preferred.begin(), out.preferred.end());
    for (const auto& folder : wishes.folders) {
      if (known.insert(folder).second) folders.push_back(folder);
    }
    if (folders.empty()) return out;
    if (!image_) {
      use_variable(std::move(folders), "the image is unknown", out);
    } else if (auto done = use_image(folders, files, libraries, wishes.names, out); !done) {
      return std::move(done).error();
    }
    return out;
  }

 private:
  LinkerSetup() = default;

  static void use_variable(std::vector<std::string> folders, std::string reason,
                           LinkerChanges& out) {
    out.steps.push_back({HookWay::variable, "LD_LIBRARY_PATH", std::move(reason)});
    out.variable_folders = std::move(folders);
  }

  Result<void> use_image(const std::vector<std::string>& folders, const ContainerFiles& files,
                         const std::vector<const DriverLibrary*>& libraries,
                         const std::vector<LinkerEntry>& names, LinkerChanges& out) const {
    const auto linkers = linkers_of(*image_);
    if (!linkers.glibc && linkers.musl.empty()) {
      use_variable(folders, "the image has no linker of glibc or musl in /lib or /lib64", out);
      return {};
    }
    if (!state_) {
      use_variable(folders, "no directory for generated files is given", out);
      return {};
    }
    for (const auto& machine : linkers.musl) {
      if (auto done = write_path("/etc/ld-musl-" + machine + ".path", folders, files, out); !done) {
        return done;
      }
    }
    return linkers.glibc ? write_cache(folders, files, libraries, names, out) : Result<void>{};
  }

  /// Returns why a generated file cannot be mounted at a path; empty if it can.
  std::string obstacle(const std::string& path, const ContainerFiles& files) const {
    if (files.find(path)) return "the devices have a mount over " + path;
    if (!mounted_.contains(path) && !image_->can_mount_at(path)) {
      return "no mount point can be made in the image for " + path;
    }
    return {};
  }

  /// Returns the text that a file of the container has without the plan; nullopt if it is not read.
  std::optional<std::string> read_old(const std::string& path, std::size_t limit) const {
    const auto mounted = mounted_.find(path);
    if (mounted == mounted_.end()) return image_->read(path, limit);
    // The author of the config chooses the sources of its mounts, and may not be allowed to read
    // them: only what an earlier call generated is read.
    return state_->read(mounted->second, limit);
  }

  bool has(const std::string& path) const {
    return mounted_.contains(path) || image_->resolve(path);
  }

  // --- glibc ---

  Result<void> write_cache(const std::vector<std::string>& folders, const ContainerFiles& files,
                           const std::vector<const DriverLibrary*>& libraries,
                           const std::vector<LinkerEntry>& names, LinkerChanges& out) const {
    constexpr const char* path = "/etc/ld.so.cache";
    constexpr std::size_t max_bytes = std::size_t{8} << 20;  // as `merged_linker_cache`
    if (auto why = obstacle(path, files); !why.empty()) {
      use_variable(folders, std::move(why), out);
      return {};
    }
    std::vector<LinkerEntry> entries;
    for (const auto* const library : libraries) {
      if (library->kind == 0) continue;  // of a machine that is not known
      entries.push_back({name_of(library->link), loaded_path(*library, files), library->kind});
    }
    entries.insert(entries.end(), names.begin(), names.end());
    for (const auto& folder : out.preferred) add_image_libraries(folder, entries);
    const auto old = read_old(path, max_bytes);
    if (!old && has(path)) {
      use_variable(folders, "the image's ld.so.cache cannot be read", out);
      return {};
    }
    const auto merged = merged_linker_cache(old ? *old : std::string{}, entries);
    if (!merged) {
      use_variable(folders, "the image's ld.so.cache is damaged or of another machine", out);
      return {};
    }
    auto file = state_->file("ld.so.cache", *merged);
    if (!file) return std::move(file).error();
    out.files.push_back({*std::move(file), path});
    out.steps.push_back({HookWay::linker_cache, path,
                         "the image has glibc's linker, which finds libraries by this file"});
    return {};
  }

  static std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  /// The path by which the linker opens a library: that with the SONAME, which is mounted unless a
  /// directory of the host is mounted there, in which it may be missing.
  static std::string loaded_path(const DriverLibrary& library, const ContainerFiles& files) {
    const auto found = files.find(library.link);
    return !found || mode_of(found->host) != 0 ? library.link : library.path;
  }

  /// Adds a library, in place of others with the same name.
  static void replace_entry(LinkerEntry entry, std::vector<LinkerEntry>& entries) {
    std::erase_if(entries, [&](const LinkerEntry& known) {
      return known.soname == entry.soname && known.kind == entry.kind;
    });
    entries.push_back(std::move(entry));
  }

  /// Adds the libraries of a directory of the image, as ldconfig(8) does: by their SONAMEs, and by
  /// names without a version, such as `libx.so`.
  void add_image_libraries(const std::string& folder, std::vector<LinkerEntry>& entries) const {
    constexpr std::size_t max_files = 256;
    const auto opened = image_->open_file(folder);
    if (!opened) return;
    const auto listing = list_directory(opened.get(), folder, is_library_name, max_files);
    if (!listing) return;
    for (const auto& entry : listing->entries) {
      const auto path = folder + "/" + entry.name;
      const auto file = image_->open_file(path);
      const auto elf = file ? read_elf_library(file.get()) : std::nullopt;
      if (!elf || elf->soname.empty() || elf->cache_kind == 0) continue;
      replace_entry({elf->soname, path, elf->cache_kind}, entries);
      if (entry.name.ends_with(".so")) replace_entry({entry.name, path, elf->cache_kind}, entries);
    }
  }

  // --- musl ---

  Result<void> write_path(const std::string& path, const std::vector<std::string>& folders,
                          const ContainerFiles& files, LinkerChanges& out) const {
    constexpr std::size_t max_bytes = std::size_t{1} << 20;
    auto why = obstacle(path, files);
    const auto old = read_old(path, max_bytes);
    if (why.empty() && !old && has(path)) why = "the image's " + path + " is not read";
    if (!why.empty()) {
      use_variable(folders, std::move(why), out);
      return {};
    }
    auto text = folder_list(folders, old ? *old : "/lib:/usr/local/lib:/usr/lib\n", '\n');
    if (!text.ends_with('\n')) text.push_back('\n');
    auto file = state_->file("ld-musl.path", text);
    if (!file) return std::move(file).error();
    out.files.push_back({*std::move(file), path});
    out.steps.push_back({HookWay::linker_path, path,
                         "the image has musl's linker, which reads its directories from this "
                         "file"});
    return {};
  }

  // --- CUDA's compatibility libraries ---

  /// Returns the directories of the image whose libraries come before the driver's.
  std::vector<std::string> preferred_folders(const std::vector<CudaCompat>& all) const {
    std::vector<std::string> folders;
    for (const auto& compat : all) {
      if (prefers(compat)) add_once(folders, compat.folder);
    }
    return folders;
  }

  bool prefers(const CudaCompat& compat) const {
    const auto folder = image_->open_file(compat.folder);
    if (!folder) return false;
    const auto listing = list_directory(folder.get(), compat.folder, is_cuda_library, 2);
    if (!listing || listing->entries.size() != 1) return false;
    const auto& name = listing->entries.front().name;
    const auto library = image_->open_file(compat.folder + "/" + name);
    return library && prefers_image(compat, std::string_view{name}.substr(cuda_library_stem.size()),
                                    library.get());
  }

  std::optional<ImageRoot> image_{};
  std::optional<StateDir> state_{};
  std::map<std::string, std::string, std::less<>> mounted_{};  // hosts' files by their paths
};

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_LINKER_SETUP_HPP
