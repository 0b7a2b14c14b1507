// Reads the owner and options that cdi-prepare records in its specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/registry.hpp>

namespace tools {

/// The owner recorded in the files of cdi-prepare.
inline constexpr const char* spec_owner = "cdi-prepare";

/// The annotation with the options that determine the content of a spec.
inline constexpr std::string_view options_annotation = "cdi-prepare/options";

/// The start of the second line of a YAML file whose version has no annotations, below the comment
/// with the owner.
inline constexpr std::string_view options_comment = "# cdi-prepare/options: ";

/// The options in the second line of the text of one of our files; empty if there are none, and for
/// other files.
std::string_view options_in_comment(const cdi::LoadedSpec& loaded, std::string_view text);

/// The values of the option `--profile`.
inline constexpr std::array<std::string_view, 4> profile_names{"compute", "graphics", "video",
                                                               "all"};

/// The options that determine the content of specs: those of a command line, of the settings file,
/// or of the run that has written a spec.
struct WriteOptions {
  std::string profile = "all";
  std::string hooks = "none";
  std::string node_numbers = "auto";
  bool ld_library_path = false;
  std::string max_version_text{};
  bool nvml = false;
  bool visible_only = false;
  std::vector<std::string> vendor_files{};  // besides those in the host's directory
  std::string kind{};                       // the only kind, or its new name; empty: all kinds
  std::vector<std::string> devices{};       // the names of the GPUs to use; empty: all
  std::string driver_root{};                // on the host: where the driver is installed; empty: /
  std::string dev_root{};  // on the host: the directory with the `dev` of the nodes; empty: the
                           // driver's, if it has nodes, and otherwise /
  std::vector<std::string> library_dirs{};  // below the driver root; searched first
  bool no_all = false;                      // no device `all`
  std::string format = "yaml";              // of spec files, or "json"; the file's name records it

  /// In the order in which they are recorded.
  static constexpr void fields(auto& list) {
    list("profile", &WriteOptions::profile);
    list("hooks", &WriteOptions::hooks);
    list("node-numbers", &WriteOptions::node_numbers);
    list("ld-library-path", &WriteOptions::ld_library_path);
    list("max-version", &WriteOptions::max_version_text);
    list("nvml", &WriteOptions::nvml);
    list("visible-only", &WriteOptions::visible_only);
    list("vendor-file", &WriteOptions::vendor_files);
    list("kind", &WriteOptions::kind);
    list("device", &WriteOptions::devices);
    list("driver-root", &WriteOptions::driver_root);
    list("dev-root", &WriteOptions::dev_root);
    list("library-search-path", &WriteOptions::library_dirs);
    list("no-all", &WriteOptions::no_all);
    list("format", &WriteOptions::format);
  }
};

/// Whether a path can be recorded: words are separated by spaces, and paths in a list by colons.
/// Vendor files may have other paths, which are encoded.
bool is_recorded_path(std::string_view path);

/// Whether a text is a device name, with or without its kind.
bool is_recorded_device(std::string_view name);

/// The words that record options, such as `profile=all`. Absent options have none.
std::vector<std::string> option_words(const WriteOptions& options);

/// The text that records options in a spec.
std::string options_text(WriteOptions options);

/// The options that a text records; nullopt if there are none. Unknown words, which only another
/// program can have written, and repeated options are left out.
std::optional<WriteOptions> options_in(std::string_view text);

/// The options in the annotation of a spec.
std::optional<WriteOptions> recorded_options(const cdi::Spec& spec);

/// The options in the annotation of one of our specs, or in the comment in its text.
std::optional<WriteOptions> recorded_options(const cdi::LoadedSpec& loaded, std::string_view text);

}  // namespace tools
