// `cdi new`: prints a spec for devices that are described on the command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <memory>
#include <string>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/versions.hpp>

#include "../../kit/engines/engine_of_host.hpp"
#include "../../kit/versions/conversion.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/exit_codes.hpp"
#include "../base/option_checks.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../specs/edit_words.hpp"
#include "../specs/spec_of_words.hpp"
#include "commands.hpp"

namespace {

/// The options of `new`.
struct NewOptions {
  SpecWords words{};
  std::string version{};
  std::string engine{};  // at most one of both
};

/// Why a version, or the newest that an engine reads, cannot hold the spec.
cdi::Error too_old(std::string_view what, const cdi::VersionNeed& need, std::string_view advice) {
  return {.code = cdi::Errc::unsupported,
          .message = fmt::format("needs CDI {}, but {}", to_string(need.version), what),
          .advice = std::string{advice},
          .where = need.where};
}

/// The CDI version of the spec: of `--version`, or else the oldest that can hold it.
cdi::Result<cdi::SpecVersion> new_version(const NewOptions& options, const cdi::Spec& spec) {
  const auto need = cdi::minimum_need(spec);
  if (!options.version.empty()) {
    const auto version = *cdi::parse_spec_version(options.version);
    if (need.version <= version) return version;
    return too_old(fmt::format("--version is {}", options.version), need, "leave out --version");
  }
  if (options.engine.empty()) return need.version;
  const auto newest = tools::written_spec_version_for(options.engine);
  if (!newest) return newest.error();
  if (need.version <= *newest) return need.version;
  return too_old(fmt::format("{} reads only CDI {} and older", options.engine, to_string(*newest)),
                 need, "update the engine, or leave this edit out");
}

/// Fails if the engine of `--for` rejects the text of the spec.
cdi::Result<void> check_new_text(const NewOptions& options, const std::string& text,
                                 cdi::Format format) {
  if (options.engine.empty()) return {};
  const auto loaded = cdi::parse_spec(text, "the new spec", format);
  if (!loaded) return loaded.error();
  if (auto why = tools::rejection_by(*tools::parse_engine(options.engine), *loaded)) {
    return *std::move(why);
  }
  return {};
}

ExitCode print_new(NewOptions options, const Output& output) {
  if (auto good = complete_engine(options.engine, output); !good) {
    return output.reject(good.error());
  }
  auto spec = spec_of_words(options.words);
  if (!spec) return output.reject(spec.error());
  const auto version = new_version(options, *spec);
  if (!version) return output.reject(version.error());
  spec->version = to_string(*version);
  const auto format = output.format() == OutputFormat::json ? cdi::Format::json : cdi::Format::yaml;
  const auto text = cdi::write_spec(*spec, format);
  if (!text) return output.reject(text.error());
  if (const auto good = check_new_text(options, *text, format); !good) {
    return output.reject(good.error());
  }
  return output.print(*text) ? exit_done : exit_failed;
}

/// The options for what all devices share, and what one device has.
void add_word_options(CLI::App& app, SpecWords& words) {
  app.add_option("KIND", words.kind, "The kind of the devices: vendor.com/class")->required();
  add_repeated(app, "--device", words.devices,
               "A device, and the node that it gives to a container; may be repeated, also for "
               "further nodes of a device. NAME alone is a device without a node")
      ->type_name("NAME=HOST[:CONTAINER[:PERMISSIONS]]")
      ->required()
      ->check(device_word_error);
  add_repeated(app, "--mount", words.mounts,
               "A bind mount for each container with any of the devices; may be repeated")
      ->type_name("HOST:CONTAINER[:OPTIONS]")
      ->check(mount_word_error);
  add_repeated(app, "--env", words.env,
               "A variable for each container with any of the devices; may be repeated")
      ->type_name("NAME=VALUE")
      ->check(assignment_error);
  add_repeated(app, "--device-mount", words.device_mounts,
               "A bind mount for containers with this device; may be repeated")
      ->type_name("DEVICE=HOST:CONTAINER[:OPTIONS]")
      ->check(device_mount_error);
  add_repeated(app, "--device-env", words.device_env,
               "A variable for containers with this device; may be repeated")
      ->type_name("DEVICE=NAME=VALUE")
      ->check(device_env_error);
  add_repeated(app, "--annotation", words.annotations,
               "An annotation of the spec, which needs CDI 0.6.0; may be repeated")
      ->type_name("NAME=VALUE")
      ->check(assignment_error);
  app.add_flag("--all", words.all, "Add a device \"all\", which has the edits of all devices");
}

Run set_up_new(CLI::App& app, CommonOptions& /*common*/) {
  auto options = std::make_shared<NewOptions>();
  add_word_options(app, options->words);
  auto* const version =
      app.add_option("--version", options->version,
                     "The CDI version (default: the oldest that can hold the spec)");
  version->type_name("VERSION")->check(CLI::IsMember(known_version_names()));
  app.add_option(
         "--for", options->engine,
         "Fail if this engine does not read the spec; podman@4.9 is podman 4.9.0, and podman "
         "is the version on this host")
      ->type_name("ENGINE[@VERSION]")
      ->transform(engine_of_word)
      ->check(tools::spec_reader_error)
      ->excludes(version);
  app.footer("The order of the options has no meaning.\n\n" + exit_code_table("new"));
  return [options](const CommonOptions& /*given*/, const Output& output) {
    return print_new(*options, output);
  };
}

}  // namespace

constexpr Command new_command{
    "new", "Print a spec for devices given by options", set_up_new,
    "cdi new acme.com/npu --device 0=/dev/npu0 --device 1=/dev/npu1 \\\n    --mount "
    "/opt/acme:/opt/acme:ro --env ACME=1 | cdi write -"};
