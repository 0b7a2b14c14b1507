// The options that our spec files record, for runs that keep them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_CDI_SPECS_KEPT_OPTIONS_HPP
#define CDI_TOOLS_GPU_CDI_SPECS_KEPT_OPTIONS_HPP

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/publish.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../../kit/cdi_specs/write_command.hpp"
#include "../base/options.hpp"
#include "../host/directories.hpp"
#include "../host/open_host.hpp"
#include "../vendors/on_request.hpp"

// A service with its own options would undo the options of a person who ran `write`.

namespace prepare {

inline cdi::Publisher publisher_in(const Directory& directory) {
  return {tools::spec_owner, directory.number(), directory.path};
}

/// Turns the options that a comment records into an annotation of the spec, as in newer versions.
inline void add_commented_options(cdi::Spec& spec, std::string_view options) {
  if (options.empty()) return;
  spec.annotations.insert_or_assign(std::string{tools::options_annotation}, options);
}

/// Reads a spec file, with the options that a comment in one of our files records.
inline cdi::Result<cdi::LoadedSpec> read_with_options(const std::string& path) {
  auto loaded = cdi::read_spec_file(path);
  if (!loaded || loaded->owner_comment.empty()) return loaded;
  const auto text = cdi::read_file(path);
  if (text) add_commented_options(loaded->spec, tools::options_in_comment(*loaded, *text));
  return loaded;
}

namespace detail {

/// One of our spec files, with the words that it records and a word for its format.
struct OurFile {
  std::string kind{};
  std::vector<std::string> words{};
};

inline std::vector<OurFile> our_files(const Options& options) {
  std::vector<OurFile> out;
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory || !directory->descriptor) return out;
  const auto names = publisher_in(*directory).files();
  if (!names) return out;
  for (const auto& name : *names) {
    const auto loaded = read_with_options(directory->path_of(name));
    auto words = loaded ? tools::recorded_options(loaded->spec) : std::vector<std::string>{};
    if (words.empty()) continue;
    words.push_back(name.ends_with(".json") ? "format=json" : "format=yaml");
    out.push_back({loaded->spec.kind, std::move(words)});
  }
  return out;
}

/// The recorded words of a file, as the values of options.
class Recorded {
 public:
  Recorded(const std::vector<std::string>& words, const Options& options)
      : words_{words}, given_{options.given} {}

  /// Whether the command line or the settings file has the option.
  bool is_given(const std::string& option) const { return given_.contains(option); }

  bool has(const std::string& flag) const {
    return std::find(words_.begin(), words_.end(), flag) != words_.end();
  }

  std::string value(std::string_view option) const { return tools::option_value(words_, option); }

  std::vector<std::string> list(std::string_view option, std::string_view separator) const {
    return tools::split(value(option), separator);
  }

  void set(const std::string& option, std::string& out) const {
    if (!is_given(option)) out = value(option);
  }

  void set(const std::string& flag, bool& out) const {
    if (!is_given(flag)) out = has(flag);
  }

  void set(const std::string& option, std::vector<std::string>& out,
           std::string_view separator) const {
    if (!is_given(option)) out = list(option, separator);
  }

