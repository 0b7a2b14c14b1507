// How a container's dynamic linker finds libraries without a run of ldconfig.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_SANDBOX_LINKER_SETUP_HPP
#define CDI_SANDBOX_LINKER_SETUP_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/nvidia/root_changes.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/cuda_compat.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/sandbox/linker_cache.hpp>
#include <cdi/sandbox/state_dir.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The directories and libraries that a linker should find.
struct LinkerWishes {
  std::vector<std::string> folders{};
  std::vector<LinkerEntry> names{};  // libraries under other names, such as libx.so
  std::vector<CudaCompat> compat{};
};

/// What makes a container's linker find libraries.
struct LinkerChanges {
  /// A generated file, and the path in the container at which it is mounted.
  struct File {
    std::string host{};
    std::string path{};
  };
  HookWay way = HookWay::nothing;
  std::string subject{};
  std::string reason{};
  std::vector<File> files{};
  std::vector<std::string> variable_folders{};  // for LD_LIBRARY_PATH
  HookWay compat_way = HookWay::nothing;        // of the image's CUDA compatibility library
  std::string compat_reason{};
};

/// Adds a text unless a list has it.
inline void add_once(std::vector<std::string>& list, const std::string& text) {
  for (const auto& known : list) {
    if (known == text) return;
  }
  list.push_back(text);
}

/// The image and the directory for generated files, which decide how a linker is set up.
class LinkerSetup {
 public:
  static Result<LinkerSetup> open(const HooklessOptions& options) {
    LinkerSetup out;
    if (!options.image_root.empty()) {
      auto image = ImageRoot::open(options.image_root);
      if (!image) return std::move(image).error();
      out.image_.emplace(*std::move(image));
    }
    if (!options.state_dir.empty()) {
      auto state = StateDir::open(options.state_dir);
      if (!state) return std::move(state).error();
      out.state_.emplace(*std::move(state));
    }
    return out;
  }

  const std::optional<ImageRoot>& image() const { return image_; }
  const std::optional<StateDir>& state() const { return state_; }

  /// Sets up the linker for libraries. Fails with `Errc::system` if a file cannot be generated.
  Result<LinkerChanges> make(const LinkerWishes& wishes,
                             const std::vector<const DriverLibrary*>& libraries) const {
    LinkerChanges out;
    std::vector<std::string> preferred;
    if (!wishes.compat.empty()) preferred = preferred_folders(wishes.compat, out);
    auto folders = preferred;
    for (const auto& folder : wishes.folders) add_once(folders, folder);
    if (folders.empty()) return out;
    if (!image_) {
      use_variable(std::move(folders), "the image is unknown", out);
    } else if (auto done = use_image(folders, wishes.names, preferred, libraries, out); !done) {
      return std::move(done).error();
    }
    if (!preferred.empty()) out.compat_way = out.way;
    return out;
  }

 private:
  LinkerSetup() = default;

  static void use_variable(std::vector<std::string> folders, std::string reason,
                           LinkerChanges& out) {
    out.way = HookWay::variable;
    out.subject = "LD_LIBRARY_PATH";
    out.reason = std::move(reason);
    out.variable_folders = std::move(folders);
  }

