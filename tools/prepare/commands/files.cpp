// The command `files`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "files.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../gpu/base/options.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../gpu/vendors/nvidia_files.hpp"
#include "../../gpu/vendors/nvidia_libraries.hpp"
#include "../../kit/base/result_text.hpp"
#include "../results.hpp"
#include "commands.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "selection_options.hpp"
#include <CLI/CLI.hpp>

namespace prepare {

namespace {

/// The option of `files`.
struct FilesOptions {
  std::string driver_version{};  // empty: the loaded module's, or the only one installed
};

/// The error that the driver or its files are not where the options say.
cdi::Error missing_driver(std::string message) {
  return {.code = cdi::Errc::not_found,
          .message = std::move(message),
          .advice =
              "say where the driver is installed: --root, --driver-root or --library-search-path"};
}

/// A line for each file, and for each link to one on the host.
std::string files_as_text(const tools::HostTree& host, const DriverPlace& place,
                          const std::vector<DriverFile>& files) {
  std::set<std::string> paths;
  for (const auto& file : files) {
    paths.insert(file.host_path);
    for (const auto& link : file.links) {
      if (host.exists(place.root + link)) paths.insert(place.root + link);
    }
  }
  std::string out;
  for (const auto& path : paths) out.append(path).append("\n");
  return out;
}

std::string files_as_json(const std::string& version, const std::vector<DriverFile>& files) {
  FilesResult out{.driver_version = version};
  for (const auto& file : files) {
    out.files.push_back({file, file_kinds.at(static_cast<std::size_t>(file.kind))});
  }
  return tools::json_text(out);
}

/// The error that there is no file to list, although the version of the driver is known.
cdi::Error no_files(const std::string& version, const Options& options) {
  const auto profile = options.profile == "all" ? "" : " for the profile " + options.profile;
  return missing_driver(
      fmt::format("no file of driver {}{} is installed on this host", version, profile));
}

ExitCode list_files(const Options& options, const FilesOptions& own) {
  const auto tree = open_host(options);
  if (!tree) return finish(tree.error(), ExitCode::failed);
  const auto place = open_driver_place(*tree, options);
  if (!place) return finish(place.error(), ExitCode::failed);
  const auto version = version_for_files(*tree, *place, own.driver_version);
  if (!version) return finish(version.error(), ExitCode::failed);
  std::vector<Problem> warnings;
  const auto files = files_for(*tree, *place, *version, profiles_named(options.profile), warnings);
  for (const auto& warning : warnings) report(Message::warning(warning.text));
  if (files.empty()) return finish(no_files(*version, options), ExitCode::failed);
  return finish(
      options.json() ? files_as_json(*version, files) : files_as_text(*tree, *place, files),
      ExitCode::done);
}

Run set_up_files(CLI::App& app, Options& options) {
  auto own = std::make_shared<FilesOptions>();
  add_output(app, options);
  add_profile(app, options);
  add_driver_place(app, options);
  app.add_option("--driver-version", own->driver_version,
                 "Version whose files are listed (default: the loaded module's, or the only one "
                 "that is installed)")
      ->check(not_empty);
  return [own](const Options& given) {
    return list_files(given, *own);
  };
}

}  // namespace

cdi::Result<std::string> version_for_files(const tools::HostTree& host, const DriverPlace& place,
                                           const std::string& given) {
  if (auto loaded = host.line("/sys/module/nvidia/version"); given.empty() && !loaded.empty()) {
    return loaded;
  }
  nvidia::LibrarySearch search{place.tree(host), {}};
  search.run(place.library_dirs);
  const auto& installed = search.installed();
  if (installed.contains(given)) return given;
  if (given.empty() && installed.size() == 1) return *installed.begin();
  if (installed.empty()) {
    return missing_driver("no libcuda or libnvidia-ml with a version in its name is installed");
  }
  const auto problem = given.empty()
                           ? std::string{"several versions are installed"}
                           : fmt::format("version {} is not installed; installed are", given);
  return cdi::Error{.code = cdi::Errc::not_found,
                    .message = fmt::format("{}: {}", problem, fmt::join(installed, ", ")),
                    .advice = "choose one with --driver-version"};
}

std::vector<DriverFile> files_for(const tools::HostTree& host, const DriverPlace& place,
                                  const std::string& version, Profiles profiles,
                                  std::vector<Problem>& warnings) {
  auto files = nvidia::driver_files(host, version, warnings, place);
  std::erase_if(files, [&](const DriverFile& file) {
    return file.kind == DriverFile::Kind::socket || !file.profiles.shares(profiles);
  });
  return files;
}

constexpr Command files_command{
    "files", "List the files of NVIDIA's driver that containers get; needs no GPU", set_up_files,
    "cdi-prepare files"};

}  // namespace prepare
