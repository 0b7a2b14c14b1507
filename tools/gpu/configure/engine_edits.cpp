// Changes engines to read CDI specs, and undoes such changes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "engine_edits.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/files/temporary.hpp>

#include "../../kit/base/sha256.hpp"
#include "../../kit/base/text.hpp"
#include "../../kit/engines/toml_settings.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../host/directories.hpp"
#include "docker_json.hpp"

namespace prepare::configure {

namespace {

/// How a file of our own begins.
std::string begin_of_own(std::string_view name) {
  return fmt::format("# Written by cdi-prepare configure {}, whose --undo removes this file: ",
                     name);
}

/// A file of our own with settings. Its digest shows whether a person changed it later.
std::string own_text(std::string_view name, std::string_view settings) {
  return fmt::format("{}{}\n{}", begin_of_own(name), tools::sha256(settings), settings);
}

/// Whether a file is our own. Fails if it was changed since: the new settings must not be lost.
cdi::Result<bool> is_own(const FileEdit& file, std::string_view name) {
  if (!file.before || !file.before->starts_with(begin_of_own(name))) return false;
  const auto settings = std::string_view{*file.before}.substr(file.before->find('\n') + 1);
  if (*file.before == own_text(name, settings)) return true;
  return cdi::Error{.code = cdi::Errc::conflict,
                    .message = "the file was changed since cdi-prepare wrote it",
                    .advice = "change it by hand, or remove it; nothing was changed",
                    .position = {.file = file.path}};
}

/// A text in quotes, or a list of texts, as TOML.
std::string toml_text(std::string_view text) {
  std::string out{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string toml_list(const std::vector<std::string>& items) {
  std::vector<std::string> quoted;
  for (const auto& item : items) quoted.push_back(toml_text(item));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string spec_dirs_line(const Needs& needs) {
  return fmt::format("cdi_spec_dirs = {}\n", toml_list(needs.dirs));
}

constexpr std::string_view containerd_import = "/etc/containerd/conf.d/*.toml";

bool merges_imports(const tools::Engine& engine) {
  return engine.version && *engine.version >= tools::EngineVersion{2, 0, 0};
}

/// The version of containerd's present or future file.
std::int64_t containerd_version(const tools::HostTree& tree, const tools::Engine& engine) {
  tools::Engine unused;
  if (!tree.exists(containerd_config)) return merges_imports(engine) ? 3 : 2;
  return tools::engines::containerd_version(
      tools::engines::read_toml(tree, std::string{containerd_config}, unused));
}

/// Docker's file, and ours beside it.
struct DockerFiles {
  FileEdit config{};
  FileEdit copy{};    // of the file before the first change; missing if there was no file
  FileEdit record{};  // of what was set

  bool are_configured() const { return copy.before || record.before; }
};

cdi::Result<DockerFiles> docker_files(const tools::HostTree& tree) {
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

cdi::Result<Edits> docker_edits(const tools::HostTree& tree, const Needs& needs) {
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

cdi::Result<Edits> undo_docker(const tools::HostTree& tree) {
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

}  // namespace

std::string crio_settings(const tools::HostTree&, const tools::Engine&, const Needs& needs) {
  return "[crio.runtime]\n" + spec_dirs_line(needs);
}

std::string podman_settings(const tools::HostTree&, const tools::Engine&, const Needs& needs) {
  return "[engine]\n" + spec_dirs_line(needs);
}

std::string_view containerd_file(const tools::HostTree& tree, const tools::Engine& engine) {
  const auto text = tree.read(std::string{containerd_config});
  if (text ? text->starts_with(begin_of_own("containerd")) : !tree.exists(containerd_config)) {
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

std::string containerd_settings(const tools::HostTree& tree, const tools::Engine& engine,
                                const Needs& needs) {
  const auto version = containerd_version(tree, engine);
  const auto plugin = tools::engines::containerd_table(version).back();
  return fmt::format("version = {}\n[plugins.{}]\nenable_cdi = true\n{}", version,
                     toml_text(plugin), needs.set_dirs ? spec_dirs_line(needs) : std::string{});
}

std::string containerd_by_hand(const tools::HostTree& tree, const tools::Engine& engine,
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
                     containerd_config, toml_list(imports));
}

cdi::Result<Edits> edits_of(const Configurable& one, const tools::HostTree& tree,
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
  const auto ours = is_own(*file, one.name);
  if (!ours) return ours.error();
  if (file->before && !*ours) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "another program or person wrote it: rename or remove it",
                      .position = {.file = file->path}};
  }
  file->after = own_text(one.name, one.settings(tree, engine, needs));
  return Edits{*std::move(file)};
}

cdi::Result<Edits> undo_of(const Configurable& one, const tools::HostTree& tree) {
  if (one.own_file == nullptr) return undo_docker(tree);
  Edits edits;
  for (const auto path : one.files) {
    if (path.empty()) continue;
    auto file = read_to_edit(tree, std::string{path});
    if (!file) return file.error();
    const auto ours = is_own(*file, one.name);
    if (!ours) return ours.error();
    if (!*ours) continue;
    file->after.reset();
    edits.push_back(*std::move(file));
  }
  return edits;
}

void remove_leftovers(const HostOptions& options, const tools::HostTree& tree,
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

std::string_view configure_name(const tools::HostTree& tree, const tools::Engine& engine) {
  for (const auto& one : configurable) {
    if (one.engine != engine.name) continue;
    return one.own_file == nullptr || !one.own_file(tree, engine).empty() ? one.name : "";
  }
  return {};
}

}  // namespace prepare::configure
