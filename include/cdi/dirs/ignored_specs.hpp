// `ignored_specs`: files that look like specs, but that no program reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IGNORED_SPECS_HPP
#define CDI_DIRS_IGNORED_SPECS_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/fwd.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A file that looks like a spec, or a directory that has such files, where programs do not look
/// for specs.
struct IgnoredSpec {
  std::string path{};      ///< of the file or directory
  bool directory = false;  ///< whether it is a directory
  std::string_view why{};  ///< why it is ignored, for people; a constant
  std::string remedy{};    ///< what to do, for people
};

/// What programs ignore in spec directories: files whose names end in `.yml`, or in capitals such
/// as `.YAML`, and directories that have files of such names, or of names that end in `.json` and
/// `.yaml`. Copies of editors, hidden directories and directories that are among `dirs` are not
/// named. In the order of `dirs`, then of names. What cannot be listed is left out.
///
/// Costs one listing of each directory and of each directory in it; no file is opened.
std::vector<IgnoredSpec> ignored_specs(const std::vector<std::string>& dirs);

/// An ignored file or directory as an error, for a list of causes or warnings.
Error error_of(const IgnoredSpec& ignored);

namespace detail {

/// The name under which programs read a file that looks like a spec: `x.yaml` for `x.yml` and
/// `x.YAML`. Empty if they read it as it is, or if it does not look like a spec.
std::string readable_name(std::string_view name);

/// Whether a file has the name of a spec, even if programs ignore that name.
bool is_like_spec(std::string_view name);

/// A file of a name that programs ignore. `taken`: there is a file with the readable name, too.
IgnoredSpec ignored_file(std::string path, std::string_view readable_name, bool taken);

/// The name that a file which looks like a spec must have, so that programs read it.
std::string name_to_read(std::string_view name);

/// A directory inside of a spec directory, with files of these names, which look like specs; at
/// least one. `taken`: the spec directory has a file with the `name_to_read` of one of them.
IgnoredSpec ignored_directory(std::string path, std::string_view spec_dir,
                              const std::vector<std::string>& names, bool taken);

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/dirs/ignored_specs.inl>
#endif

#endif  // CDI_DIRS_IGNORED_SPECS_HPP
