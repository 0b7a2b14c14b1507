// The settings file, whose values are used where the command line has none.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_COMMANDS_SETTINGS_FILE_HPP
#define CDI_TOOLS_PREPARE_COMMANDS_SETTINGS_FILE_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/shell_word.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/vendors/toml_reader.hpp"
#include "../../kit/cdi_specs/write_settings.hpp"
#include "../../kit/engines/toml_settings.hpp"
#include "../../kit/help/usage.hpp"
#include "../../kit/host/host_tree.hpp"
#include "option_paths.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// An option that the file can set, without its dashes.
struct Setting {
  enum class Type : std::uint8_t { text, texts, number, truth, path, paths };

  std::string_view name;
  Type type;
};

/// The options that the file can set: all except options for a single run, such as --dry-run and
/// --force.
inline constexpr Setting settings_of_file[] = {
    {"dev-root", Setting::Type::text},
    {"device", Setting::Type::texts},
    {"driver-root", Setting::Type::text},
    {"expect", Setting::Type::number},
    {"for", Setting::Type::texts},
    {"format", Setting::Type::text},
    {"hooks", Setting::Type::text},
    {"interval", Setting::Type::number},
    {"kind", Setting::Type::text},
    {"ld-library-path", Setting::Type::truth},
    {"library-search-path", Setting::Type::texts},
    {"lock-timeout", Setting::Type::number},
    {"make-nodes", Setting::Type::truth},
    {"max-version", Setting::Type::text},
    {"no-all", Setting::Type::truth},
    {"node-numbers", Setting::Type::text},
    {"nvml", Setting::Type::truth},
    {"nvml-library", Setting::Type::path},
    {"output-dir", Setting::Type::path},
    {"profile", Setting::Type::text},
    {"state-dir", Setting::Type::path},
    {"vendor-file", Setting::Type::paths},
    {"visible-only", Setting::Type::truth},
    {"wait", Setting::Type::number},
};

/// A setting of the file, as words of a command line.
struct GivenSetting {
  std::string name{};
  std::vector<std::string> values{};
  cdi::Position position{};
};

namespace detail {

/// Reads the settings of a file. Paths in it are on the host.
class SettingsReader {
 public:
  SettingsReader(const std::string& path, const HostOptions& host) : reader_{path}, host_{host} {}

  cdi::Result<std::vector<GivenSetting>> read(const tools::TomlSettings& settings) {
    std::vector<TomlReader::Member> members;
    for (const auto& setting : settings_of_file) {
      members.push_back({setting.name, [&](const TomlReader::Node& node, const std::string&) {
                           add(setting, node);
                         }});
    }
    reader_.read_table(settings.table(), {}, members);
    if (reader_.error()) return *reader_.error();
    for (auto& one : given_) {
      one.position.file = reader_.path();
      std::tie(one.position.line, one.position.column) = place_of(settings, one.name);
    }
    return std::move(given_);
  }

 private:
  using Type = Setting::Type;

  static std::pair<std::uint32_t, std::uint32_t> place_of(const tools::TomlSettings& settings,
                                                          const std::string& name) {
    const auto place = settings.position_of({name});
    return {place.line, place.column};
  }

  void add(const Setting& setting, const TomlReader::Node& node) {
    const std::string name{setting.name};
    GivenSetting given{.name = name};
    const auto read = [&](const TomlReader::Node& value, const std::string& where) {
      given.values.push_back(word_for(setting.type, value, where));
    };
    if (setting.type == Type::texts || setting.type == Type::paths) {
      reader_.for_each(node, name, read);
    } else {
      read(node, name);
    }
    given_.push_back(std::move(given));
  }

  std::string word_for(Type type, const TomlReader::Node& node, const std::string& where) {
    if (type == Type::truth) return reader_.read_truth(node, where) ? "true" : "false";
    if (type == Type::number) {
      if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
      if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
      reader_.fail(node, where, "must be a number");
      return {};
    }
    auto text = node.value_exact<std::string>().value_or("");
    const bool is_path = type == Type::path || type == Type::paths;
    if (text.empty() || text.find('\0') != text.npos) {
      reader_.fail(node, where, "must be a text that is not empty", "put it between quotes");
    } else if (is_path && !text.starts_with('/')) {
      reader_.fail(node, where, "must be an absolute path");
    }
    return is_path ? host_.below_root(text) : text;
  }

