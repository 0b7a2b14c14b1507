// A command of `cdi-prepare`, and options that several commands share.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "command.hpp"

#include "../../kit/base/options.hpp"
#include "../../kit/engines/engine_of_host.hpp"
#include "option_checks.hpp"

namespace prepare {

namespace {

void add_versions(CLI::App& command, Options& options) {
  auto* const max_version =
      command
          .add_option_function<std::string>(
              "--max-version",
              [&options](const std::string& text) {
                options.max_version = cdi::parse_spec_version(text);
              },
              "Newest CDI version that the engines read; parts that it cannot hold are left out, "
              "with a warning")
          ->type_name("VERSION")
          ->check(spec_version_fault);
  tools::add_repeated(command, "--for", options.engines,
                      "Engine that will read the specs, such as podman@4.9.3, or podman for the "
                      "version on the host; can be repeated, and the oldest decides (default: the "
                      "installed engines)")
      ->type_name("ENGINE[@VERSION]")
      ->check(tools::spec_reader_error)
      ->excludes(max_version);
}

}  // namespace

void add_output(CLI::App& command, Options& options, const std::vector<std::string>& formats) {
  command.add_option("-o,--output", options.output, "Format of the output")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
}

void add_nvml(CLI::App& command, Options& options) {
  command.add_flag("--nvml", options.nvml,
                   "Query NVIDIA's library for the UUIDs and sizes of MIG instances");
  command.add_option("--nvml-library", options.nvml_library, "The library to query")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void add_vendor_files(CLI::App& command, Options& options) {
  tools::add_repeated(command, "--vendor-file", options.vendor_files,
                      "TOML file about devices of another vendor; can be repeated. Those in "
                      "/etc/cdi-prepare.d under the root are read anyway")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void add_survey_options(CLI::App& command, Options& options) {
  add_nvml(command, options);
  add_vendor_files(command, options);
  command.add_flag("--visible-only", options.visible_only,
                   "Ignore devices whose nodes this process cannot open");
  command
      .add_option("--expect", options.expect, "Number of devices and partitions that must be ready")
      ->type_name("NUMBER")
      ->check(count_fault)
      ->capture_default_str();
}

void add_wait(CLI::App& command, Options& options) {
  command.add_option("--wait", options.wait, "Seconds to wait until all devices are ready")
      ->type_name("SECONDS")
      ->check(seconds_fault)
      ->capture_default_str();
}

void add_output_dir(CLI::App& command, Options& options) {
  command
      .add_option("--output-dir", options.output_dir,
                  "Spec directory, created when a spec is written")
      ->type_name("DIR")
      ->check(not_empty)
      ->default_str("var/run/cdi under the root");
}

void add_state_dir(CLI::App& command, std::string& state_dir) {
  command.add_option("--state-dir", state_dir, "Directory of the journal of claims")
      ->type_name("DIR")
      ->check(not_empty)
      ->default_str("var/lib/cdi-prepare under the root");
}

void add_profile(CLI::App& command, Options& options) {
  std::vector<std::string> profiles;
  for (const auto name : tools::profile_names) profiles.emplace_back(name);
  command.add_option("--profile", options.profile, "What containers will do with the devices")
      ->type_name("USE")
      ->check(CLI::IsMember(profiles))
      ->capture_default_str();
}

void add_make_nodes(CLI::App& command, Options& options) {
  command.add_flag_callback(
      "--make-nodes", [&options] { options.make_nodes = MakeNodes::yes; },
      "First make the missing device nodes of NVIDIA's loaded driver, as root");
}

void add_spec_options(CLI::App& command, Options& options) {
  add_profile(command, options);
  command
      .add_option(
          "--hooks", options.hooks,
          "Whether NVIDIA's hooks create library links and the library cache, or mounts replace "
          "the links")
      ->type_name("HOOKS")
      ->check(CLI::IsMember({"none", "nvidia"}))
      ->capture_default_str();
  command
      .add_option(
          "--node-numbers", options.node_numbers,
          "Whether specs contain device numbers (given), or runtimes query the host for "
          "them (asked); auto: asked, except in /run or where a reboot empties the directory")
      ->type_name("WHERE")
      ->check(CLI::IsMember({"auto", "given", "asked"}))
      ->capture_default_str();
  command.add_flag(
      "--ld-library-path", options.ld_library_path,
      "Set LD_LIBRARY_PATH to the library directories, which replaces the image's value");
  add_output_dir(command, options);
  add_versions(command, options);
}

void add_keep_options(CLI::App& command, Options& options) {
  command.add_flag("--keep-options", options.keep_options,
                   "Use the options that cdi-prepare's spec files in the directory record, for "
                   "each kind its own, where none are given");
}

void add_force(CLI::App& command, Options& options) {
  command.add_flag("--force", options.force, "Also replace files of other programs");
}

}  // namespace prepare
