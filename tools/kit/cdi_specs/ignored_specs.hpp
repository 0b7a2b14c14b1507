// `ignored_specs`: finds files that look like specs but that no program reads.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>

namespace tools {

/// A file that looks like a spec, or a directory with such files, in a place where programs do not
/// look for specs.
struct IgnoredSpec {
  std::string path{};      ///< path of the file or directory
  bool directory = false;  ///< whether it is a directory
  std::string_view why{};  ///< why it is ignored, for people; a constant
  std::string remedy{};    ///< what to do, for people
};

/// Returns what programs ignore in spec directories: files whose names end in `.yml` or in capitals
/// such as `.YAML`, and directories with such files or with files whose names end in `.json` or
/// `.yaml`. Omits editor copies, hidden directories, directories in `dirs` and everything that
/// cannot be listed. Sorted in the order of `dirs`, then by name.
///
/// Costs one listing of each directory and of each directory inside it; opens no file.
std::vector<IgnoredSpec> ignored_specs(const std::vector<std::string>& dirs);

/// Describes an ignored file or directory as an error, for a list of causes or warnings.
cdi::Error error_of(const IgnoredSpec& ignored);

/// Returns the name under which programs would read a file that looks like a spec: `x.yaml` for
/// `x.yml` and `x.YAML`. Empty for a name that needs no change or does not look like a spec.
std::string readable_name(std::string_view name);

/// Returns whether a file has the name of a spec, even if programs ignore that name.
bool is_like_spec(std::string_view name);

/// Describes a file with an ignored name. `taken` means that a file already has the other name.
IgnoredSpec ignored_file(std::string path, std::string_view readable_name, bool taken);

/// Returns the name under which programs read a file that looks like a spec.
std::string name_to_read(std::string_view name);

/// Describes a directory inside a spec directory; `names`, never empty, are files that look like
/// specs. `taken` means that the `name_to_read` of a file is in use.
IgnoredSpec ignored_directory(std::string path, std::string_view spec_dir,
                              const std::vector<std::string>& names, bool taken);

}  // namespace tools
