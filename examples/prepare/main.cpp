// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// cdi-prepare: finds the GPUs of a node in /proc and /sys, without any vendor library, and writes a
// CDI spec for them, as a Kubernetes DRA driver does when it prepares a claim.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/version.hpp>

#include "detect.hpp"
#include "exit_codes.hpp"
#include "gpu.hpp"
#include "gpu_spec.hpp"
#include "host_tree.hpp"
#include "report.hpp"
#include <CLI/CLI.hpp>

namespace prepare {
namespace {

struct Options {
  enum class Command { detect, write };

  Command command = Command::detect;
  std::string root = "/";
  std::string output_dir = "/var/run/cdi";
  std::string format = "text";
  bool dry_run = false;

  bool json() const { return format == "json"; }
};

/// What a command answers: text for standard output, or why there is none.
using Output = cdi::Result<std::string>;

/// Writes to standard error. That it is closed or full must not change what the program does, so
/// nothing is thrown, as `fmt::print` would.
void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void complain(std::string_view text) {
  print_error(fmt::format("cdi-prepare: {}\n", text));
}

/// Makes a directory and those above it that are missing, open to readers whatever the umask is.
cdi::Result<void> make_directories(const std::string& path) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const auto directory = path.substr(0, end);
    const bool made =
        ::mkdir(directory.c_str(), 0755) == 0 && ::chmod(directory.c_str(), 0755) == 0;
    if (made || errno == EEXIST) continue;
    return cdi::Error{.code = cdi::Errc::system,
                      .message = fmt::format("cannot make directory {}: {}", directory,
                                             std::generic_category().message(errno)),
                      .system = errno};
  }
  return {};
}

/// `nvidia.com/gpu` is written to nvidia.com-gpu.yaml.
std::string spec_path(const std::string& output_dir, std::string_view kind) {
  return output_dir + (output_dir.ends_with('/') ? "" : "/") + *cdi::spec_name(kind) + ".yaml";
}

Output publish(const Options& options, const Inventory& found) {
  const auto spec = gpu_spec(found);
  if (options.dry_run) {
    return cdi::write_spec(spec, options.json() ? cdi::Format::json : cdi::Format::yaml);
  }
  const auto path = spec_path(options.output_dir, found.kind);
  if (auto made = make_directories(options.output_dir); !made) return std::move(made).error();
  if (auto wrote = cdi::write_spec_file(path, spec); !wrote) return std::move(wrote).error();
  return options.json() ? written_as_json(path, spec, found) : written_as_text(path, spec);
}

/// One spec file for each vendor, and one answer for each spec file.
Output publish_all(const Options& options, const std::vector<Inventory>& inventories) {
  std::string out;
  for (const auto& found : inventories) {
    if (found.usable_count() == 0) continue;
    auto text = publish(options, found);
    if (!text) return text;
    out += *text;
  }
  return out;
}

Output show_model(const Options& options, const std::vector<Inventory>& inventories) {
  return options.json() ? model_as_json(inventories) : model_as_text(inventories);
}

/// Prints an answer; an error goes to standard error alone.
ExitCode finish(const Output& output, ExitCode code) {
  if (!output) {
    complain("error: " + cdi::to_string(output.error()));
    return ExitCode::failed;
  }
  const auto written = std::fwrite(output->data(), 1, output->size(), stdout);
  if (written == output->size() && std::fflush(stdout) == 0) return code;
  complain("error: cannot write to standard output");
  return ExitCode::failed;
}

/// No GPU is an answer, not an error: fleets run this on every node.
ExitCode finish_without_gpu(const Options& options) {
  print_error("no GPU found on this host\n");
  if (!options.json() || options.dry_run) return ExitCode::done;
  const bool write = options.command == Options::Command::write;
  return finish(write ? written_as_json({}, {}, {}) : model_as_json({}), ExitCode::done);
}

/// Says what is wrong with the GPUs found; `partial` when some, `failed` when none can be used.
ExitCode judge(const std::vector<Inventory>& inventories) {
  std::size_t total = 0;
  std::size_t usable = 0;
  for (const auto& found : inventories) {
    for (const auto& warning : found.warnings) complain("warning: " + warning);
    for (const auto& gpu : found.gpus) {
      for (const auto& share : gpu.shares()) {
        if (!share.left_out) continue;
        const auto& place = gpu.pci_address.empty() ? gpu.id : gpu.pci_address;
        complain(fmt::format("left out: {} GPU {}{}: {}", gpu.vendor, place, share.suffix,
                             *share.left_out));
      }
    }
    if (found.not_ready) complain(fmt::format("not ready: {}: {}", found.kind, *found.not_ready));
    total += found.total_count();
    usable += found.usable_count();
  }
  if (usable == 0) return ExitCode::failed;
  return usable < total ? ExitCode::partial : ExitCode::done;
}

ExitCode run(const Options& options) {
  const auto tree = HostTree::open(options.root);
  if (!tree) return finish(tree.error(), ExitCode::failed);
  const auto inventories = detect(*tree);
  if (inventories.empty()) return finish_without_gpu(options);
  const auto code = judge(inventories);
  if (code == ExitCode::failed) {
    complain("error: no GPU can be handed out");
    return code;
  }
  const bool write = options.command == Options::Command::write;
  return finish(write ? publish_all(options, inventories) : show_model(options, inventories), code);
}

void add_common_options(CLI::App& command, Options& options) {
  command
      .add_option("--root", options.root, "Directory that holds the proc, sys and dev to look at")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  command.add_option("-o,--output", options.format, "Form of what is printed")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.footer(exit_code_help());
}

void add_commands(CLI::App& app, Options& options) {
  auto* detect = app.add_subcommand("detect", "Show the GPUs of this host");
  add_common_options(*detect, options);

  auto* write = app.add_subcommand("write", "Write a CDI spec for the GPUs of this host");
  add_common_options(*write, options);
  write->add_option("--output-dir", options.output_dir, "Directory for the spec, made when missing")
      ->check([](const std::string& path) { return path.empty() ? "no directory given" : ""; })
      ->capture_default_str();
  write->add_flag("--dry-run", options.dry_run, "Print the spec, write nothing");
  write->callback([&options] { options.command = Options::Command::write; });

  app.require_subcommand(1);
  app.footer(exit_code_help());
  app.set_version_flag("--version", fmt::format("cdi-prepare {}.{}.{}", CDI_VERSION_MAJOR,
                                                CDI_VERSION_MINOR, CDI_VERSION_PATCH));
}

}  // namespace
}  // namespace prepare

// Only a lack of memory can end it with an exception. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  prepare::Options options;
  CLI::App app{"Finds the GPUs of a node and writes a CDI spec for them."};
  prepare::add_commands(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    const bool asked_for_help = app.exit(why) == 0;
    return static_cast<int>(asked_for_help ? prepare::ExitCode::done : prepare::ExitCode::usage);
  }
  return static_cast<int>(prepare::run(options));
}
