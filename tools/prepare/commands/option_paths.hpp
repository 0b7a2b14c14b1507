// Makes the paths in options absolute, and resolves them under the root.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <cdi/base/path.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/options.hpp"
#include "../../gpu/cdi_specs/version_choice.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../gpu/host/open_host.hpp"
#include "../../kit/engines/engine_of_host.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "output.hpp"

namespace prepare {

/// A path in which the root is spelled as in `options`, even if links led there.
inline std::string spelt_below_root(const HostOptions& options, const std::string& path) {
  struct stat root = {};
  struct stat part = {};
  if (options.root == "/" || ::stat(options.root.c_str(), &root) != 0) return path;
  std::size_t end = 0;
  do {
    end = std::min(path.find('/', end + 1), path.size());
    if (::stat(path.substr(0, end).c_str(), &part) != 0) return path;
    if (part.st_dev == root.st_dev && part.st_ino == root.st_ino) {
      return options.root + path.substr(end);
    }
  } while (end < path.size());
  return path;
}

/// The parent directory of a path's target: under the root as its host resolves it, elsewhere as
/// the kernel does. Nullopt for a dangling link.
inline std::optional<std::filesystem::path> above(const HostOptions& options,
                                                  const std::string& path) {
  namespace fs = std::filesystem;
  const auto place = spelt_below_root(options, path);
  if (options.root != "/" && place.starts_with(options.root + "/")) {
    return fs::path{resolved(options, place)}.parent_path();
  }
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return fs::path{path}.parent_path();
  const auto real = fs::canonical(path, failed);
  if (failed) return std::nullopt;
  return real.parent_path();
}

/// The absolute path, without `.`, `..` and repeated slashes.
inline std::string absolute(const HostOptions& options, const std::string& given) {
  std::error_code failed;  // for example if the working directory is gone
  const auto whole = std::filesystem::absolute(given, failed);
  if (failed) return given;
  std::filesystem::path out;
  for (const auto& part : whole) {
    if (part == "..") {
      auto upward = above(options, out.string());
      if (!upward) return whole.string();
      out = std::move(*upward);
    } else if (!part.empty() && part != ".") {
      out /= part;
    }
  }
  return out.string();
}

/// The directory that an option names, or the one at `otherwise` under the root.
inline std::string directory_or(const HostOptions& options, const std::string& given,
                                const std::string& otherwise) {
  const auto place = absolute(options, given.empty() ? options.below_root(otherwise) : given);
  return resolved(options, spelt_below_root(options, place));
}

/// The directory of the journal of claims, which an option may name.
inline std::string state_dir_or(const HostOptions& options, const std::string& given) {
  return directory_or(options, given, "/var/lib/cdi-prepare");
}

/// A path on the host without `.`, `..` and repeated slashes; empty for /.
inline std::string clean_host_path(const std::string& path) {
  const auto clean = path.empty() ? path : cdi::clean_path(path);
  return clean == "/" ? std::string{} : clean;
}

/// Uses the CDI version of the oldest engine in `engines`. Engines without a version have the
/// host's.
inline cdi::Result<void> use_engines(Options& options) {
  for (auto engine : options.engines) {
    if (tools::can_be_asked(engine)) {
      const auto tree = open_host(options);
      auto found = tree ? tools::with_version_of_host(*tree, versions_from(options), engine)
                        : cdi::Result<std::string>{tree.error()};
      if (!found) return std::move(found).error();
      engine = *std::move(found);
      report(Message::note(tools::version_of_host_note(engine)));
    }
    auto good = limit_version(options, *tools::parse_engine(engine));
    if (!good) return good;
  }
  return {};
}

/// Makes paths absolute, and sets default paths.
inline void complete(Options& options) {
  options.root = absolute({}, options.root);
  const auto named = spelt_below_root(options, absolute(options, options.output_dir));
  options.output_named_in_etc = !options.output_dir.empty() && options.is_in_etc(named);
  options.output_dir = directory_or(options, options.output_dir, "/var/run/cdi");
  options.driver_root = clean_host_path(options.driver_root);
  if (!options.dev_root.empty()) options.dev_root = cdi::clean_path(options.dev_root);
  // A name without a slash would be searched for in the library directories.
  if (auto& library = options.nvml_library; !library.empty()) library = absolute({}, library);
  for (auto& file : options.vendor_files) file = absolute({}, file);
}

}  // namespace prepare
