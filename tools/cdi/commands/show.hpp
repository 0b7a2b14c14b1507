// `cdi show`: prints the edits of devices as their files have them, with file and line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_COMMANDS_SHOW_HPP
#define CDI_TOOLS_CDI_COMMANDS_SHOW_HPP

#include <string>
#include <string_view>

#include "../base/command.hpp"
#include "../base/exit_codes.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"

/// Edits as text with a line for each, and as a record with a list for each kind.
struct ShownEdits {
  std::string text{};
  Json record = Json::object();

  /// Adds the edits at `where` of a spec. `name` is the name of the device, or the kind of the
  /// spec.
  void add(const cdi::LoadedSpec& spec, const cdi::ContainerEdits& edits, const std::string& name,
           const std::string& where);
};

/// The edits of a device: first its spec's edits for all devices, then its own.
ShownEdits edits_of(const cdi::ResolvedDevice& found);

/// A device with its file, as text and as a record.
struct ShownDevice {
  explicit ShownDevice(const cdi::ResolvedDevice& found);

  /// Adds the edits.
  void add(ShownEdits edits);

  std::string text{};
  Json record{};
};

/// Prints a list. It is incomplete, and so an error, if the user named a directory that cannot be
/// read.
ExitCode print_list(const CommonOptions& common, const cdi::Registry& registry,
                    std::string_view text, const Json& value, const Output& output);

#endif  // CDI_TOOLS_CDI_COMMANDS_SHOW_HPP
