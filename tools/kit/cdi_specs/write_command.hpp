// Makes the command that rewrites a spec file of cdi-prepare.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_CDI_SPECS_WRITE_COMMAND_HPP
#define CDI_TOOLS_KIT_CDI_SPECS_WRITE_COMMAND_HPP

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/base/shell_word.hpp>
#include <cdi/file.hpp>
#include <cdi/name.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/text/document.hpp>

#include "../base/text.hpp"
#include "../host/host_tree.hpp"
#include "../versions/conversion_advice.hpp"
#include "../versions/engine_versions.hpp"
#include "recorded_options.hpp"
#include "write_settings.hpp"

namespace tools {

/// Resolves links in the existing part of a path: /var/run/cdi becomes /run/cdi.
inline std::string place_of(const HostTree& tree, std::string_view path) {
  const auto clean = cdi::clean_path(path);
  for (auto end = clean.size(); end > 0 && end != std::string::npos;
       end = clean.rfind('/', end - 1)) {
    if (auto real = tree.real_path(clean.substr(0, end))) return *real + clean.substr(end);
  }
  return clean;
}

/// Converts a path on the host under the root to a path here. With a root other than /, links are
/// resolved as far as the path exists: a link on that host would lead out of the root.
inline std::string path_here(const HostTree& tree, const std::string& path) {
  return tree.root() == "/" ? path : tree.root() + place_of(tree, path);
}

/// The path here of a file in the tree, for a command that replaces the file. Returns `here` if no
/// link in it leads out of the root, and otherwise the path of the target under the root. Fails if
/// the target's extension means another format.
inline cdi::Result<std::string> file_here(const HostTree& tree, const std::string& path,
                                          const std::string& here) {
  const auto real = tree.root() == "/" ? std::nullopt : tree.real_path(path);
  if (!real) return here;
  std::error_code failed;
  auto target = std::filesystem::canonical(tree.root(), failed).string() + *real;
  if (std::filesystem::canonical(here, failed).string() == target) return here;
  if (cdi::format_of(target) == cdi::format_of(path)) return target;
  return cdi::Error{
      .code = cdi::Errc::unsupported,
      .message = fmt::format("the link {} leads out of {} from here, and the name of "
                             "its target {} has another extension",
                             cdi::quoted(path), cdi::quoted(tree.root()), cdi::quoted(*real))};
}

/// The advice to convert a file in the tree for an engine. `here` is as in `file_here`.
inline std::string conversion_advice_here(const HostTree& tree, const std::string& path,
                                          const std::string& here,
                                          const tools::VersionedEngine& engine,
                                          const cdi::LoadedSpec& loaded) {
  auto file = file_here(tree, path, here);
  if (!file) {
    return fmt::format("convert the file on its own host: no command here converts it, because {}",
                       file.error().message);
  }
  auto named = loaded;
  named.path = *std::move(file);
  return tools::conversion_advice(engine, named);
}

/// The options recorded in one of our files in the tree.
inline std::optional<WriteOptions> recorded_options(const HostTree& tree,
                                                    const cdi::LoadedSpec& loaded) {
  const auto text = loaded.owner_comment.empty() ? cdi::Result<std::string>{std::string{}}
                                                 : tree.read(loaded.path, cdi::Limits{}.bytes);
  return recorded_options(loaded, text ? std::string_view{*text} : std::string_view{});
}

/// The argument for a recorded option.
inline std::string argument_for(std::string_view word) {
  const auto equals = word.find('=');
  auto out = std::string{"--"}.append(word.substr(0, equals));
  if (equals == word.npos) return out;
  return out.append(" ").append(cdi::shell_word(word.substr(equals + 1)));
}

/// Whether a vendor file no longer exists. Without it, `write` removes the spec. A service with
/// `ProtectHome=` sees no home directory, or one that has no permissions: a file there is not lost.
inline bool is_lost_file(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (std::filesystem::exists(file, unreadable) || unreadable) return false;
  const auto above = std::filesystem::status(file.parent_path(), unreadable);
  return std::filesystem::is_directory(above) &&
         above.permissions() != std::filesystem::perms::none;
}

/// The argument for a spec directory; none for the usual one.
inline std::vector<std::string> directory_argument(const HostTree& tree,
                                                   const std::string& directory) {
  if (place_of(tree, directory) == place_of(tree, "/var/run/cdi")) return {};
  return {"--output-dir " + cdi::shell_word(path_here(tree, directory))};
}

/// The arguments with which `cdi-prepare write` rewrites a spec file.
inline std::vector<std::string> arguments_for(const HostTree& tree, const cdi::LoadedSpec& loaded) {
  const auto directory = loaded.path.substr(0, loaded.path.rfind('/'));
  auto options = recorded_options(tree, loaded).value_or(WriteOptions{});
  if (loaded.path.ends_with(".json")) options.format = "json";
  auto shown = options;
  const auto is_in = [&](std::string_view place) {
    return directory.starts_with(place);
  };
  const bool is_lost_at_boot = is_in("/run/") || is_in("/var/run/");
  const auto usual = is_lost_at_boot ? "given" : is_in("/etc/") ? "asked" : "";
  if (shown.node_numbers == usual) shown.node_numbers = "auto";
  if (tree.root() != "/") shown.nvml = false;  // asks about this host only
  std::erase_if(shown.vendor_files, is_lost_file);
  const auto defaults = option_words({});
  std::vector<std::string> arguments;
  for (const auto& word : option_words(shown)) {
    if (std::find(defaults.begin(), defaults.end(), word) != defaults.end()) continue;
    arguments.push_back(argument_for(word));
  }
  for (auto& argument : directory_argument(tree, directory))
    arguments.push_back(std::move(argument));
  if (!agrees_with_settings(tree, options, directory)) arguments.emplace_back("--no-config");
  return arguments;
}

/// A cdi-prepare command for the host of a tree, with arguments.
inline std::string command_line(const HostTree& tree, std::string_view command,
                                const std::vector<std::string>& arguments) {
  auto out = fmt::format("cdi-prepare {}", command);
  if (tree.root() != "/") out.append(" --root ").append(cdi::shell_word(tree.root()));
  for (const auto& argument : arguments) out.append(" ").append(argument);
  return out;
}

/// The command line in backquotes.
inline std::string command_with(const HostTree& tree, std::string_view command,
                                const std::vector<std::string>& arguments) {
  return "`" + command_line(tree, command, arguments) + "`";
}

/// Arguments without a version: `write` then uses the newest version that the installed engines
/// read.
inline std::vector<std::string> arguments_without_version(const HostTree& tree,
                                                          const cdi::LoadedSpec& loaded) {
  auto arguments = arguments_for(tree, loaded);
  std::erase_if(arguments, [](const auto& it) { return it.starts_with("--max-version"); });
  return arguments;
}

/// Whether the files of `cdi-prepare write` in a directory record options that are not the usual
/// ones; nullopt if there is no such file.
inline std::optional<bool> records_options(const HostTree& tree, const std::string& directory) {
  std::optional<bool> out;
  for (const auto& name : tree.list(directory)) {
    const auto path = fmt::format("{}/{}", directory, name);
    const auto format = cdi::format_of(name);
    const auto text = format ? tree.read(path, cdi::Limits{}.bytes) : cdi::Error{};
    const auto loaded = text ? cdi::parse_spec(*text, path, *format) : cdi::Error{};
    if (!loaded || loaded->owner() != spec_owner) continue;
    auto arguments = arguments_for(tree, *loaded);
    std::erase_if(arguments, [](const std::string& one) {
      return one == "--no-config" || one.starts_with("--output-dir ");
    });
    out = out.value_or(false) || !arguments.empty();
  }
  return out;
}

/// The arguments that make `cdi-prepare write` keep the directory and options that its files on the
/// host record. If the usual directory has no such file, /etc/cdi counts instead.
inline std::vector<std::string> keeping_arguments(const HostTree& tree,
                                                  const std::string& output_dir) {
  auto directory = output_dir;
  auto records = records_options(tree, directory);
  if (!records && directory_argument(tree, directory).empty()) {
    records = records_options(tree, "/etc/cdi");
    if (records) directory = "/etc/cdi";
  }
  auto arguments = directory_argument(tree, directory);
  if (records.value_or(false)) arguments.emplace_back("--keep-options");
  return arguments;
}

/// The command that rewrites one of our files for an engine; without an engine, for the oldest
/// installed engine.
inline std::string write_command_for(const HostTree& tree, const cdi::LoadedSpec& loaded,
                                     const std::optional<tools::VersionedEngine>& engine) {
  auto arguments = arguments_without_version(tree, loaded);
  if (engine) {
    arguments.insert(arguments.begin(),
                     fmt::format("--for {}@{}", engine->name, to_string(engine->version)));
  }
  return command_line(tree, "write", arguments);
}

}  // namespace tools

#endif  // CDI_TOOLS_KIT_CDI_SPECS_WRITE_COMMAND_HPP
