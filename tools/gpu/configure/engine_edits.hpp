// Changes engines to read CDI specs, and undoes such changes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP
#define CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/files/temporary.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/sha256.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/engines/engines.hpp"
#include "../../kit/engines/toml_settings.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "docker_json.hpp"
#include "file_edit.hpp"

namespace prepare::configure {

/// Changes in a safe order: a file comes before the file that refers to it.
using Edits = std::vector<FileEdit>;

/// What an engine lacks.
struct Needs {
  bool switch_on = false;
  bool set_dirs = false;
  std::vector<std::string> dirs{};  // to read, lowest priority first

  bool any() const { return switch_on || set_dirs; }
};

/// An engine whose configuration can be changed.
struct Configurable {
  std::string_view name;     // on the command line
  std::string_view engine;   // in `tools::Engine`
  std::string_view restart;  // how the change takes effect
  /// The file of our own that the engine reads; empty if it reads none. Null for Docker.
  std::string_view (*own_file)(const tools::HostTree&, const tools::Engine&);
  std::string (*settings)(const tools::HostTree&, const tools::Engine&, const Needs&);
  std::array<std::string_view, 3> files{};  // that may change; unused elements are empty
};

namespace detail {

/// How a file of our own begins.
inline std::string begin_of_own(std::string_view name) {
  return fmt::format("# Written by cdi-prepare configure {}, whose --undo removes this file: ",
                     name);
}

/// A file of our own with settings. Its digest shows whether a person changed it later.
inline std::string own_text(std::string_view name, std::string_view settings) {
  return fmt::format("{}{}\n{}", begin_of_own(name), tools::sha256(settings), settings);
}

/// Whether a file is our own. Fails if it was changed since: the new settings must not be lost.
inline cdi::Result<bool> is_own(const FileEdit& file, std::string_view name) {
  if (!file.before || !file.before->starts_with(begin_of_own(name))) return false;
  const auto settings = std::string_view{*file.before}.substr(file.before->find('\n') + 1);
  if (*file.before == own_text(name, settings)) return true;
  return cdi::Error{.code = cdi::Errc::conflict,
                    .message = "the file was changed since cdi-prepare wrote it",
                    .advice = "change it by hand, or remove it; nothing was changed",
                    .position = {.file = file.path}};
}

/// A text in quotes, or a list of texts, as TOML.
inline std::string toml_text(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}
inline std::string toml_list(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const auto& item : items) quoted.push_back(toml_text(item));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

inline std::string spec_dirs_line(const Needs& needs) {
  return fmt::format("cdi_spec_dirs = {}\n", toml_list(needs.dirs));
}

}  // namespace detail

// CRI-O, podman: their drop-in files have priority over the main file.

inline constexpr std::string_view crio_drop_in = "/etc/crio/crio.conf.d/99-cdi-prepare.conf";
inline constexpr std::string_view podman_drop_in =
    "/etc/containers/containers.conf.d/99-cdi-prepare.conf";

template <const std::string_view& path>
std::string_view drop_in(const tools::HostTree&, const tools::Engine&) {
  return path;
}

inline std::string crio_settings(const tools::HostTree&, const tools::Engine&, const Needs& needs) {
  return "[crio.runtime]\n" + detail::spec_dirs_line(needs);
}

inline std::string podman_settings(const tools::HostTree&, const tools::Engine&,
                                   const Needs& needs) {
  return "[engine]\n" + detail::spec_dirs_line(needs);
}

// containerd: from 2.0 on, the tables of imported files are merged. Before, an imported file
// replaces the whole table of a plugin, with runtimes and registries.

inline constexpr std::string_view containerd_config = tools::engines::containerd_config;
inline constexpr std::string_view containerd_drop_in = "/etc/containerd/conf.d/cdi-prepare.toml";
inline constexpr std::string_view containerd_import = "/etc/containerd/conf.d/*.toml";

inline bool merges_imports(const tools::Engine& engine) {
  return engine.version && *engine.version >= tools::EngineVersion{2, 0, 0};
}

/// Our main file, if there is no other main file; otherwise an imported file, if it is merged.
inline std::string_view containerd_file(const tools::HostTree& tree, const tools::Engine& engine) {
  const auto text = tree.read(std::string{containerd_config});
  if (text ? text->starts_with(detail::begin_of_own("containerd"))
           : !tree.exists(containerd_config)) {
    return containerd_config;
  }
  tools::Engine unused;
  const std::string path{containerd_config};
  const auto settings = tools::engines::read_toml(tree, path, unused);
  const auto patterns = tools::engines::containerd_imports(path, settings);
  const bool imports = std::any_of(patterns.begin(), patterns.end(), [](const auto& pattern) {
    return tools::engines::is_match(pattern, containerd_drop_in);
  });
  return imports && merges_imports(engine) ? containerd_drop_in : std::string_view{};
}

/// The version of containerd's present or future file.
inline std::int64_t containerd_version(const tools::HostTree& tree, const tools::Engine& engine) {
  tools::Engine unused;
  if (!tree.exists(containerd_config)) return merges_imports(engine) ? 3 : 2;
  return tools::engines::containerd_version(
      tools::engines::read_toml(tree, std::string{containerd_config}, unused));
}

inline std::string containerd_settings(const tools::HostTree& tree, const tools::Engine& engine,
                                       const Needs& needs) {
  const auto version = containerd_version(tree, engine);
  const auto plugin = tools::engines::containerd_table(version).back();
  return fmt::format("version = {}\n[plugins.{}]\nenable_cdi = true\n{}", version,
                     detail::toml_text(plugin),
                     needs.set_dirs ? detail::spec_dirs_line(needs) : std::string{});
}

/// What a person has to add to containerd's main file, and where.
inline std::string containerd_by_hand(const tools::HostTree& tree, const tools::Engine& engine,
                                      const Needs& needs) {
  if (!merges_imports(engine)) {
    const auto settings = containerd_settings(tree, engine, needs);
    return fmt::format("Set in {}, in this table:\n{}", containerd_config,
                       settings.substr(settings.find('\n') + 1));
  }
  tools::Engine unused;
  const auto settings = tools::engines::read_toml(tree, std::string{containerd_config}, unused);
  auto imports = settings.list({"imports"}).value_or(tools::TomlList{}).items;
  imports.emplace_back(containerd_import);
  return fmt::format("Set in {}, before its first table, and run this again:\nimports = {}\n",
                     containerd_config, detail::toml_list(imports));
}

// Docker: it has one file.

inline constexpr const char* docker_config = "/etc/docker/daemon.json";
inline constexpr const char* docker_copy = "/etc/docker/daemon.json.before-cdi-prepare";
inline constexpr const char* docker_record = "/etc/docker/daemon.json.set-by-cdi-prepare";

/// Docker's file, and ours beside it.
struct DockerFiles {
  FileEdit config{};
  FileEdit copy{};    // of the file before the first change; missing if there was no file
  FileEdit record{};  // of what was set

