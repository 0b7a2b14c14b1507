// `cdi-nri`: gives containers the CDI devices that their pods request, by NRI.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../kit/base/one_line.hpp"
#include "../kit/base/options.hpp"
#include "../kit/base/release.hpp"
#include "../kit/completion/describing_commands.hpp"
#include "../kit/help/page.hpp"
#include "../kit/help/usage.hpp"
#include "../kit/host/standard_streams.hpp"
#include "../kit/host/trusted_file.hpp"
#include "devices_plugin.hpp"
#include "manual.hpp"
#include "protocol/nri.hpp"
#include <CLI/CLI.hpp>

namespace {

using nri::ExitCode;

/// The command line.
struct CommandLine {
  nri::Plugin plugin{.name = "cdi-nri", .index = "50"};
  nri::ServeOptions serve{};
  nri::Settings settings{};
  std::string config{};
  std::string format = "text";
};

int report(const std::string& message) {
  std::fprintf(stderr, "cdi-nri: error: %s\n", message.c_str());
  return nri::exit_failed;
}

/// Prints an output. Returns the exit code, or another one if printing fails.
int finish(const std::string& output) {
  return tools::print_text(output) ? int{nri::exit_done}
                                   : report("cannot write to standard output");
}

std::string check_index(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  return text.size() == 2 && digits ? "" : "must have two digits, from 00 to 99";
}

std::string check_name(const std::string& text) {
  constexpr const char* allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";
  const bool good = !text.empty() && text.find_first_not_of(allowed) == std::string::npos;
  return good ? "" : "must consist of letters, digits, -, _, . and +";
}

void add_connection(CLI::App& app, CommandLine& line) {
  app.add_option("--socket", line.serve.socket, "The NRI socket of the runtime")
      ->type_name("PATH")
      ->capture_default_str()
      ->check(tools::not_empty);
  app.add_option("--name", line.plugin.name, "The name of the plugin")
      ->capture_default_str()
      ->check(check_name);
  app.add_option("--index", line.plugin.index,
                 "The place among the runtime's plugins, which are called in this order")
      ->type_name("NN")
      ->capture_default_str()
      ->check(check_index);
}

void add_host(CLI::App& app, CommandLine& line) {
  auto& settings = line.settings;
  app.add_option("--host-root", settings.host_root,
                 "Look up device nodes under DIR, if the plugin runs in a container")
      ->type_name("DIR")
      ->check(tools::not_empty);
  app.add_option("--answer-limit", settings.answer_limit,
                 "How long the answer to a runtime may take, in milliseconds; nine tenths of the "
                 "runtime's own limit count, too")
      ->type_name("MS")
      ->capture_default_str()
      ->check(CLI::Range(1, nri::max_answer_limit));
  app.add_option("-o,--output", line.format, "The form of the log")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}));
}

void add_settings(CLI::App& app, CommandLine& line) {
  auto& settings = line.settings;
  app.add_option("--config", line.config,
                 "Read settings from a TOML file; options on the command line count more "
                 "(default: /etc/cdi-nri/config.toml, if it exists)")
      ->type_name("FILE")
      ->check(tools::not_empty);
  tools::add_repeated(app, "--spec-dir", settings.spec_dirs,
                      "Read specs from DIR; may be repeated, the last has the highest priority")
      ->type_name("DIR")
      ->check(tools::not_empty)
      ->capture_default_str();
  app.add_option("--resolve", settings.resolve,
                 "Whether this plugin resolves names: always; never, so that the runtime does, "
                 "without our checks; auto: if the runtime cannot, or if there is a policy")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--policy", settings.policy, "Inject only what this policy allows")
      ->type_name("FILE")
      ->check(tools::not_empty);
  tools::add_repeated(app, "--namespace", settings.namespaces,
                      "Only pods of the namespaces that match PATTERN may request devices, such as "
                      "gpu-*; may be repeated")
      ->type_name("PATTERN")
      ->check(tools::not_empty);
  tools::add_repeated(app, "--prefix", settings.prefixes,
                      "Also read the annotations PREFIX/container.NAME, PREFIX/pod and PREFIX; may "
                      "be repeated")
      ->type_name("PREFIX")
      ->check(tools::not_empty);
  add_host(app, line);
}

/// Ends at once on request, even as the first process of a container, which signals do not end by
/// default. Nothing is lost: answers to the runtime are complete.
void handle_signals() {
  const auto end = [](int) {
    ::_exit(nri::exit_done);
  };
  std::signal(SIGTERM, end);
  std::signal(SIGINT, end);
  std::signal(SIGPIPE, SIG_IGN);  // a log without a reader
}

/// Connects, and serves until the connection ends permanently.
int serve(const CommandLine& given) {
  handle_signals();
  if (auto done = try_policy(given.settings); !done) return report(to_string(done.error()));
  auto plugin = given.plugin;
  nri::use_launched_name(plugin);
  const nri::Log log{given.format == "json"};
  nri::DevicesPlugin devices{given.settings, log};
  devices.add_to(plugin);
  auto options = given.serve;
  options.disconnected = [&log](const cdi::Error& error) {
    log.write({.event = "disconnected", .error = tools::one_line(to_string(error))});
  };
  const auto done = nri::serve(plugin, options);
  return done ? int{nri::exit_done} : report(to_string(done.error()));
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (tools::is_answer(error)) return finish(tools::usage_answer(app, error));
  report(to_string(tools::usage_error(app, error)));
  return nri::exit_usage;
}

/// The file of `--config`; empty without the option.
std::string config_file(int argc, char** argv) {
  constexpr std::string_view joined = "--config=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    if (word.starts_with(joined)) return std::string{word.substr(joined.size())};
    if (word == "--config" && i + 1 < argc) return argv[i + 1];
  }
  return {};
}

/// Reads the settings file before the command line, which has priority. Without the option, it is
/// the default file, which may be missing.
cdi::Result<void> read_config(int argc, char** argv, nri::Settings& settings) {
  auto path = config_file(argc, argv);
  const bool is_default = path.empty();
  if (is_default) path = "/etc/cdi-nri/config.toml";
  const auto text = tools::read_trusted_file(path);
  if (!text && is_default && text.error().system == ENOENT) return {};
  if (!text) return text.error();
  return nri::read_settings(*text, path, settings);
}

int run(int argc, char** argv, tools::Describe describe) {
  CLI::App app{
      "Gives containers the CDI devices that their pods request by annotation, by NRI: in "
      "containerd and CRI-O, without a change to them.",
      "cdi-nri"};
  app.set_version_flag("--version", "cdi-nri " + tools::release_version());
  app.footer(nri::exit_code_help());
  CommandLine line;
  std::function<int()> command;
  add_connection(app, line);
  add_settings(app, line);
  tools::add_example(app, "cdi-nri --namespace 'gpu-*' -o json");
  if (describe == tools::Describe::yes) {
    tools::add_describing_commands(app, nri::nri_manual(), [&command](const std::string& text) {
      command = [text] {
        return finish(text);
      };
    });
  }
  const auto configured = read_config(argc, argv, line.settings);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (describe == tools::Describe::no) return run(argc, argv, tools::Describe::yes);
    return report_usage(app, error);
  }
  if (command) return command();
  const auto good = configured ? check(line.settings) : configured;
  if (good) return serve(line);
  report(to_string(good.error()));
  return nri::exit_usage;
}

}  // namespace

int main(int argc, char** argv) {
  tools::reserve_standard_streams();
  try {
    return run(argc, argv, tools::Describe::no);
  } catch (const std::exception& error) {
    return report(error.what());
  }
}
