// Shared by the tests of publishers: a directory, specs, and results as text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/publish/publication.hpp>

#include "temp_tree.hpp"

/// A directory in memory if possible, because these tests sync often.
struct TempDir : TempTree {
  TempDir() : TempTree{"/dev/shm"} {}
};

inline struct stat info_of(const std::string& path) {
  struct stat info = {};
  CHECK(::lstat(path.c_str(), &info) == 0);
  return info;
}

inline cdi::Spec spec_of(std::string device, std::string kind = "v.com/c") {
  return {.version = "0.6.0",
          .kind = std::move(kind),
          .devices = {{.name = std::move(device), .container_edits = {.env = {"A=1"}}}}};
}

/// The first device of a spec file; empty if the file cannot be read.
inline std::string device_in(const std::string& path) {
  const auto loaded = cdi::read_spec_file(path);
  return loaded ? loaded->spec.devices.at(0).name : "";
}

/// The changes as text: `created a.json, removed b.json`.
inline std::string report(const std::vector<cdi::Publication>& files) {
  constexpr const char* words[] = {"created", "replaced", "unchanged", "removed", "absent"};
  std::string out;
  for (const auto& [path, action] : files) {
    out.append(out.empty() ? "" : ", ").append(words[static_cast<std::size_t>(action)]);
    out.append(" ").append(path.substr(path.rfind('/') + 1));
  }
  return out;
}

inline std::string report(const cdi::Result<cdi::Publication>& done) {
  if (!done) return to_string(done.error());
  return report(std::vector{*done});
}

inline std::string report(const cdi::Result<cdi::Reconciled>& done) {
  return done ? report(done->files) : to_string(done.error());
}

inline const std::string foreign = R"({"cdiVersion":"0.3.0","kind":"v.com/c","devices":)"
                                   R"([{"name":"foreign","containerEdits":{"env":["A=1"]}}]})";

/// A spec that records an owner. `version` may be a future version.
inline std::string text_of(std::string_view owner, std::string_view version = "0.6.0") {
  std::string text = R"({"cdiVersion":")";
  text.append(version).append(R"(","kind":"v.com/c","annotations":{")");
  text.append(cdi::owner_annotation).append(R"(":")").append(owner);
  return text.append(R"("},"devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})");
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Checks that the directory has only the expected files and temporary files.
inline void check_names(const TempDir& dir, const std::set<std::string>& expected) {
  std::set<std::string> others;
  for (const auto& name : dir.names()) {
    if (!cdi::is_temporary_name(name)) others.insert(name);
  }
  CHECK(others == expected);
}

/// Empties a directory.
inline void clear(const TempDir& dir) {
  for (const auto& name : dir.names()) std::filesystem::remove_all(dir / name);
}