  bool are_configured() const { return copy.before || record.before; }
};

inline cdi::Result<DockerFiles> docker_files(const tools::HostTree& tree) {
  DockerFiles files;
  const std::pair<const char*, FileEdit*> paths[] = {
      {docker_config, &files.config}, {docker_copy, &files.copy}, {docker_record, &files.record}};
  for (const auto& [path, file] : paths) {
    auto read = read_to_edit(tree, path);
    if (!read) return read.error();
    *file = *std::move(read);
  }
  files.copy.like = files.config.path;
  files.record.like = files.config.path;
  return files;
}

inline cdi::Result<Edits> docker_edits(const tools::HostTree& tree, const Needs& needs) {
  auto files = docker_files(tree);
  if (!files) return files.error();
  DockerSettings wanted{.switch_on = needs.switch_on};
  if (needs.set_dirs) wanted.dirs = needs.dirs;
  auto text = with_docker_settings(files->config, wanted);
  if (!text) return text.error();
  auto set = record_of(files->record, wanted);
  if (!set) return set.error();
  if (!files->are_configured()) {
    files->copy.after = files->config.before;
  } else if (auto kept = keep_later_values(files->copy, files->config, files->record, wanted);
             !kept) {
    return kept.error();
  }
  files->record.after = *std::move(set);
  files->config.after = *std::move(text);
  return Edits{std::move(files->copy), std::move(files->record), std::move(files->config)};
}

inline cdi::Result<Edits> undo_docker(const tools::HostTree& tree) {
  auto files = docker_files(tree);
  if (!files) return files.error();
  if (!files->are_configured()) return Edits{};
  auto& [config, copy, record] = *files;
  const auto is_blank = [](const FileEdit& file) {
    return tools::trim(file.before.value_or("")).empty();
  };
  if (is_blank(config) && !is_blank(copy)) {
    config.after = copy.before;
    config.like = copy.path;
    config.notes.push_back(config.path +
                           ": it was emptied or removed since: its text from before comes back");
  } else if (auto taken = take_docker_settings_back(config, copy.before, record); !taken) {
    return taken.error();
  }
  copy.after.reset();
  record.after.reset();
  // The copy is removed last: until then, a repeated call finds the old bytes.
  return Edits{std::move(config), std::move(record), std::move(copy)};
}

/// The engines that can be configured.
inline constexpr Configurable configurable[] = {
    {"containerd",
     "containerd",
     "Restart containerd: systemctl restart containerd",
     containerd_file,
     containerd_settings,
     {containerd_drop_in, containerd_config}},
    {"docker",
     "docker",
     "Restart Docker: systemctl restart docker",
     nullptr,
     nullptr,
     {docker_config, docker_copy, docker_record}},
    {"podman",
     "podman",
     "podman reads it when it starts. If its API service runs: systemctl restart podman.service",
     drop_in<podman_drop_in>,
     podman_settings,
     {podman_drop_in}},
    {"crio",
     "cri-o",
     "Restart CRI-O: systemctl restart crio",
     drop_in<crio_drop_in>,
     crio_settings,
     {crio_drop_in}},
};

/// The changes that give an engine what it needs. `own` is the file of our own that it reads.
inline cdi::Result<Edits> edits_of(const Configurable& one, const tools::HostTree& tree,
                                   const tools::Engine& engine, std::string_view own, Needs needs) {
  if (one.own_file == nullptr) return docker_edits(tree, needs);
  if (engine.to_set_dirs.empty()) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = fmt::format("{} ignores cdi_spec_dirs, and always reads {}: write "
                                             "the specs there, or update it to 5.5.0 or newer",
                                             engine.full_name(), tools::listed(engine.spec_dirs))};
  }
  needs.set_dirs = needs.set_dirs || engine.dirs_file == own;  // the old file had them
  auto file = read_to_edit(tree, std::string{own});
  if (!file) return file.error();
  const auto ours = detail::is_own(*file, one.name);
  if (!ours) return ours.error();
  if (file->before && !*ours) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "another program or person wrote it: rename or remove it",
                      .position = {.file = file->path}};
  }
  file->after = detail::own_text(one.name, one.settings(tree, engine, needs));
  return Edits{*std::move(file)};
}