  TomlReader reader_;
  const HostOptions& host_;
  std::vector<GivenSetting> given_{};
};

/// Whether an option of a command has another meaning than the setting with its name: `prepare`
/// takes the devices and the kind of a claim.
inline bool is_other_option(const CLI::App& command, std::string_view setting) {
  return command.get_name() == "prepare" && (setting == "device" || setting == "kind");
}

/// The option of a command for a setting; null if it has none.
inline CLI::Option* option_for(CLI::App& command, const std::string& setting) {
  if (is_other_option(command, setting)) return nullptr;
  return command.get_option_no_throw("--" + setting);
}

/// Whether the command line has an option, or one that excludes it.
inline bool is_on_command_line(const CLI::Option& option,
                               const std::vector<const CLI::Option*>& given) {
  const auto is_given = [&](const CLI::Option* one) {
    return std::find(given.begin(), given.end(), one) != given.end();
  };
  const auto excluded = option.get_excludes();
  return is_given(&option) || std::any_of(excluded.begin(), excluded.end(), is_given);
}

/// The options on a command line.
inline std::vector<const CLI::Option*> given_options(const CLI::App& command) {
  auto options = command.get_options();
  std::erase_if(options, [](const CLI::Option* one) { return one->count() == 0; });
  return {options.begin(), options.end()};
}

/// The error for a value that an option refuses.
inline cdi::Error refused(const CLI::App& command, const GivenSetting& setting,
                          const CLI::ParseError& thrown) {
  auto error = tools::usage_error(command, thrown);
  const auto option = fmt::format("--{}: ", setting.name);
  if (error.message.starts_with(option)) error.message.erase(0, option.size());
  if (error.advice.ends_with("--help` lists the options")) error.advice.clear();
  error.code = cdi::Errc::invalid;
  error.where = setting.name;
  error.position = setting.position;
  return error;
}

/// Applies the settings for options of a command that are not on the command line.
inline cdi::Result<void> apply(CLI::App& command, const std::vector<GivenSetting>& settings) {
  const auto given = given_options(command);
  for (const auto& setting : settings) {
    auto* const option = option_for(command, setting.name);
    if (option == nullptr || is_on_command_line(*option, given)) continue;
    for (const auto* const other : option->get_excludes()) {
      if (other->count() == 0) continue;
      return cdi::Error{.code = cdi::Errc::invalid,
                        .message = fmt::format("excludes {}", other->get_name().substr(2)),
                        .advice = "leave out one of them",
                        .where = setting.name,
                        .position = setting.position};
    }
    try {
      option->add_result(setting.values);
      option->run_callback();
    } catch (const CLI::ParseError& thrown) {
      return refused(command, setting, thrown);
    }
  }
  return {};
}

/// The text of the settings file; nullopt if there is none.
inline cdi::Result<std::optional<std::string>> settings_text(const HostOptions& options,
                                                             const std::string& given) {
  const auto tree = given.empty() ? open_host(options) : tools::HostTree::open("/");
  if (!tree) return std::optional<std::string>{};  // the command says why
  const auto path = given.empty() ? std::string{tools::settings_path} : given;
  auto text = tree->read(path, std::size_t{64} << 10, /*reject_writable=*/true);
  if (text) return std::optional{*std::move(text)};
  auto& error = text.error();
  const bool is_missing = error.system == ENOENT || error.system == ENOTDIR;
  if (is_missing && given.empty()) return std::optional<std::string>{};
  if (error.code == cdi::Errc::denied) {
    const auto word = cdi::shell_word(given.empty() ? options.below_root(path) : path);
    error.advice = fmt::format("check the file, then: `chown root {0}; chmod go-w {0}`", word);
  }
  return std::move(error);
}

}  // namespace detail

/// The settings in the host's file, or in the file that an option names. `given` is the path of the
/// latter, or empty.
inline cdi::Result<std::vector<GivenSetting>> read_settings(const HostOptions& options,
                                                            const std::string& given) {
  const auto text = detail::settings_text(options, given);
  if (!text) return text.error();
  if (!*text) return std::vector<GivenSetting>{};
  const auto path = given.empty() ? options.below_root(std::string{tools::settings_path}) : given;
  const auto parsed = tools::parse_toml(**text, path);
  if (!parsed) return parsed.error();
  return detail::SettingsReader{path, options}.read(*parsed);
}

/// Applies settings to the chosen command. Each must be valid for some of `commands`, which are
/// not run.
inline cdi::Result<void> apply_settings(const std::vector<GivenSetting>& settings,
                                        const std::vector<CLI::App*>& commands, CLI::App& chosen) {
  for (auto* const command : commands) {
    if (auto good = detail::apply(*command, settings); !good) return good;
  }
  return detail::apply(chosen, settings);
}

/// The long names of the options that a command line or a settings file gives, without dashes.
inline std::set<std::string> given_names(const CLI::App& command) {
  std::set<std::string> names;
  for (const auto* const option : detail::given_options(command)) {
    for (const auto& name : option->get_lnames()) names.insert(name);
  }
  return names;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_COMMANDS_SETTINGS_FILE_HPP