 private:
  const std::vector<std::string>& words_;
  const std::set<std::string>& given_;
};

/// The options of the run that wrote a file, except for those that are given now.
inline Options with_words(Options options, const std::vector<std::string>& words) {
  const Recorded recorded{words, options};
  for (const auto& [option, field] :
       {std::pair{"profile", &options.profile}, std::pair{"hooks", &options.hooks},
        std::pair{"node-numbers", &options.node_numbers}, std::pair{"format", &options.format}}) {
    if (!recorded.value(option).empty()) recorded.set(option, *field);
  }
  recorded.set("kind", options.kind);
  recorded.set("driver-root", options.driver_root);
  recorded.set("dev-root", options.dev_root);
  recorded.set("device", options.devices, ",");
  recorded.set("library-search-path", options.library_dirs, ":");
  recorded.set("ld-library-path", options.ld_library_path);
  recorded.set("no-all", options.no_all);
  recorded.set("nvml", options.nvml);
  recorded.set("visible-only", options.visible_only);
  const auto version = cdi::parse_spec_version(recorded.value("max-version"));
  if (version && !recorded.is_given("max-version") && !recorded.is_given("for")) {
    options.max_version = version;
    options.oldest_engine.clear();
  }
  return options;
}

/// Adds the vendor file of a recorded run, unless it is gone or not visible.
inline void keep_vendor_file(const std::vector<std::string>& words, Options& options) {
  if (options.given.contains("vendor-file")) return;
  for (const auto& word : words) {
    if (!word.starts_with(tools::vendor_file_word)) continue;
    auto file = word.substr(tools::vendor_file_word.size());
    std::error_code unreadable;
    if (!std::filesystem::exists(file, unreadable)) continue;
    auto& files = options.vendor_files;
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
}

/// Takes what one of several files says about the survey, which all share: for places, the first
/// file counts.
inline void keep_for_survey(const OurFile& file, Options& options) {
  const Recorded recorded{file.words, options};
  if (options.driver_root.empty()) recorded.set("driver-root", options.driver_root);
  if (options.dev_root.empty()) recorded.set("dev-root", options.dev_root);
  if (options.library_dirs.empty()) {
    recorded.set("library-search-path", options.library_dirs, ":");
  }
  if (!options.nvml) recorded.set("nvml", options.nvml);
  if (!options.visible_only) recorded.set("visible-only", options.visible_only);
  auto devices = recorded.list("device", ",");
  if (!devices.empty() && !recorded.is_given("device")) {
    options.devices_of.emplace(file.kind, std::move(devices));
  }
}

}  // namespace detail

/// The options with those that our files in the directory record and that are not given. A kind
/// keeps its own in `kept`.
inline Options with_recorded(Options options) {
  auto files = detail::our_files(options);
  // The spec of a kind on request is written beside the spec of the GPUs, and does not replace it.
  std::erase_if(files, [&](const auto& file) {
    return file.kind != options.kind && on_request::is_kind(file.kind);
  });
  const auto kind_of = [&](const detail::OurFile& file) {
    return detail::Recorded{file.words, options}.value("kind");
  };
  const bool is_one_kind =
      !files.empty() && std::all_of(files.begin(), files.end(), [&](const auto& file) {
        return !kind_of(file).empty() && kind_of(file) == kind_of(files.front());
      });
  if (is_one_kind && !options.given.contains("kind")) options.kind = kind_of(files.front());
  for (auto& file : files) {
    if (!options.kind.empty() && file.kind != options.kind) continue;
    detail::keep_vendor_file(file.words, options);
    if (!options.kind.empty()) return detail::with_words(std::move(options), file.words);
    detail::keep_for_survey(file, options);
    options.kept.emplace(file.kind, std::move(file.words));
  }
  return options;
}

/// The options with the place of NVIDIA's driver that our files record, for other programs that
/// write specs for the same host. A missing directory does not count.
inline Options with_recorded_place(Options options) {
  const auto tree = open_host(options);
  if (!tree || !options.driver_root.empty() || !options.dev_root.empty()) return options;
  for (const auto& file : detail::our_files(options)) {
    const detail::Recorded recorded{file.words, options};
    const auto root = recorded.value("driver-root");
    const auto dev_root = recorded.value("dev-root");
    if (!root.empty() && !tree->is_directory(root)) continue;
    if (!dev_root.empty() && !tree->is_directory(dev_root)) continue;
    options.driver_root = root;
    options.dev_root = dev_root;
    options.library_dirs = recorded.list("library-search-path", ":");
    std::erase_if(options.library_dirs,
                  [&](const auto& path) { return !tree->is_directory(root + path); });
    if (!root.empty() || !dev_root.empty() || !options.library_dirs.empty()) break;
  }
  return options;
}

/// The options for a command: with `--keep-options`, those that our files record.
inline Options kept_options_of(const Options& options) {
  return options.keep_options ? with_recorded(options) : options;
}

/// The options for the spec of a kind.
inline Options options_for(const Options& options, const std::string& kind) {
  const auto kept = options.kept.find(kind);
  return kept == options.kept.end() ? options : detail::with_words(options, kept->second);
}

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_CDI_SPECS_KEPT_OPTIONS_HPP
