// Adds the options of cdi-dra to its commands.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "options.hpp"

#include <string>
#include <vector>

#include "../kit/base/options.hpp"
#include "../kit/cdi_specs/recorded_options.hpp"

namespace dra {

void add_kubelet_dir(CLI::App& app, Settings& settings) {
  app.add_option("--kubelet-dir", settings.kubelet_dir,
                 "The kubelet's directory, which contains plugins and plugins_registry")
      ->type_name("DIR")
      ->check(tools::not_empty)
      ->capture_default_str();
}

void add_driver(CLI::App& app, Settings& settings) {
  app.add_option("--driver", settings.driver, "The name of the driver, as in DeviceClasses")
      ->type_name("NAME")
      ->required()
      ->check(driver_fault);
  add_kubelet_dir(app, settings);
  app.add_option("--instance", settings.instance,
                 "The UID of the pod: two instances then run side by side during an update")
      ->type_name("UID")
      ->check(instance_fault);
}

void add_places(CLI::App& app, Settings& settings, const char* output_help) {
  app.add_option("--state-dir", settings.state_dir,
                 "Directory of the journal of claims (default: claims in the driver's directory, "
                 "KUBELET_DIR/plugins/DRIVER)")
      ->type_name("DIR")
      ->check(tools::not_empty);
  app.add_option("--output-dir", settings.host.output_dir,
                 "Spec directory, created when a spec is written")
      ->type_name("DIR")
      ->check(tools::not_empty)
      ->default_str("var/run/cdi under the root");
  app.add_option("--root", settings.host.root,
                 "Directory that contains the host's proc, sys and dev")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("-o,--output", settings.output, output_help)
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}));
}

void add_survey(CLI::App& app, prepare::Options& host) {
  app.add_option("--driver-root", host.driver_root,
                 "Directory on the host where NVIDIA's driver is installed")
      ->type_name("DIR");
  app.add_option(
         "--dev-root", host.dev_root,
         "Directory on the host that contains the dev directory of NVIDIA's nodes (default: the "
         "driver root if it contains dev/nvidiactl, otherwise /)")
      ->type_name("DIR");
  tools::add_repeated(app, "--vendor-file", host.vendor_files,
                      "TOML file about devices of another vendor; can be repeated. Those in "
                      "/etc/cdi-prepare.d under the root are read anyway")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_flag("--nvml", host.nvml,
               "Query NVIDIA's library for the UUIDs and sizes of MIG instances");
}

void add_contents(CLI::App& app, prepare::Options& host) {
  std::vector<std::string> profiles;
  for (const auto name : tools::profile_names) profiles.emplace_back(name);
  app.add_option("--profile", host.profile, "What containers will do with the GPUs")
      ->type_name("USE")
      ->check(CLI::IsMember(profiles))
      ->capture_default_str();
  app.add_option("--hooks", host.hooks,
                 "Whether NVIDIA's hooks create library links and the library cache")
      ->type_name("HOOKS")
      ->check(CLI::IsMember({"none", "nvidia"}))
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--max-version",
         [&host](const std::string& text) { host.max_version = cdi::parse_spec_version(text); },
         "Newest CDI version that the engines read (default: what the installed engines read)")
      ->type_name("VERSION")
      ->check([](const std::string& text) {
        return cdi::parse_spec_version(text) ? std::string{}
                                             : "must be a CDI version, such as 0.8.0";
      });
}

void add_device_plugin(CLI::App& app, Settings& settings) {
  app.add_option("--device-plugin", settings.resource,
                 "Also serve as a device plugin, for pods that request this resource")
      ->type_name("RESOURCE")
      ->check(resource_fault);
  app.add_option(
         "--release-after", settings.release_after,
         "How long the kubelet lists no pod with a device of the device plugin until claims "
         "can have it")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
}

}  // namespace dra
