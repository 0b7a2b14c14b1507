// The changes that make a container engine read CDI specs, and those that undo them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP
#define CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/temporary.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/engines/engines.hpp"
#include "../../kit/engines/toml_settings.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "docker_json.hpp"
#include "file_edit.hpp"
#include "toml_edit.hpp"
#include "toml_undo.hpp"

namespace prepare::configure {

/// Changes, in the order in which they are safe: a file that another one refers to comes first.
using Edits = std::vector<FileEdit>;

/// What an engine lacks.
struct Needs {
  bool switch_on = false;
  bool set_dirs = false;
  std::vector<std::string> dirs{};  // that it shall read, lowest priority first

  bool any() const { return switch_on || set_dirs; }
};

/// An engine whose configuration can be changed.
struct Configurable {
  std::string_view name;     // on the command line
  std::string_view engine;   // in `tools::Engine`
  std::string_view restart;  // how the change takes effect
  cdi::Result<Edits> (*edits)(const tools::HostTree&, const tools::Engine&, const Needs&);
  cdi::Result<Edits> (*undo)(const tools::HostTree&);
  std::array<std::string_view, 3> files{};  // that may change; those after the last are empty
};

namespace detail {

/// The first line of a file that belongs to cdi-prepare.
inline std::string first_line(std::string_view name) {
  return fmt::format(
      "# Written by cdi-prepare configure {0}; cdi-prepare configure {0} --undo removes it.\n",
      name);
}

/// Whether a line is the `version = N` of a file of our own.
inline bool is_version(std::string_view line) {
  constexpr std::string_view name = "version = ";
  return line.starts_with(name) &&
         line.find_first_not_of("0123456789", name.size()) == std::string_view::npos;
}

/// What others wrote into a file of our own, which has lost our settings; nullopt if nothing.
inline Content rest_of_own(std::string_view text, std::string_view name) {
  text.remove_prefix(first_line(name).size());
  for (const auto line : lines_of(text)) {
    const auto content = tools::trim(line);
    if (!content.empty() && !is_version(content)) return std::string{text};
  }
  return std::nullopt;
}

/// Takes our settings out of a file, and removes a file of our own if nothing else is in it.
inline cdi::Result<void> take_back(FileEdit& file, std::string_view name) {
  auto undone = without_settings(*file.before);
  const auto valid = tools::parse_toml(undone.text, file.path);
  if (!valid && tools::parse_toml(*file.before, file.path)) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message =
                          "it was changed since, so that the old settings cannot come back: "
                          "remove the lines with a comment of cdi-prepare by hand",
                      .position = {.file = file.path}};
  }
  for (const auto& line : undone.kept) {
    file.notes.push_back(fmt::format("{}: was changed since, and stays: {}", file.path, line));
  }
  const bool is_own = undone.text.starts_with(first_line(name));
  file.after = is_own ? rest_of_own(undone.text, name) : std::move(undone.text);
  if (is_own && file.after) {
    file.notes.push_back(file.path + ": what others wrote into it stays");
  }
  return {};
}

/// A file of our own with settings, after a text. What others wrote into it stays.
inline cdi::Result<FileEdit> drop_in(const tools::HostTree& tree, const std::string& path,
                                     std::string_view name, const std::vector<Setting>& settings,
                                     const std::string& begin = {}) {
  auto file = read_to_edit(tree, path);
  if (!file) return file;
  Content old;
  if (file->before) {
    if (!file->before->starts_with(first_line(name))) {
      return cdi::Error{.code = cdi::Errc::conflict,
                        .message = "another program or person wrote it: rename or remove it",
                        .position = {.file = file->path}};
    }
    old = rest_of_own(without_settings(*file->before).text, name);
  }
  auto text = with_settings(first_line(name) + old.value_or(begin), file->path, settings);
  if (!text) return text.error();
  file->after = *std::move(text);
  return file;
}