/// Undoes the changes of earlier calls.
inline cdi::Result<Edits> undo_of(const Configurable& one, const tools::HostTree& tree) {
  if (one.own_file == nullptr) return undo_docker(tree);
  Edits edits;
  for (const auto path : one.files) {
    if (path.empty()) continue;
    auto file = read_to_edit(tree, std::string{path});
    if (!file) return file.error();
    const auto ours = detail::is_own(*file, one.name);
    if (!ours) return ours.error();
    if (!*ours) continue;
    file->after.reset();
    edits.push_back(*std::move(file));
  }
  return edits;
}

/// Removes the temporary files that killed calls left beside the files of an engine.
inline void remove_leftovers(const HostOptions& options, const tools::HostTree& tree,
                             const Configurable& engine) {
  for (const auto path : engine.files) {
    if (path.empty()) continue;
    const auto file = read_to_edit(tree, std::string{path});
    if (!file) continue;  // reported by its reader
    const auto slash = file->path.rfind('/');
    const auto directory =
        open_directory(options, slash == 0 ? "/" : file->path.substr(0, slash), Missing::stays);
    if (!directory || !directory->descriptor) continue;
    cdi::remove_temporaries_of(directory->number(), file->path.substr(slash + 1));
  }
}

/// The name on the command line of an engine; empty if `configure` cannot change what it reads.
inline std::string_view configure_name(const tools::HostTree& tree, const tools::Engine& engine) {
  for (const auto& one : configurable) {
    if (one.engine != engine.name) continue;
    return one.own_file == nullptr || !one.own_file(tree, engine).empty() ? one.name : "";
  }
  return {};
}

}  // namespace prepare::configure

#endif  // CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP
