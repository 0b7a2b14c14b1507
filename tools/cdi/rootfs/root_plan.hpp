// The steps for lowered hooks in a root, depending on which files the container's linker reads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_ROOTFS_ROOT_PLAN_HPP
#define CDI_TOOLS_CDI_ROOTFS_ROOT_PLAN_HPP

#include <cerrno>
#include <climits>
#include <cstddef>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/sandbox/cuda_compat.hpp>

#include "root_places.hpp"
#include "root_steps.hpp"
#include "rooted_files.hpp"

namespace detail {

inline constexpr const char* linker_conf = "/etc/ld.so.conf";
inline constexpr const char* folders_conf = "/etc/ld.so.conf.d/00-cdi.conf";
inline constexpr const char* compat_conf = "/etc/ld.so.conf.d/00-cdi-compat.conf";  // sorts first

/// The folders listed in a path file of musl's linker.
inline std::set<std::string, std::less<>> musl_folders(std::string_view text) {
  std::set<std::string, std::less<>> folders;
  for (bool more = true; more;) {
    const auto end = text.find_first_of(":\n");
    folders.emplace(text.substr(0, end));
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return folders;
}

/// musl has no cache: its linker reads the folders from one file, and has default folders without
/// it.
inline cdi::Result<void> plan_musl(const RootedFiles& files,
                                   const std::vector<std::string>& folders, RootSteps& plan) {
  utsname machine = {};
  ::uname(&machine);
  RootStep step{.kind = RootStep::Kind::file,
                .path = fmt::format("/etc/ld-musl-{}.path", machine.machine)};
  const auto text = files.read(step.path);
  if (!text) return text.error();
  step.text = *text ? **text : "/lib:/usr/local/lib:/usr/lib\n";
  auto known = musl_folders(step.text);
  for (const auto& folder : folders) {
    if (!known.insert(folder).second) continue;
    if (!step.text.empty() && step.text.back() != '\n') step.text += '\n';
    step.text += folder + '\n';
  }
  plan.push_back(std::move(step));
  return {};
}

/// glibc reads a cache, which ldconfig creates from these files.
inline cdi::Result<void> plan_glibc(const RootedFiles& files,
                                    const std::vector<std::string>& folders, RootSteps& plan) {
  const auto conf = files.find(linker_conf);
  if (!conf && conf.error().system != ENOENT) return conf.error();
  if (!conf) {
    plan.push_back({RootStep::Kind::file, linker_conf, "include /etc/ld.so.conf.d/*.conf\n"});
  }
  RootStep step{.kind = RootStep::Kind::file, .path = folders_conf};
  for (const auto& folder : folders) step.text += folder + '\n';
  if (!folders.empty()) plan.push_back(std::move(step));
  return {};
}

/// The only `libcuda.so.*.*` in a folder; nullopt if there are none or several.
inline cdi::Result<std::optional<std::string>> compat_library(const RootedFiles& files,
                                                              const std::string& path) {
  std::optional<std::string> none;
  const auto folder = files.find_folder(path);
  if (!folder && is_missing(folder.error())) return none;
  if (!folder) return folder.error();
  const auto listing =
      cdi::detail::list_directory(folder->get(), path, cdi::detail::is_cuda_library, 2);
  if (!listing) return listing.error();
  if (listing->entries.size() != 1) return none;
  return std::optional{listing->entries.front().name};
}

/// Whether the image's driver library takes precedence over the host's.
inline cdi::Result<bool> prefers_image(const RootedFiles& files, const cdi::CudaCompat& compat) {
  const auto name = compat_library(files, compat.folder);
  if (!name) return name.error();
  if (!*name) return false;
  const auto library = files.open_file(fmt::format("{}/{}", compat.folder, **name));
  if (!library) return library.error();
  const auto version = std::string_view{**name}.substr(cdi::detail::cuda_library_stem.size());
  return *library && cdi::detail::prefers_image(compat, version, (*library)->get());
}

/// Lists the folders with a library that takes precedence over the host's, or removes an old list.
inline cdi::Result<void> plan_compat(const RootedFiles& files,
                                     const std::vector<cdi::CudaCompat>& all, RootSteps& plan) {
  if (all.empty()) return {};
  RootStep step{.kind = RootStep::Kind::file, .path = compat_conf};
  for (const auto& compat : all) {
    const auto prefers = prefers_image(files, compat);
    if (!prefers) return prefers.error();
    if (*prefers) step.text += compat.folder + "\n";
  }
  if (step.text.empty()) step.kind = RootStep::Kind::removal;
  plan.push_back(std::move(step));
  return {};
}

/// Whether a path in recorded changes, which a user may have written, is absolute, inside the root,
/// and without redundant parts.
inline bool is_root_path(std::string_view path) {
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < ' ') return false;
  }
  return path.size() > 1 && path.front() == '/' && cdi::clean_path(path) == path;
}

