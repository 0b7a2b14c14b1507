// A made-up host with files of NVIDIA's driver, and what is found on it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../../tools/gpu/model/driver_file.hpp"
#include "../../../../tools/gpu/model/fault.hpp"
#include "../../../support/made_up_host.hpp"

namespace driver_host {

using Kind = prepare::DriverFile::Kind;
using Links = std::vector<std::string>;
using Paths = std::vector<std::string>;
using Warnings = std::vector<std::string>;

inline const std::string version = "570.195.03";
inline const std::string multiarch = "/usr/lib/x86_64-linux-gnu";

/// A host whose files are made one by one.
struct DriverHost : MadeUpHost {
  DriverHost() {
    remove("run");
    remove("var");
  }
  void put(const std::string& path, std::string_view text = "stub\n") const {
    MadeUpHost::put(path, text);
  }
  void put_program(const std::string& path) const {
    put(path);
    REQUIRE(::chmod((*this / path).c_str(), 0755) == 0);
  }
  void put_socket(const std::string& path) const {
    make_parents(path);
    const cdi::Descriptor fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = *this / path;
    REQUIRE(name.size() < sizeof address.sun_path);
    std::memcpy(static_cast<char*>(address.sun_path), name.c_str(), name.size());
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  void link(const std::string& path, const std::string& target) const {
    make_parents(path);
    TempTree::link(target.c_str(), path);
  }

  /// A library of this version of the driver, with links beside it.
  void put_library(const std::string& directory, const std::string& stem,
                   const std::vector<std::string>& links = {}) const {
    const auto name = stem + ".so." + version;
    put(directory + "/" + name);
    for (const auto& other : links) link(directory + "/" + other, name);
  }

 private:
  void make_parents(const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path{*this / path}.parent_path());
  }
};

/// What is found on a host, by container path.
struct Found {
  std::map<std::string, prepare::DriverFile> files{};
  Paths order{};
  Warnings warnings{};

  Paths of_kind(Kind kind) const {
    Paths paths;
    for (const auto& path : order) {
      if (files.at(path).kind == kind) paths.push_back(path);
    }
    return paths;
  }
  Links links(const std::string& path) const {
    REQUIRE(files.contains(path));
    return files.at(path).links;
  }
  std::string host_path(const std::string& path) const {
    REQUIRE(files.contains(path));
    return files.at(path).host_path;
  }
};

/// Sorts what was found, which has no path twice and, of libraries, their own paths only.
inline Found sorted(std::vector<prepare::DriverFile> files) {
  Found found;
  std::set<std::string> paths;
  for (auto& file : files) {
    CAPTURE(file.container_path);
    CHECK(paths.insert(file.container_path).second);
    for (const auto& link : file.links) CHECK(paths.insert(link).second);
    CHECK(std::is_sorted(file.links.begin(), file.links.end()));
    if (file.kind == Kind::library) CHECK(file.host_path == file.container_path);
    found.order.push_back(file.container_path);
    found.files.emplace(file.container_path, std::move(file));
  }
  CHECK(std::is_sorted(found.order.begin(), found.order.end()));
  return found;
}

/// The texts of warnings.
inline Warnings texts_of(const std::vector<prepare::Problem>& warnings) {
  Warnings texts;
  for (const auto& warning : warnings) texts.push_back(warning.text);
  return texts;
}

}  // namespace driver_host
