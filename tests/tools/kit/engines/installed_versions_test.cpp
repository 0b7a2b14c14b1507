// The versions of engines, from programs and from packages.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/engines/installed_versions.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../../../tools/kit/host/host_tree.hpp"
#include "../../../../tools/kit/versions/engine_versions.hpp"
#include "../../../support/temp_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace tools;
using namespace std::chrono_literals;

/// A host with only the files of a test.
class VersionHost : public TempTree {
 public:
  void put(std::string_view name, std::string_view text) const {
    fs::create_directories(fs::path{*this / name}.parent_path());
    TempTree::put(name, text);
  }
  void put_program(std::string_view name, std::string_view script) const {
    put(name, script);
    REQUIRE(::chmod((*this / name).c_str(), 0755) == 0);
  }
  void remove(std::string_view name) const { REQUIRE(fs::remove_all(*this / name) > 0); }
  HostTree tree() const {
    auto opened = HostTree::open(path());
    REQUIRE(opened);
    return std::move(*opened);
  }
};

/// A database of Debian's packages, with one more package in it.
std::string database_with(std::string_view package, std::string_view version) {
  return fmt::format(
      "Package: other\nStatus: install ok installed\nVersion: 9.9\n\n"
      "Package: {}\nStatus: install ok installed\nDepends: x,\n y\nVersion: {}\n",
      package, version);
}

}  // namespace

TEST_CASE("a program is asked for its version") {
  const VersionHost host;
  const auto asked = [&](std::string_view script, std::chrono::milliseconds deadline = 60s) {
    host.put_program("tool", script);
    return engines::ask_version(host / "tool", deadline);
  };
  CHECK(*asked("#!/bin/sh\n[ $# = 1 ] && [ \"$1\" = --version ] && echo podman version 4.3.1\n") ==
        tools::EngineVersion{4, 3, 1});
  for (const auto* const text :
       {"containerd github.com/containerd/containerd v1.7.2 "
        "0cae528dd6cb557f7201036e9f43420650207b58",
        "crio version 1.7.2\nVersion: 1.7.2", "Docker version 1.7.2, build 297e128",
        "containerd github.com/containerd/containerd 1.7.2~ds1 1.7.2~ds1-1+deb12u1",
        "buildkitd github.com/moby/buildkit v1.7.2 297e128",
        "buildah version 1.7.2 (image-spec 1.1.0-rc5, runtime-spec 1.0.2)", "nerdctl version 1.7.2",
        "NVIDIA Container Runtime version 1.7.2\ncommit: 297e128\nspec: 1.2.0\n\nrunc version "
        "1.1.12",
        "apptainer version 1.7.2", "singularity-ce version 1.7.2"}) {
    CAPTURE(text);
    const auto version = asked(fmt::format("#!/bin/sh\necho '{}'\n", text));
    REQUIRE(version);
    CHECK(*version == tools::EngineVersion{1, 7, 2});
  }
  // The environment of the caller is none of its business.
  ::setenv("ENGINE_SECRET", "1", 1);
  CHECK(asked("#!/bin/sh\necho 1.0.$ENGINE_SECRET\n").error().code == cdi::Errc::host);
  ::unsetenv("ENGINE_SECRET");
  CHECK(asked("#!/bin/sh\necho nothing\n").error().code == cdi::Errc::host);
  CHECK(asked("#!/bin/sh\nprintf '\\303\\2511.2.3'\n").error().code == cdi::Errc::host);
  CHECK(asked("#!/bin/sh\n").error().message.ends_with("/tool --version prints no version"));
  CHECK(asked("#!/nowhere\n").error().message ==
        host / "tool --version: the program cannot be executed: No such file or directory");
  CHECK(asked("#!/bin/sh\necho 1.2.3 >&2\n").error().code == cdi::Errc::host);
  CHECK(asked("#!/bin/sh\nexec cat /dev/zero\n").error().code == cdi::Errc::limit);
  const auto hung = asked("#!/bin/sh\nexec sleep 3600\n", 50ms);
  CHECK(hung.error().code == cdi::Errc::timeout);
  CHECK(hung.error().message.find("tool --version: no answer") != std::string::npos);
}

