// The builders of a host, and the directories that versions of engines read.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/engines/builders.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../../../tools/kit/engines/installed_versions.hpp"
#include "../../../support/made_up_host.hpp"

using namespace tools;

namespace {

using Texts = std::vector<std::string>;

const Texts both{"/etc/cdi", "/var/run/cdi"};

/// The only engine of a host on which a package is installed.
Engine installed(const MadeUpHost& host, const std::string& program, const std::string& package,
                 const std::string& version) {
  host.put("usr/bin/" + program, "");
  host.put("var/lib/dpkg/status",
           "Package: " + package + "\nStatus: install ok installed\nVersion: " + version + "\n");
  const auto found = EngineVersions{VersionsFrom::packages}.engines(host.tree());
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("A builder is there with its program") {
  const MadeUpHost host;
  host.put("etc/buildkit/buildkitd.toml", "[cdi]\n");
  CHECK(installed_builders(host.tree()).empty());
  for (const auto* program : {"apptainer", "buildah", "buildkitd", "nerdctl", "singularity"}) {
    host.put(std::string{"usr/bin/"} + program, "");
  }
  Texts names;
  for (const auto& one : installed_builders(host.tree())) {
    names.push_back(one.name);
    CHECK(one.is_builder);
    CHECK(one.warnings.empty());
  }
  CHECK(names == Texts{"apptainer", "buildah", "buildkit", "nerdctl"});
  host.remove("usr/bin/apptainer");
  CHECK(installed_builders(host.tree()).back().name == "singularity-ce");
}

TEST_CASE("NVIDIA's runtime is there if it always reads specs") {
  const MadeUpHost host;
  host.put("usr/bin/nvidia-container-runtime", "");
  CHECK(installed_builders(host.tree()).empty());
  const auto* const config = "etc/nvidia-container-runtime/config.toml";
  host.put(config, "[nvidia-container-runtime]\nmode = \"auto\"\n");
  CHECK(installed_builders(host.tree()).empty());
  host.put(config,
           "[nvidia-container-runtime]\nmode = \"cdi\"\n[nvidia-container-runtime.modes.cdi]\n"
           "spec-dirs = [\"/a\"]\n");
  const auto found = installed_builders(host.tree());
  REQUIRE(found.size() == 1);
  CHECK(found.front().spec_dirs == Texts{"/a"});
}

TEST_CASE("The configuration of builders") {
  const MadeUpHost host;
  host.put("usr/bin/buildkitd", "");
  host.put("etc/buildkit/buildkitd.toml", "[cdi]\ndisabled = true\nspecDirs = [\"/b\"]\n");
  auto found = installed_builders(host.tree());
  CHECK(found.front().state() == Engine::Cdi::off);
  CHECK(found.front().spec_dirs == Texts{"/b"});
  host.remove("usr/bin/buildkitd");
  host.put("usr/bin/nerdctl", "");
  host.put("etc/nerdctl/nerdctl.toml", "cdi_spec_dirs = [\"/n\"]\n");
  CHECK(installed_builders(host.tree()).front().spec_dirs == Texts{"/n"});
  host.remove("usr/bin/nerdctl");
  host.put("usr/bin/buildah", "");
  host.put("etc/containers/containers.conf", "[engine]\ncdi_spec_dirs = [\"/c\"]\n");
  CHECK(installed_builders(host.tree()).front().spec_dirs == Texts{"/c"});
}

TEST_CASE("A builder that is too old to read specs is left out") {
  const MadeUpHost host;
  host.put("usr/bin/buildah", "");
  host.put("var/lib/dpkg/status",
           "Package: buildah\nStatus: install ok installed\nVersion: 1.28.2+ds1-3\n");
  CHECK(EngineVersions{VersionsFrom::packages}.engines(host.tree()).empty());
}

TEST_CASE("The version of an engine decides which directories it reads without configuration") {
  const MadeUpHost host;
  CHECK(installed(host, "podman", "podman", "5.4.2").spec_dirs == both);
  CHECK(installed(host, "podman", "podman", "5.5.2").spec_dirs == Texts{"/etc/cdi"});
  CHECK(installed(host, "podman", "podman", "5.6.0").spec_dirs == both);
  host.remove("usr/bin/podman");
  CHECK(installed(host, "buildah", "buildah", "1.39.3").spec_dirs == Texts{"/etc/cdi"});
  host.remove("usr/bin/buildah");
  CHECK(installed(host, "buildkitd", "buildkit", "0.34.0").spec_dirs ==
        Texts{"/etc/cdi", "/var/run/cdi", "/etc/buildkit/cdi"});
}

TEST_CASE("Configured directories count, but not for podman before 5.5.0") {
  const MadeUpHost host;
  const auto* const config = "etc/containers/containers.conf";
  host.put(config, "[engine]\ncdi_spec_dirs = [\"/a\"]\n");
  CHECK(installed(host, "podman", "podman", "5.5.2").spec_dirs == Texts{"/a"});
  auto old = installed(host, "podman", "podman", "5.4.2");
  CHECK(old.spec_dirs == both);
  CHECK(old.warnings ==
        Texts{"podman 5.4.2 ignores cdi_spec_dirs, which podman supports since 5.5.0"});
  host.put(config, "[engine]\ncdi_spec_dirs = [\"/a\", {append = true}]\n");
  CHECK(installed(host, "podman", "podman", "5.5.2").spec_dirs == Texts{"/etc/cdi", "/a"});
  CHECK(installed(host, "podman", "podman", "5.4.2").warnings.size() == 1);
  host.put(config, "[engine]\n");
  CHECK(installed(host, "podman", "podman", "5.4.2").warnings.empty());
}
