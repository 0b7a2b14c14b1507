// The container engines on a host, and how their configuration makes them read CDI specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "engines.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/base/path.hpp>

#include "../base/glob.hpp"
#include "../base/text.hpp"
#include "../versions/engine_defaults.hpp"
#include "../versions/engine_versions.hpp"
#include "json_settings.hpp"

namespace tools::engines {

namespace {

/// The files that a path with a pattern in its last part matches, sorted by name.
std::vector<std::string> matching_files(const HostTree& tree, const std::string& pattern) {
  std::vector<std::string> paths;
  const auto directory = pattern.substr(0, pattern.rfind('/'));
  for (const auto& name : tree.list(directory)) {
    auto path = fmt::format("{}/{}", directory, name);
    if (is_match(pattern, path)) paths.push_back(std::move(path));
  }
  return paths;
}

/// The drop-in files of CRI-O or Podman, which skip directories among them.
std::vector<std::string> drop_ins(const HostTree& tree, const std::string& pattern) {
  auto paths = matching_files(tree, pattern);
  std::erase_if(paths, [&](const std::string& path) { return tree.is_directory(path); });
  return paths;
}

/// Applies one configuration file of containerd.
void apply_containerd_file(const TomlSettings& settings, const std::string& path, Engine& engine) {
  const auto version = containerd_version(settings);
  if (version >= 3 && engine.cdi == Engine::Cdi::by_version) engine.cdi = Engine::Cdi::on;
  const auto table = containerd_table(version);
  const auto in_table = [&](std::string_view name) {
    auto key = table;
    key.emplace_back(name);
    return key;
  };
  if (const auto enabled = settings.truth(in_table("enable_cdi"))) {
    engine.cdi = *enabled ? Engine::Cdi::on : Engine::Cdi::off;
    engine.switch_file = path;
  } else if (settings.has(in_table("enable_cdi"))) {
    engine.warnings.push_back(path + ": enable_cdi is neither true nor false");
  }
  set_spec_dirs(settings, in_table("cdi_spec_dirs"), path, engine);
  for (const auto* const name : {"enable_cdi", "cdi_spec_dirs"}) {
    for (const auto& key : settings.keys_named(name)) {
      if (key == in_table(name)) continue;
      engine.warnings.push_back(
          fmt::format("{}: containerd ignores {} here: in a file of version {}, it belongs "
                      "to [plugins.\"{}\"]",
                      path, name, version, table.back()));
    }
  }
}

/// The first version of an engine that injects CDI devices by default.
tools::EngineVersion first_with_cdi(std::string_view engine) {
  for (const auto& row : tools::engine_defaults) {
    if (row.engine == engine && row.cdi_switch != tools::CdiSwitch::off) return row.since;
  }
  return {};
}

std::optional<Engine> containerd(const HostTree& tree) {
  const std::string path = containerd_config;
  if (!has_program(tree, "containerd") && !tree.exists(path)) return std::nullopt;
  Engine engine{.name = "containerd",
                .cdi = Engine::Cdi::by_version,
                .on_since = first_with_cdi("containerd")};
  std::set<std::string> loaded;
  std::vector<std::string> waiting{path};
  for (std::size_t i = 0; i < waiting.size(); ++i) {  // imports of imports come last
    const auto file = waiting[i];
    if (!loaded.insert(file).second) continue;
    const auto settings = read_toml(tree, file, engine);
    if (file == path && is_cri_disabled(settings)) return std::nullopt;
    apply_containerd_file(settings, file, engine);
    for (const auto& pattern : containerd_imports(file, settings)) {
      auto found = matching_files(tree, pattern);
      std::move(found.begin(), found.end(), std::back_inserter(waiting));
    }
  }
  engine.to_switch_on = "Set enable_cdi = true in the CRI table of " +
                        file_that_counts(engine.switch_file, path) +
                        "; containerd 2.0 and newer do so by default, 1.7 does not.";
  engine.to_set_dirs =
      "cdi_spec_dirs in the CRI table of " + file_that_counts(engine.dirs_file, path);
  return engine;
}

/// The strings in a JSON list; nullopt if it contains other values.
std::optional<std::vector<std::string>> json_texts(const nlohmann::json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& item : list) {
    if (!item.is_string()) return std::nullopt;
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

/// Applies Docker's configuration file.
void apply_docker_file(const std::string& text, const std::string& path, Engine& engine) {
  const auto config = nlohmann::json::parse(text, nullptr, false);
  if (!config.is_object()) {
    auto error = json_settings_error(text, path);
    error.advice = "its settings are unknown";
    engine.add_unread(std::move(error));
    return;
  }
  const auto* const features = member(config, "features");
  const auto* const enabled = features == nullptr ? nullptr : member(*features, "cdi");
  if (enabled != nullptr && enabled->is_boolean()) {
    engine.cdi = enabled->get<bool>() ? Engine::Cdi::on : Engine::Cdi::off;
  }
  const auto* const dirs = member(config, "cdi-spec-dirs");
  if (dirs == nullptr) return;
  auto texts = json_texts(*dirs);
  if (!texts) {
    engine.warnings.push_back(path + ": cdi-spec-dirs is not a list of strings");
    return;
  }
  std::erase(*texts, "");
  engine.set_dirs(*std::move(texts));
  if (!engine.spec_dirs.empty()) return;
  const bool is_off = engine.cdi == Engine::Cdi::off;  // by the other member, too
  engine.cdi = Engine::Cdi::off;
  engine.to_switch_on =
      (is_off ? "Remove \"cdi\": false and cdi-spec-dirs from " : "Remove cdi-spec-dirs from ") +
      path + ", or give it directories: without any, Docker has no CDI.";
}

std::optional<Engine> docker(const HostTree& tree) {
  const std::string path = "/etc/docker/daemon.json";
  if (!has_program(tree, "dockerd") && !tree.exists(path)) return std::nullopt;
  Engine engine{.name = "docker",
                .cdi = Engine::Cdi::by_version,
                .on_since = first_with_cdi("docker"),
                .to_switch_on = "Set \"features\": {\"cdi\": true} in " + path +
                                "; Docker 28.2 and newer do so by default, 25 to 28.1 do not.",
                .to_set_dirs = "cdi-spec-dirs in " + path};
  if (const auto text = read_config(tree, path, engine); text && !trim(*text).empty()) {
    apply_docker_file(*text, path, engine);
  }
  return engine;
}

constexpr const char* containers_conf = "/etc/containers/containers.conf";

/// Podman. Its configuration in /usr/share is ignored, because other packages also install it.
std::optional<Engine> podman(const HostTree& tree) {
  if (!has_program(tree, "podman") && !tree.exists(containers_conf)) return std::nullopt;
  Engine engine{.name = "podman"};
  apply_containers_conf(tree, engine);
  return engine;
}

}  // namespace

bool is_match(std::string_view pattern, std::string_view path) {
  const auto slash = pattern.rfind('/') + 1;
  if (pattern.substr(0, slash) != path.substr(0, path.rfind('/') + 1)) return false;
  const auto glob = Glob::parse(pattern.substr(slash));
  const auto name = path.substr(slash);
  return glob && glob->matches(name) &&
         (!name.starts_with('.') || pattern.substr(slash).starts_with('.'));
}

TomlKey containerd_table(std::int64_t version) {
  if (version >= 3) return {"plugins", "io.containerd.cri.v1.runtime"};
  if (version == 2) return {"plugins", "io.containerd.grpc.v1.cri"};
  return {"plugins", "cri"};
}

std::int64_t containerd_version(const TomlSettings& settings) {
  return settings.number({"version"}).value_or(1);
}

std::vector<std::string> containerd_imports(const std::string& path, const TomlSettings& settings) {
  auto list = settings.list({"imports"}).value_or(TomlList{});
  for (auto& pattern : list.items) {
    if (!pattern.starts_with('/')) pattern.insert(0, path.substr(0, path.rfind('/') + 1));
    pattern = cdi::clean_path(pattern);
  }
  return list.items;
}

bool is_cri_disabled(const TomlSettings& settings) {
  const auto list = settings.list({"disabled_plugins"});
  return list && std::any_of(list->items.begin(), list->items.end(), [](std::string_view name) {
           return name == "cri" || name == "io.containerd.grpc.v1.cri" ||
                  name == "io.containerd.cri.v1.runtime";
         });
}

std::optional<Engine> crio(const HostTree& tree) {
  const std::string path = "/etc/crio/crio.conf";
  const std::string directory = path + ".d";
  if (!has_program(tree, "crio") && !tree.exists(path) && !tree.exists(directory)) {
    return std::nullopt;
  }
  Engine engine{.name = "cri-o"};
  auto paths = drop_ins(tree, directory + "/*");
  paths.insert(paths.begin(), path);
  for (const auto& file : paths) {
    set_spec_dirs(read_toml(tree, file, engine), {"crio", "runtime", "cdi_spec_dirs"}, file,
                  engine);
  }
  engine.to_set_dirs =
      "cdi_spec_dirs in [crio.runtime] of " + file_that_counts(engine.dirs_file, path);
  return engine;
}

const nlohmann::json* member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

void apply_containers_conf(const HostTree& tree, Engine& engine) {
  const std::string path = containers_conf;
  for (const std::string file : {"/usr/share/containers/containers.conf", path.c_str()}) {
    auto paths = drop_ins(tree, file + ".d/*.conf");
    paths.insert(paths.begin(), file);
    for (const auto& one : paths) {
      set_spec_dirs(read_toml(tree, one, engine), {"engine", "cdi_spec_dirs"}, one, engine);
    }
  }
  engine.to_set_dirs = "cdi_spec_dirs in [engine] of " + file_that_counts(engine.dirs_file, path);
}

void apply_version(Engine& engine) {
  const auto* const row =
      engine.version ? tools::find_engine_defaults(engine.of_version()) : nullptr;
  if (row == nullptr) return;
  const bool obeys = !row->to_set_dirs.empty();
  if (obeys && engine.default_dirs == 0) return;
  std::vector<std::string> dirs;
  for (const auto dir : row->dirs) {
    if (!dir.empty()) dirs.emplace_back(dir);
  }
  const auto added = engine.spec_dirs.begin() + static_cast<std::ptrdiff_t>(engine.default_dirs);
  if (obeys) {
    dirs.insert(dirs.end(), added, engine.spec_dirs.end());
  } else if (engine.default_dirs == 0 || added != engine.spec_dirs.end()) {
    engine.warnings.push_back(engine.full_name() +
                              " ignores cdi_spec_dirs, which podman supports since 5.5.0");
  }
  if (!obeys) engine.to_set_dirs.clear();
  engine.set_dirs(std::move(dirs));
}

}  // namespace tools::engines

namespace tools {

std::vector<Engine> installed_engines(const HostTree& tree) {
  std::vector<Engine> engines;
  for (const auto find :
       {&engines::containerd, &engines::crio, &engines::docker, &engines::podman}) {
    if (auto engine = find(tree)) engines.push_back(std::move(*engine));
  }
  return engines;
}

}  // namespace tools