/// The edit that takes back a file of our own; none if it is missing or of others.
inline cdi::Result<Edits> remove_drop_in(const tools::HostTree& tree, const std::string& path,
                                         std::string_view name) {
  auto file = read_to_edit(tree, path);
  if (!file) return file.error();
  if (!file->before || !file->before->starts_with(first_line(name))) return Edits{};
  if (auto taken = take_back(*file, name); !taken) return taken.error();
  return Edits{*std::move(file)};
}

}  // namespace detail

// CRI-O, podman: their drop-in files have priority over the main file.

inline constexpr const char* crio_drop_in = "/etc/crio/crio.conf.d/99-cdi-prepare.conf";
inline constexpr const char* podman_drop_in =
    "/etc/containers/containers.conf.d/99-cdi-prepare.conf";

inline cdi::Result<Edits> crio_edits(const tools::HostTree& tree, const tools::Engine&,
                                     const Needs& needs) {
  const std::vector<Setting> settings{
      {{"crio", "runtime"}, "cdi_spec_dirs", toml_list(needs.dirs)}};
  auto file = detail::drop_in(tree, crio_drop_in, "crio", settings);
  if (!file) return file.error();
  return Edits{*std::move(file)};
}

inline cdi::Result<Edits> undo_crio(const tools::HostTree& tree) {
  return detail::remove_drop_in(tree, crio_drop_in, "crio");
}

inline cdi::Result<Edits> podman_edits(const tools::HostTree& tree, const tools::Engine& engine,
                                       const Needs& needs) {
  if (engine.to_set_dirs.empty()) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = fmt::format("{} ignores cdi_spec_dirs, and always reads {}: write "
                                             "the specs there, or update it to 5.5.0 or newer",
                                             engine.full_name(), tools::listed(engine.spec_dirs))};
  }
  const std::vector<Setting> settings{{{"engine"}, "cdi_spec_dirs", toml_list(needs.dirs)}};
  auto file = detail::drop_in(tree, podman_drop_in, "podman", settings);
  if (!file) return file.error();
  return Edits{*std::move(file)};
}

inline cdi::Result<Edits> undo_podman(const tools::HostTree& tree) {
  return detail::remove_drop_in(tree, podman_drop_in, "podman");
}

// Docker: it has one file.

inline constexpr const char* docker_config = "/etc/docker/daemon.json";
inline constexpr const char* docker_copy = "/etc/docker/daemon.json.before-cdi-prepare";
inline constexpr const char* docker_record = "/etc/docker/daemon.json.set-by-cdi-prepare";

