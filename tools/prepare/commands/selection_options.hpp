// Adds the options that select GPUs and the place of their driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../kit/base/options.hpp"
#include "../../kit/cdi_specs/recorded_options.hpp"
#include "option_checks.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

/// A path on the host that a spec can record: options are recorded as words.
inline std::string recorded_path_fault(const std::string& text) {
  return tools::is_recorded_path(text)
             ? ""
             : cdi::quoted(text) +
                   " must be an absolute path of printable ASCII without spaces and colons";
}

inline std::string device_fault(const std::string& text) {
  return tools::is_recorded_device(text)
             ? ""
             : cdi::quoted(text) +
                   " is not a device name: give an index, a UUID, a PCI address or another name "
                   "that `cdi-prepare detect` lists, with or without the kind";
}

/// Adds the options for a driver that is not installed in /.
inline void add_driver_place(CLI::App& command, Options& options) {
  command
      .add_option("--driver-root", options.driver_root,
                  "Directory in which NVIDIA's driver is installed, such as /run/nvidia/driver; "
                  "containers get its files without this prefix")
      ->type_name("DIR")
      ->check(recorded_path_fault)
      ->default_str("/");
  command
      .add_option(
          "--dev-root", options.dev_root,
          "Directory that contains the dev directory of NVIDIA's nodes (default: the driver "
          "root if it contains dev/nvidiactl, otherwise /)")
      ->type_name("DIR")
      ->check(recorded_path_fault);
  tools::add_repeated(command, "--library-search-path", options.library_dirs,
                      "Directory below the driver root that is searched for libraries before the "
                      "usual ones; can be repeated")
      ->type_name("DIR")
      ->delimiter(':')
      ->check(recorded_path_fault);
}

/// Adds the options that select GPUs and the kind.
inline void add_selection(CLI::App& command, Options& options) {
  tools::add_repeated(
      command, "--device", options.devices,
      "Devices and partitions to use, by any of their names, separated by commas; can "
      "be repeated (default: all)")
      ->type_name("NAME")
      ->delimiter(',')
      ->check(device_fault);
  command
      .add_option("--kind", options.kind,
                  "A kind of cdi-prepare, such as nvidia.com/gpu: only this one; any other "
                  "VENDOR/CLASS: the name of the only kind there is")
      ->type_name("KIND")
      ->check(kind_fault);
}

/// Adds the options for the form of specs.
inline void add_spec_form(CLI::App& command, Options& options) {
  command.add_option("--format", options.format, "Format of the spec files")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"yaml", "json"}))
      ->capture_default_str();
  command.add_flag("--no-all", options.no_all, "Leave out the device \"all\"");
}

/// Adds all of these options.
inline void add_content_options(CLI::App& command, Options& options) {
  add_driver_place(command, options);
  add_selection(command, options);
  add_spec_form(command, options);
}

}  // namespace prepare
