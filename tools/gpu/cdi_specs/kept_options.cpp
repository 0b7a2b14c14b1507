// Reads the options that our spec files record, for runs that keep them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "kept_options.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/model/type_of.hpp>

#include "../../kit/cdi_specs/recorded_options.hpp"
#include "../host/open_host.hpp"
#include "../vendors/nvidia_on_request.hpp"

namespace prepare {

namespace {

/// One of our spec files, and what it records.
struct OurFile {
  std::string kind{};
  tools::WriteOptions options{};
};

std::vector<OurFile> our_files(const Options& options) {
  std::vector<OurFile> out;
  const auto directory = open_directory(options, options.output_dir, Missing::stays);
  if (!directory || !directory->descriptor) return out;
  const auto names = publisher_in(*directory).files();
  if (!names) return out;
  for (const auto& name : *names) {
    const auto loaded = read_with_options(directory->path_of(name));
    auto recorded = loaded ? tools::recorded_options(loaded->spec) : std::nullopt;
    if (!recorded) continue;
    if (name.ends_with(".json")) recorded->format = "json";
    out.push_back({loaded->spec.kind, *std::move(recorded)});
  }
  return out;
}

/// The options of the run that has written a file, except for those that are given now.
Options with_options(Options options, const tools::WriteOptions& recorded) {
  cdi::every_field<tools::WriteOptions>([&](const auto& field) {
    const bool stays = options.given.contains(std::string{field.key}) || field.key == "vendor-file";
    if (!stays) options.*field.member = recorded.*field.member;
    return true;
  });
  const auto version = cdi::parse_spec_version(recorded.max_version_text);
  if (version && !options.given.contains("max-version") && !options.given.contains("for")) {
    options.max_version = version;
    options.oldest_engine.clear();
  }
  return options;
}

/// Adds the vendor file of a recorded run, unless it is gone or not visible.
void keep_vendor_file(const tools::WriteOptions& recorded, Options& options) {
  if (options.given.contains("vendor-file")) return;
  for (const auto& file : recorded.vendor_files) {
    std::error_code unreadable;
    if (!std::filesystem::exists(file, unreadable)) continue;
    auto& files = options.vendor_files;
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
}

/// Takes what one of several files says about the survey, which all share: for places, the first
/// file counts.
void keep_for_survey(const OurFile& file, Options& options) {
  const auto keep = [&](const char* option, auto tools::WriteOptions::*member) {
    if (options.given.contains(option) || !cdi::is_empty(options.*member)) return;
    options.*member = file.options.*member;
  };
  keep("driver-root", &tools::WriteOptions::driver_root);
  keep("dev-root", &tools::WriteOptions::dev_root);
  keep("library-search-path", &tools::WriteOptions::library_dirs);
  keep("nvml", &tools::WriteOptions::nvml);
  keep("visible-only", &tools::WriteOptions::visible_only);
  if (!file.options.devices.empty() && !options.given.contains("device")) {
    options.devices_of.emplace(file.kind, file.options.devices);
  }
}

}  // namespace

cdi::Publisher publisher_in(const Directory& directory) {
  return {tools::spec_owner, directory.number(), directory.path};
}

void add_commented_options(cdi::Spec& spec, std::string_view options) {
  if (options.empty()) return;
  spec.annotations.insert_or_assign(std::string{tools::options_annotation}, options);
}

cdi::Result<cdi::LoadedSpec> read_with_options(const std::string& path) {
  auto loaded = cdi::read_spec_file(path);
  if (!loaded || loaded->owner_comment.empty()) return loaded;
  const auto text = cdi::read_file(path);
  if (text) add_commented_options(loaded->spec, tools::options_in_comment(*loaded, *text));
  return loaded;
}

Options with_recorded(Options options) {
  auto files = our_files(options);
  // The spec of a kind on request is written beside the spec of the GPUs, and does not replace it.
  std::erase_if(files, [&](const auto& file) {
    return file.kind != options.kind && on_request::is_kind(file.kind);
  });
  const auto kind = files.empty() ? std::string{} : files.front().options.kind;
  const bool is_one_kind =
      !kind.empty() && std::all_of(files.begin(), files.end(),
                                   [&](const auto& file) { return file.options.kind == kind; });
  if (is_one_kind && !options.given.contains("kind")) options.kind = kind;
  for (auto& file : files) {
    if (!options.kind.empty() && file.kind != options.kind) continue;
    keep_vendor_file(file.options, options);
    if (!options.kind.empty()) return with_options(std::move(options), file.options);
    keep_for_survey(file, options);
    options.kept.emplace(file.kind, std::move(file.options));
  }
  return options;
}

Options with_recorded_place(Options options) {
  const auto tree = open_host(options);
  if (!tree || !options.driver_root.empty() || !options.dev_root.empty()) return options;
  for (const auto& [kind, recorded] : our_files(options)) {
    const auto& root = recorded.driver_root;
    const auto& dev_root = recorded.dev_root;
    if (!root.empty() && !tree->is_directory(root)) continue;
    if (!dev_root.empty() && !tree->is_directory(dev_root)) continue;
    options.driver_root = root;
    options.dev_root = dev_root;
    options.library_dirs = recorded.library_dirs;
    std::erase_if(options.library_dirs,
                  [&](const auto& path) { return !tree->is_directory(root + path); });
    if (!root.empty() || !dev_root.empty() || !options.library_dirs.empty()) break;
  }
  return options;
}

Options kept_options_of(const Options& options) {
  return options.keep_options ? with_recorded(options) : options;
}

Options options_for(const Options& options, const std::string& kind) {
  const auto kept = options.kept.find(kind);
  return kept == options.kept.end() ? options : with_options(options, kept->second);
}

}  // namespace prepare