  Result<void> use_image(const std::vector<std::string>& folders,
                         const std::vector<LinkerEntry>& names,
                         const std::vector<std::string>& preferred,
                         const std::vector<const DriverLibrary*>& libraries,
                         LinkerChanges& out) const {
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
      if (auto done = write_path(machine, folders, out); !done) return done;
    }
    return linkers.glibc ? write_cache(folders, names, preferred, libraries, out) : Result<void>{};
  }

  // --- glibc ---

  Result<void> write_cache(const std::vector<std::string>& folders,
                           const std::vector<LinkerEntry>& names,
                           const std::vector<std::string>& preferred,
                           const std::vector<const DriverLibrary*>& libraries,
                           LinkerChanges& out) const {
    constexpr const char* path = "/etc/ld.so.cache";
    constexpr std::size_t max_bytes = std::size_t{64} << 20;
    if (!image_->can_mount_at(path)) {
      use_variable(folders, "the image has no /etc/ld.so.cache, and its root is read-only", out);
      return {};
    }
    std::vector<LinkerEntry> entries;
    for (const auto* const library : libraries) {
      if (library->kind == 0) continue;  // of a machine that is not known
      entries.push_back({name_of(library->link), loaded_path(*library), library->kind});
    }
    entries.insert(entries.end(), names.begin(), names.end());
    for (const auto& folder : preferred) add_image_libraries(folder, entries);
    const auto old = image_->read(path, max_bytes);
    if (!old && image_->resolve(path)) {
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
    out.way = HookWay::linker_cache;
    out.subject = path;
    out.reason = "the image has glibc's linker, which finds libraries by this file";
    return {};
  }

  static std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  /// The path by which the linker opens a library.
  static std::string loaded_path(const DriverLibrary& library) {
    if (library.is_mount) return library.link;
    auto link = library.host;
    link.erase(link.rfind('/') + 1).append(name_of(library.link));
    return mode_of(link) != 0 ? library.link : library.path;
  }

  /// Adds the libraries of a directory of the image, in place of others with the same SONAME.
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
      std::erase_if(entries, [&](const LinkerEntry& known) {
        return known.soname == elf->soname && known.kind == elf->cache_kind;
      });
      entries.push_back({elf->soname, path, elf->cache_kind});
    }
  }

  // --- musl ---

  Result<void> write_path(const std::string& machine, const std::vector<std::string>& folders,
                          LinkerChanges& out) const {
    constexpr std::size_t max_bytes = std::size_t{1} << 20;
    const auto path = "/etc/ld-musl-" + machine + ".path";
    if (!image_->can_mount_at(path)) {
      use_variable(folders, "the image has no " + path + ", and its root is read-only", out);
      return {};
    }
    const auto old = image_->read(path, max_bytes);
    std::string text;
    for (const auto& folder : folders) text.append(folder).append("\n");
    text.append(old ? *old : "/lib:/usr/local/lib:/usr/lib\n");
    auto file = state_->file("ld-musl.path", text);
    if (!file) return std::move(file).error();
    out.files.push_back({*std::move(file), path});
    out.way = HookWay::linker_path;
    out.subject = path;
    out.reason = "the image has musl's linker, which reads its directories from this file";
    return {};
  }

  // --- CUDA's compatibility libraries ---

  /// Returns the directories of the image whose libraries come before the driver's.
  std::vector<std::string> preferred_folders(const std::vector<CudaCompat>& all,
                                             LinkerChanges& out) const {
    std::vector<std::string> folders;
    if (!image_) {
      out.compat_reason =
          "the image is unknown: a CUDA compatibility library in it is used only if the image "
          "itself selects it";
      return folders;
    }
    for (const auto& compat : all) {
      if (prefers(compat)) add_once(folders, compat.folder);
    }
    out.compat_reason = folders.empty()
                            ? "the image has no CUDA compatibility library that is newer than the "
                              "driver of the host"
                            : "the image's CUDA compatibility library is newer than the driver of "
                              "the host, and works with this driver";
    return folders;
  }

  bool prefers(const CudaCompat& compat) const {
    constexpr std::size_t max_bytes = std::size_t{256} << 20;
    static constexpr std::string_view stem = "libcuda.so.";
    const auto is_library = [](std::string_view name) {
      return name.starts_with(stem) && name.substr(stem.size()).find('.') != name.npos;
    };
    const auto folder = image_->open_file(compat.folder);
    if (!folder) return false;
    const auto listing = list_directory(folder.get(), compat.folder, is_library, 2);
    if (!listing || listing->entries.size() != 1) return false;
    const auto& name = listing->entries.front().name;
    const auto library = image_->read(compat.folder + "/" + name, max_bytes);
    return library && prefers_image(compat, std::string_view{name}.substr(stem.size()), *library);
  }

  std::optional<ImageRoot> image_{};
  std::optional<StateDir> state_{};
};

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_LINKER_SETUP_HPP
