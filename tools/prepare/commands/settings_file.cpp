// The settings file, whose values are used where the command line has none.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "settings_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <cdi/base/shell_word.hpp>
#include <cdi/text/document.hpp>

#include "../../gpu/host/open_host.hpp"
#include "../../kit/base/toml.hpp"
#include "../../kit/cdi_specs/prepare_settings.hpp"
#include "../../kit/help/usage.hpp"
#include "../../kit/host/host_tree.hpp"
#include "option_paths.hpp"

namespace prepare {

namespace {

/// A setting as words of a command line. Paths are on the host.
cdi::Result<GivenSetting> given_setting(const cdi::Document& document,
                                        const cdi::Document::Member& member,
                                        const HostOptions& host) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), member.key.text()) != names.end();
  };
  const auto& value = member.value;
  GivenSetting out{.name = std::string{member.key.text()}, .position = member.key.position()};
  if (is_one_of({"expect", "interval", "lock-timeout", "wait"}) &&
      value.kind() != cdi::Document::Kind::plain) {
    return tools::member_error(document, out.name, "must be a number");
  }
  const bool is_path = is_one_of({"nvml-library", "output-dir", "state-dir", "vendor-file"});
  bool good = true;
  const auto add = [&](std::string_view text) {
    const std::string word{text};
    out.values.push_back(is_path ? host.below_root(word) : word);
    good = good && (!is_path || word.starts_with('/'));
  };
  if (value.is_scalar()) add(value.text());
  for (const auto item : value.items()) add(item.text());
  if (!good) return tools::member_error(document, out.name, "must be an absolute path");
  return out;
}

/// Whether an option of a command has another meaning than the setting with its name: `prepare`
/// takes the devices and the kind of a claim.
bool is_other_option(const CLI::App& command, std::string_view setting) {
  return command.get_name() == "prepare" && (setting == "device" || setting == "kind");
}

/// The option of a command for a setting; null if it has none.
CLI::Option* option_for(CLI::App& command, const std::string& setting) {
  if (is_other_option(command, setting)) return nullptr;
  return command.get_option_no_throw("--" + setting);
}

/// Whether the command line has an option, or one that excludes it.
bool is_on_command_line(const CLI::Option& option, const std::vector<const CLI::Option*>& given) {
  const auto is_given = [&](const CLI::Option* one) {
    return std::find(given.begin(), given.end(), one) != given.end();
  };
  const auto excluded = option.get_excludes();
  return is_given(&option) || std::any_of(excluded.begin(), excluded.end(), is_given);
}

/// The options on a command line.
std::vector<const CLI::Option*> given_options(const CLI::App& command) {
  auto options = command.get_options();
  std::erase_if(options, [](const CLI::Option* one) { return one->count() == 0; });
  return {options.begin(), options.end()};
}

/// The error for a value that an option refuses.
cdi::Error refused(const CLI::App& command, const GivenSetting& setting,
                   const CLI::ParseError& thrown) {
  auto error = tools::usage_fault(command, thrown);
  error.code = cdi::Errc::invalid;
  error.where = setting.name;
  error.position = setting.position;
  return error;
}

/// Applies the settings for options of a command that are not on the command line.
cdi::Result<void> apply(CLI::App& command, const std::vector<GivenSetting>& settings) {
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
cdi::Result<std::optional<std::string>> settings_text(const HostOptions& options,
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

}  // namespace

cdi::Result<std::vector<GivenSetting>> read_settings(const HostOptions& options,
                                                     const std::string& given) {
  const auto text = settings_text(options, given);
  if (!text) return text.error();
  if (!*text) return std::vector<GivenSetting>{};
  const auto path = given.empty() ? options.below_root(std::string{tools::settings_path}) : given;
  tools::WriteSettings unused;
  const auto document = tools::read_toml(**text, path, unused);
  if (!document) return document.error();
  std::vector<GivenSetting> settings;
  for (const auto member : document->root().members()) {
    auto setting = given_setting(*document, member, options);
    if (!setting) return setting.error();
    settings.push_back(*std::move(setting));
  }
  return settings;
}

cdi::Result<void> apply_settings(const std::vector<GivenSetting>& settings,
                                 const std::vector<CLI::App*>& commands, CLI::App& chosen) {
  for (auto* const command : commands) {
    if (auto good = apply(*command, settings); !good) return good;
  }
  return apply(chosen, settings);
}

std::set<std::string> given_names(const CLI::App& command) {
  std::set<std::string> names;
  for (const auto* const option : given_options(command)) {
    for (const auto& name : option->get_lnames()) names.insert(name);
  }
  return names;
}

}  // namespace prepare
