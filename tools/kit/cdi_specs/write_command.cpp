// Makes the command that rewrites a spec file of cdi-prepare.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "write_command.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/base/shell_word.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/spec_text.hpp>

#include "../versions/conversion_advice.hpp"
#include "prepare_settings.hpp"

namespace tools {

namespace {

/// The path here of a file in the tree, for a command that replaces the file. Returns `here` if no
/// link in it leads out of the root, and otherwise the path of the target under the root. Fails if
/// the target's extension means another format.
cdi::Result<std::string> file_here(const HostTree& tree, const std::string& path,
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

/// The argument for a recorded option.
std::string argument_for(std::string_view word) {
  const auto equals = word.find('=');
  auto out = std::string{"--"}.append(word.substr(0, equals));
  if (equals == word.npos) return out;
  return out.append(" ").append(cdi::shell_word(word.substr(equals + 1)));
}

/// A cdi-prepare command for the host of a tree, with arguments.
std::string command_line(const HostTree& tree, std::string_view command,
                         const std::vector<std::string>& arguments) {
  auto out = fmt::format("cdi-prepare {}", command);
  if (tree.root() != "/") out.append(" --root ").append(cdi::shell_word(tree.root()));
  for (const auto& argument : arguments) out.append(" ").append(argument);
  return out;
}

/// Whether the files of `cdi-prepare write` in a directory record options that are not the usual
/// ones; nullopt if there is no such file.
std::optional<bool> records_options(const HostTree& tree, const std::string& directory) {
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

}  // namespace

std::string place_of(const HostTree& tree, std::string_view path) {
  const auto clean = cdi::clean_path(path);
  for (auto end = clean.size(); end > 0 && end != std::string::npos;
       end = clean.rfind('/', end - 1)) {
    if (auto real = tree.real_path(clean.substr(0, end))) return *real + clean.substr(end);
  }
  return clean;
}

std::string path_here(const HostTree& tree, const std::string& path) {
  return tree.root() == "/" ? path : tree.root() + place_of(tree, path);
}

std::string conversion_advice_here(const HostTree& tree, const std::string& path,
                                   const std::string& here, const tools::VersionedEngine& engine,
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

std::optional<WriteOptions> recorded_options(const HostTree& tree, const cdi::LoadedSpec& loaded) {
  const auto text = loaded.owner_comment.empty() ? cdi::Result<std::string>{std::string{}}
                                                 : tree.read(loaded.path, cdi::Limits{}.bytes);
  return recorded_options(loaded, text ? std::string_view{*text} : std::string_view{});
}

bool is_lost_file(const std::filesystem::path& file) {
  std::error_code unreadable;
  if (std::filesystem::exists(file, unreadable) || unreadable) return false;
  const auto above = std::filesystem::status(file.parent_path(), unreadable);
  return std::filesystem::is_directory(above) &&
         above.permissions() != std::filesystem::perms::none;
}

std::vector<std::string> directory_argument(const HostTree& tree, const std::string& directory) {
  if (place_of(tree, directory) == place_of(tree, "/var/run/cdi")) return {};
  return {"--output-dir " + cdi::shell_word(path_here(tree, directory))};
}

std::vector<std::string> arguments_for(const HostTree& tree, const cdi::LoadedSpec& loaded) {
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

std::string command_with(const HostTree& tree, std::string_view command,
                         const std::vector<std::string>& arguments) {
  return "`" + command_line(tree, command, arguments) + "`";
}

std::vector<std::string> arguments_without_version(const HostTree& tree,
                                                   const cdi::LoadedSpec& loaded) {
  auto arguments = arguments_for(tree, loaded);
  std::erase_if(arguments, [](const auto& it) { return it.starts_with("--max-version"); });
  return arguments;
}

std::vector<std::string> keeping_arguments(const HostTree& tree, const std::string& output_dir) {
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

std::string write_command_for(const HostTree& tree, const cdi::LoadedSpec& loaded,
                              const std::optional<tools::VersionedEngine>& engine) {
  auto arguments = arguments_without_version(tree, loaded);
  if (engine) {
    arguments.insert(arguments.begin(),
                     fmt::format("--for {}@{}", engine->name, to_string(engine->version)));
  }
  return command_line(tree, "write", arguments);
}

}  // namespace tools
