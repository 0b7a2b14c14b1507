// `diagnose`: searches ignored files and other directories for names that do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "diagnose.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/files/make_registry.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry/explain.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/rules/names.hpp>

#include "ignored_specs.hpp"

namespace tools {

using namespace cdi;
using cdi::detail::advised_message;
using cdi::detail::keeps_cause;
using cdi::detail::may_define;

std::vector<std::string> usual_spec_dirs() {
  std::vector<std::string> dirs{"/etc/cdi",       "/var/run/cdi",       "/run/cdi",
                                "/usr/share/cdi", "/usr/local/etc/cdi", "/etc/buildkit/cdi"};
  const auto add = [&](const char* variable, std::string_view inner) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value == '/') dirs.push_back(std::string{value}.append(inner));
  };
  add("HOME", "/.config/cdi");
  add("XDG_CONFIG_HOME", "/cdi");
  add("XDG_RUNTIME_DIR", "/cdi");
  return dirs;
}

std::vector<std::string> not_searched(const std::vector<SpecDir>& searched,
                                      const std::vector<std::string>& dirs) {
  std::vector<Signature> known;  // only device and inode are set
  struct stat info = {};
  const auto is_new = [&](const std::string& path) {
    if (::stat(path.c_str(), &info) != 0) return false;
    const Signature place{.device = info.st_dev, .inode = info.st_ino};
    for (const auto& other : known) {
      if (other == place) return false;
    }
    known.push_back(place);
    return true;
  };
  for (const auto& dir : searched) is_new(dir.path);
  std::vector<std::string> out;
  for (const auto& dir : dirs) {
    if (is_new(dir)) out.push_back(dir);
  }
  return out;
}

namespace {

bool may_be_elsewhere(const Unresolved& one) {
  return is_unknown(one.reason) || one.reason == Reason::no_directory;
}

/// Adds a second fault to an error, after its advice. `advice` is for both.
void add_fault(Error& error, std::string_view fault, std::string_view advice) {
  error.message = advised_message(error).append("; and ").append(fault);
  error.advice = advice;
}

/// A file that defines a device, or may define it, and why it does not count. The message is empty
/// if there is no such file.
struct OtherPlace {
  Error cause{};
  bool is_certain = true;
};

/// Changes the reason for a name that was found where programs do not look.
void found_elsewhere(Unresolved& one, Reason reason, std::string_view what, OtherPlace place) {
  one.reason = reason;
  one.why.message.append(place.is_certain ? "; it is in " : "; it may be in ");
  one.why.message.append(cdi::quoted(place.cause.position.file)).append(what);
  one.causes.clear();  // unreadable files are not the cause
  one.more_causes = 0;
  one.causes.push_back(std::move(place.cause));
}

/// Looks for a device in a registry of files that programs do not read.
OtherPlace place_in(const Registry& elsewhere, const std::string& name) {
  const auto found = elsewhere.find(name);
  if (found.device != nullptr) {
    return {
        {.code = Errc::not_found, .message = "the device is here", .position = found.position()}};
  }
  auto there = elsewhere.unresolved({name}, 0).front();
  if (there.reason == Reason::conflict || there.reason == Reason::quarantined) {
    return {std::move(there.causes.front())};
  }
  const std::string_view all = name;
  const auto equals = all.find('=');
  for (const auto& file : elsewhere.rejected()) {
    if (!may_define(*file, all.substr(0, equals), all.substr(equals + 1))) continue;
    return {file->why, !file->devices.empty()};
  }
  const bool unread = there.reason == Reason::unreadable || there.reason == Reason::denied;
  return unread ? OtherPlace{std::move(there.causes.front()), false} : OtherPlace{};
}

/// Adds to an error that its file is also ignored.
void add_ignored(const IgnoredSpec& file, Error& error) {
  const auto ignored = error_of(file);
  add_fault(error, "the file is " + ignored.message, ignored.advice);
}

/// Reads files with ignored names. A file that cannot be read may define any unknown device.
Registry read_ignored(const std::vector<IgnoredSpec>& files, const ReadOptions& options,
                      std::vector<Unresolved>& missing) {
  std::vector<SpecText> texts;
  for (const auto& file : files) {
    if (file.directory) continue;
    auto text = read_file(file.path, options.limits.bytes);
    if (text) {
      texts.push_back({.name = file.path, .text = *std::move(text)});
      continue;
    }
    add_ignored(file, text.error());
    for (std::size_t i = 0; i < missing.size(); ++i) {
      auto& one = missing[i];
      if (!may_be_elsewhere(one) || !keeps_cause(one, i < Registry::names_in_full)) continue;
      one.causes.push_back(text.error());
    }
  }
  return make_registry(std::move(texts), options);
}

/// Finds names in files with ignored names.
void find_in_ignored(const std::vector<IgnoredSpec>& files, const ReadOptions& options,
                     std::vector<Unresolved>& missing) {
  const auto registry = read_ignored(files, options, missing);
  for (auto& one : missing) {
    if (!may_be_elsewhere(one)) continue;
    auto place = place_in(registry, one.name);
    for (const auto& file : files) {
      if (file.path != place.cause.position.file) continue;
      add_ignored(file, place.cause);
      found_elsewhere(one, Reason::ignored, ", which is ignored", std::move(place));
      break;
    }
  }
}

/// Adds the files in ignored directories whose own names are ignored as well. They share the remedy
/// of the directory.
void add_nested_files(std::vector<IgnoredSpec>& ignored) {
  std::vector<IgnoredSpec> files;
  for (const auto& dir : ignored) {
    if (!dir.directory) continue;
    for (auto& file : ignored_specs({dir.path})) {
      if (file.directory) continue;
      file.remedy = dir.remedy;
      files.push_back(std::move(file));
    }
  }
  for (auto& file : files) ignored.push_back(std::move(file));
}

}  // namespace

std::vector<Unresolved> diagnose(const Registry& registry, Names names,
                                 const std::vector<std::string>& other_dirs,
                                 const ReadOptions& options) {
  auto missing = registry.unresolved(names);
  bool unknown = false;
  for (const auto& one : missing) unknown = unknown || may_be_elsewhere(one);
  if (!unknown) return missing;
  std::vector<std::string> searched;
  for (const auto& dir : registry.dirs()) searched.push_back(dir.path);
  auto ignored = ignored_specs(searched);
  add_nested_files(ignored);
  find_in_ignored(ignored, options, missing);
  std::vector<std::string> others;
  for (const auto& one : ignored) {
    if (one.directory) others.push_back(one.path);
  }
  for (const auto& dir : other_dirs) others.push_back(dir);
  const auto elsewhere = scan_spec_dirs(not_searched(registry.dirs(), others), options);
  for (auto& one : missing) {
    if (!may_be_elsewhere(one)) continue;
    auto place = place_in(*elsewhere, one.name);
    if (place.cause.message.empty()) continue;
    add_fault(place.cause, "the directory is not searched", "");
    found_elsewhere(one, Reason::not_searched, ", whose directory is not searched",
                    std::move(place));
  }
  return missing;
}

}  // namespace tools