inline cdi::Result<void> check_mode_bits(const std::vector<cdi::RootMode>& modes) {
  for (const auto& mode : modes) {
    if (mode.mode <= 07777U) continue;
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = fmt::format("the mode {:o} of {} has more than permission bits",
                                             mode.mode, cdi::quoted(mode.path))};
  }
  return {};
}

/// Rejects changes that would cost too much, or never end.
inline cdi::Result<void> check_counts(const cdi::RootChanges& changes) {
  constexpr std::size_t max_compat = 16;  // one library in each is read
  if (changes.cuda_compat.size() > max_compat) {
    return cdi::Error{
        .code = cdi::Errc::denied,
        .message = fmt::format("cudaCompat has {} folders", changes.cuda_compat.size()),
        .advice = fmt::format("list at most {}", max_compat)};
  }
  return check_mode_bits(changes.modes);
}

/// The fault in the path of a change; empty if the path is valid.
inline std::string_view path_fault(std::string_view path) {
  if (path.size() >= PATH_MAX) return "is longer than 4095 bytes";
  if (!is_root_path(path)) return "is not an absolute path under the root without . and ..";
  return cdi::detail::has_long_name(path) ? "contains a name longer than 255 bytes" : "";
}

/// The fault in the target of a link; empty if the target is valid.
inline std::string_view target_fault(std::string_view target) {
  if (target.empty() || target.find('\0') != std::string_view::npos) {
    return "is empty, or has a NUL byte";
  }
  return target.size() >= PATH_MAX ? "is longer than 4095 bytes" : "";
}

/// musl's linker reads a folder with a colon as two folders, so each run would append it again.
inline cdi::Result<void> check_library_folders(const std::vector<std::string>& folders) {
  for (const auto& folder : folders) {
    if (folder.find(':') == std::string::npos) continue;
    return cdi::Error{
        .code = cdi::Errc::denied,
        .message = fmt::format("the library folder {} contains a colon", cdi::quoted(folder))};
  }
  return {};
}

inline cdi::Result<void> check_paths(const cdi::RootChanges& changes) {
  std::vector<std::string_view> paths{changes.library_folders.begin(),
                                      changes.library_folders.end()};
  for (const auto& link : changes.links) paths.emplace_back(link.path);
  for (const auto& mode : changes.modes) paths.emplace_back(mode.path);
  for (const auto& file : changes.files) paths.emplace_back(file.path);
  for (const auto& compat : changes.cuda_compat) paths.emplace_back(compat.folder);
  for (const auto path : paths) {
    const auto fault = path_fault(path);
    if (fault.empty()) continue;
    return cdi::Error{.code = cdi::Errc::denied,
                      .message = fmt::format("the path {} {}", cdi::quoted(path), fault)};
  }
  for (const auto& link : changes.links) {
    const auto fault = target_fault(link.target);
    if (fault.empty()) continue;
    return cdi::Error{
        .code = cdi::Errc::denied,
        .message = fmt::format("the target of the link {} {}", cdi::quoted(link.path), fault)};
  }
  return {};
}