TEST_CASE("a program is asked again only when it has changed") {
  const VersionHost host;
  host.put("usr/bin/other", "");
  const auto write = [&](const char* version) {
    host.put_program("podman",
                     fmt::format("#!/bin/sh\necho {}\necho >>{}\n", version, host / "asked"));
    fs::rename(host / "podman", host / "usr/bin/podman");
  };
  // A root in which the program has the same path as here.
  const auto tree = HostTree::open("/");
  REQUIRE(tree);
  EngineVersions versions{VersionsFrom::programs};
  const auto path = host / "usr/bin/podman";
  write("4.3.1");
  for (int i = 0; i < 2; ++i) CHECK(*versions.ask(*tree, path) == tools::EngineVersion{4, 3, 1});
  CHECK(fs::file_size(host / "asked") == 1);
  write("4.9.3");
  CHECK(*versions.ask(*tree, path) == tools::EngineVersion{4, 9, 3});
  CHECK(fs::file_size(host / "asked") == 2);
  // Without a version there is nothing to remember.
  write("nothing");
  for (int i = 0; i < 2; ++i) CHECK_FALSE(versions.ask(*tree, path));
  CHECK(fs::file_size(host / "asked") == 4);
}

TEST_CASE("a program that changes in place is asked again, too") {
  const VersionHost host;
  const auto tree = HostTree::open("/");
  REQUIRE(tree);
  EngineVersions versions{VersionsFrom::programs};
  host.put_program("podman", "#!/bin/sh\necho 1.2.3\n");
  CHECK(*versions.ask(*tree, host / "podman") == tools::EngineVersion{1, 2, 3});
  host.put_program("podman", "#!/bin/sh\necho 1.2.10\n");  // of another size
  CHECK(*versions.ask(*tree, host / "podman") == tools::EngineVersion{1, 2, 10});
}

TEST_CASE("versions of packages") {
  const VersionHost host;
  const auto found = [&](const char* program, const char* package, const char* version) {
    host.put(std::string{"usr/bin/"} + program, "");
    host.put("var/lib/dpkg/status", database_with(package, version));
    const auto all = EngineVersions{VersionsFrom::packages}.engines(host.tree());
    REQUIRE(all.size() == 1);
    auto out = all.front().full_name();
    if (!all.front().version) out += ": " + all.front().version_fault;
    host.remove("usr/bin");
    return out;
  };
  CHECK(found("podman", "podman", "4.3.1+ds1-8+deb12u1+b3") == "podman 4.3.1");
  CHECK(found("containerd", "containerd", "1.6.20~ds1-1+deb12u1") == "containerd 1.6.20");
  CHECK(found("containerd", "containerd.io", "1.7.25-1") == "containerd 1.7.25");
  CHECK(found("dockerd", "docker-ce", "5:28.2.2-1~debian.12~bookworm") == "docker 28.2.2");
  CHECK(found("dockerd", "docker.io", "20.10.24+dfsg1-1+b3") == "docker 20.10.24");
  CHECK(found("crio", "cri-o", "1.30.0-1.1") == "cri-o 1.30.0");
  CHECK(found("buildah", "buildah", "1.39.3+ds1-1+b6") == "buildah 1.39.3");
  CHECK(found("nerdctl", "nerdctl", "2.1.3-1") == "nerdctl 2.1.3");
  CHECK(found("podman", "podman-docker", "4.3.1") ==
        "podman: /var/lib/dpkg/status lists no version of package podman");
  CHECK(found("podman", "podman", "unknown").starts_with("podman: "));
  host.put("usr/bin/podman", "");
  for (const auto* const odd :
       {"Package: podman\nStatus: install ok installed\nVersions: 4.3.1\n",
        "Package: podman\nStatus: install ok installed", "Package: podman\n"}) {
    host.put("var/lib/dpkg/status", odd);
    CHECK_FALSE(EngineVersions{VersionsFrom::packages}.engines(host.tree()).front().version);
  }
  host.put("var/lib/dpkg/status",
           "Package: podman\nStatus: deinstall ok config-files\nVersion: 4.3.1\n");
  CHECK_FALSE(EngineVersions{VersionsFrom::packages}.engines(host.tree()).front().version);
  host.remove("var/lib/dpkg");
  const auto none = EngineVersions{VersionsFrom::packages}.engines(host.tree()).front();
  CHECK_FALSE(none.version);
  CHECK(none.version_fault.find("/var/lib/dpkg/status") != std::string::npos);
}