/// Docker's file, and ours beside it.
struct DockerFiles {
  FileEdit config{};
  FileEdit copy{};    // of the file before the first change; missing if that was
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

inline cdi::Result<Edits> docker_edits(const tools::HostTree& tree, const tools::Engine&,
                                       const Needs& needs) {
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
  // The copy goes last: as long as it is there, a repeated call finds the old bytes.
  return Edits{std::move(config), std::move(record), std::move(copy)};
}

// containerd: before 2.0, an imported file replaces the whole table of a plugin, with runtimes and
// registries, so the main file changes. From 2.0 on, tables are merged.

inline constexpr const char* containerd_config = "/etc/containerd/config.toml";
inline constexpr const char* containerd_drop_in = "/etc/containerd/conf.d/cdi-prepare.toml";
/// A pattern, because containerd does not start if an imported file is missing.
inline constexpr const char* containerd_import = "/etc/containerd/conf.d/cdi-prepare*.toml";

namespace detail {

inline std::vector<Setting> containerd_settings(std::int64_t version, const Needs& needs) {
  const auto table = tools::engines::containerd_table(version);
  std::vector<Setting> settings{{table, "enable_cdi", "true"}};
  if (needs.set_dirs) settings.push_back({table, "cdi_spec_dirs", toml_list(needs.dirs)});
  return settings;
}

/// The main file; if it is missing, one of our own with a version.
inline cdi::Result<FileEdit> containerd_main(const tools::HostTree& tree, std::int64_t version) {
  auto file = read_to_edit(tree, containerd_config);
  if (!file || file->before) return file;
  file->after = first_line("containerd") + fmt::format("version = {}\n", version);
  return file;
}

/// Adds an import to the list in the main file.
inline cdi::Result<std::string> with_import(const FileEdit& file,
                                            const tools::TomlSettings& settings) {
  auto imports = settings.list({"imports"}).value_or(tools::TomlList{}).items;
  for (const auto& import : imports) {
    if (import == containerd_import) return *file.after;
  }
  imports.emplace_back(containerd_import);
  return with_settings(*file.after, file.path, {{{}, "imports", toml_list(imports)}});
}

}  // namespace detail

inline cdi::Result<Edits> containerd_edits(const tools::HostTree& tree, const tools::Engine& engine,
                                           const Needs& needs) {
  const bool merges = engine.version && *engine.version >= tools::EngineVersion{2, 0, 0};
  auto file = detail::containerd_main(tree, merges ? 3 : 2);
  if (!file) return file.error();
  const auto old = tools::parse_toml(*file->after, file->path);
  if (!old) return old.error();
  const auto version = tools::engines::containerd_version(*old);
  const auto settings = detail::containerd_settings(version, needs);
  if (!merges) {
    auto text = with_settings(*file->after, file->path, settings);
    if (!text) return text.error();
    file->after = *std::move(text);
    return Edits{*std::move(file)};
  }
  auto own = detail::drop_in(tree, containerd_drop_in, "containerd", settings,
                             fmt::format("version = {}\n", version));
  if (!own) return own.error();
  auto text = detail::with_import(*file, *old);
  if (!text) return text.error();
  file->after = *std::move(text);
  return Edits{*std::move(own), *std::move(file)};
}

inline cdi::Result<Edits> undo_containerd(const tools::HostTree& tree) {
  auto file = read_to_edit(tree, containerd_config);
  if (!file) return file.error();
  Edits edits;
  if (file->before) {
    if (auto taken = detail::take_back(*file, "containerd"); !taken) return taken.error();
  }
  if (file->changes() || !file->notes.empty()) edits.push_back(*std::move(file));
  auto own = detail::remove_drop_in(tree, containerd_drop_in, "containerd");
  if (!own) return own.error();
  for (auto& edit : *own) {
    if (edit.after) edit.notes.push_back(edit.path + ": containerd no longer reads it");
    edits.push_back(std::move(edit));
  }
  return edits;
}

/// The engines that can be configured.
inline constexpr Configurable configurable[] = {
    {"containerd",
     "containerd",
     "Restart containerd: systemctl restart containerd",
     containerd_edits,
     undo_containerd,
     {containerd_config, containerd_drop_in}},
    {"docker",
     "docker",
     "Restart Docker: systemctl restart docker",
     docker_edits,
     undo_docker,
     {docker_config, docker_copy, docker_record}},
    {"podman",
     "podman",
     "podman reads it when it starts. If its API service runs: systemctl restart podman.service",
     podman_edits,
     undo_podman,
     {podman_drop_in}},
    {"crio",
     "cri-o",
     "Restart CRI-O: systemctl restart crio",
     crio_edits,
     undo_crio,
     {crio_drop_in}},
};

/// Removes the temporary files that killed calls left beside the files of an engine.
inline void remove_leftovers(const HostOptions& options, const tools::HostTree& tree,
                             const Configurable& engine) {
  for (const auto path : engine.files) {
    if (path.empty()) continue;
    const auto file = read_to_edit(tree, std::string{path});
    if (!file) continue;  // said by what reads it
    const auto slash = file->path.rfind('/');
    const auto directory =
        open_directory(options, slash == 0 ? "/" : file->path.substr(0, slash), Missing::stays);
    if (!directory || !directory->descriptor) continue;
    cdi::remove_temporaries_of(directory->number(), file->path.substr(slash + 1));
  }
}

/// The name on the command line of an engine; empty if it cannot be configured.
inline std::string_view configure_name(std::string_view engine) {
  for (const auto& one : configurable) {
    if (one.engine == engine) return one.name;
  }
  return {};
}

}  // namespace prepare::configure

#endif  // CDI_TOOLS_GPU_CONFIGURE_ENGINE_EDITS_HPP