inline cdi::Result<RootSteps> make_plan(const RootedFiles& files, const cdi::RootChanges& changes) {
  RootSteps plan;
  for (const auto& [path, target] : changes.links) {
    plan.push_back({RootStep::Kind::link, path, target});
  }
  for (const auto& [path, mode] : changes.modes) {
    plan.push_back({RootStep::Kind::mode, path, {}, mode});
  }
  for (const auto& [path, text] : changes.files) {
    plan.push_back({RootStep::Kind::file, path, text, 0444});
  }
  const auto& folders = changes.library_folders;
  const auto musl = files.find("/etc/alpine-release");
  if (!musl && !is_missing(musl.error())) return musl.error();
  if (musl && folders.empty()) return plan;  // CUDA's compatibility library needs glibc
  if (musl) {
    if (auto done = plan_musl(files, folders, plan); !done) return done.error();
    return plan;
  }
  if (auto done = plan_compat(files, changes.cuda_compat, plan); !done) return done.error();
  if (folders.empty() && changes.cuda_compat.empty()) return plan;
  if (auto done = plan_glibc(files, folders, plan); !done) return done.error();
  return plan;
}

}  // namespace detail

/// Plans the steps for some changes, in order. Reads the root, and changes nothing.
inline cdi::Result<RootSteps> plan_steps(const RootedFiles& files,
                                         const cdi::RootChanges& changes) {
  if (auto valid = detail::check_paths(changes); !valid) return valid.error();
  if (auto valid = detail::check_library_folders(changes.library_folders); !valid) {
    return valid.error();
  }
  if (auto valid = detail::check_counts(changes); !valid) return valid.error();
  auto plan = detail::make_plan(files, changes);
  if (!plan) return plan;
  if (auto valid = detail::settle_places(files, *plan); !valid) return valid.error();
  return plan;
}

/// The steps of a plan that are still needed. Fails if a step could not be carried out.
inline cdi::Result<RootSteps> needed_steps(const RootedFiles& files, const RootSteps& plan) {
  RootSteps needed;
  for (const auto& step : plan) {
    const auto changes = is_needed(files, step);
    if (!changes) return changes.error();
    if (*changes) needed.push_back(step);
  }
  return needed;
}

/// Carries out the needed steps of a plan, and passes each one to `done`. A step may make another
/// step necessary, such as a mode that is set through a new link.
template <class Done>
cdi::Result<void> carry_out_plan(const RootedFiles& files, const RootSteps& plan,
                                 const Done& done) {
  for (const auto& step : plan) {
    const auto changes = is_needed(files, step);
    if (!changes) return changes.error();
    if (!*changes) continue;
    if (auto result = carry_out(files, step); !result) return result;
    done(step);
  }
  return {};
}

/// Carries out a plan for some changes. The contents of the root decide about steps, and a step may
/// change them, for example the file that identifies the linker. The changes are therefore planned
/// again until no step is needed.
template <class Done>
cdi::Result<void> carry_out_changes(const RootedFiles& files, const cdi::RootChanges& changes,
                                    RootSteps plan, const Done& done) {
  constexpr int max_rounds = 4;
  for (int i = 0; i < max_rounds; ++i) {
    const auto needed = needed_steps(files, plan);
    if (!needed) return needed.error();
    if (needed->empty()) return {};
    // Before the steps: once a step is done, its leftovers would no longer be looked for.
    remove_leftovers(files, *needed);
    if (auto result = carry_out_plan(files, plan, done); !result) return result;
    auto next = plan_steps(files, changes);
    if (!next) return next.error();
    plan = *std::move(next);
  }
  return cdi::Error{.code = cdi::Errc::denied,
                    .message = fmt::format("the changes to the root alter their own conditions: "
                                           "steps are still needed after {} rounds",
                                           max_rounds)};
}

#endif  // CDI_TOOLS_CDI_ROOTFS_ROOT_PLAN_HPP
