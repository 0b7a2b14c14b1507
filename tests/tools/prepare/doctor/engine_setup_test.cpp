// The findings about container engines.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/findings/engine_setup.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("an engine reads the directory or does not") {
  const Host host;
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\", \"/run/cdi\"]\n");
  // By another path.
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::good, {"/etc/cdi, /run/cdi"}));

  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\"]\n");
  const auto findings = diagnose(host, {inventory()});
  CHECK(is_only(findings, "cri-o", Level::fault,
                {"does not read /var/run/cdi", "it reads /etc/cdi", "crio.conf", "--output-dir"}));
  CHECK(has_fault(findings));
  CHECK(is_only(diagnose(host), "cri-o", Level::note, {"does not read"}));  // nothing to read
  CHECK(is_only(diagnose(host, {inventory()}, {.output_dir = "/etc/cdi/"}), "cri-o", Level::good,
                {}));
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = []\n");
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::fault, {"it reads none"}));
}

TEST_CASE("a directory that is not there yet is the one it will be") {
  const Host host;
  host.remove("run/cdi");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/run/cdi\"]\n");
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::good, {}));
}

TEST_CASE("CDI that is off, or on by version, can be switched on") {
  const Host host;
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": false}, "cdi-spec-dirs": ["/a"]})");
  CHECK(is_only(diagnose(host, {inventory()}), "docker", Level::fault,
                {"switched off", "\"cdi\": true", "daemon.json"}));
  CHECK(is_only(diagnose(host), "docker", Level::note, {"switched off"}));
  host.put("etc/docker/daemon.json", "{}");
  CHECK(is_only(diagnose(host, {inventory()}), "docker", Level::note,
                {"depends on its version", "28.2"}));
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": true}})");
  CHECK(is_only(diagnose(host, {inventory()}), "docker", Level::good, {}));
}

TEST_CASE("warnings about an engine come with other findings") {
  const Host host;
  host.put("etc/crio/crio.conf", "?\n");
  const auto findings = about(diagnose(host, {inventory()}), "cri-o");
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].level == Level::note);
  CHECK(findings[1].level == Level::good);
}

TEST_CASE("a host without an engine") {
  const Host host;
  CHECK(is_only(diagnose(host), "engines", Level::note, {"/var/run/cdi"}));
  host.put("usr/bin/crio", "");
  CHECK(about(diagnose(host), "engines").empty());
}

// Versions of engines.

namespace {

/// A host with an engine that Debian's packages know the version of.
void install(const Host& host, const std::string& program, const std::string& package,
             const std::string& version) {
  host.put("usr/bin/" + program, "");
  host.put("var/lib/dpkg/status",
           "Package: other\nStatus: install ok installed\nVersion: 9.9\n\n"
           "Package: " +
               package +
               "\nStatus: install ok installed\n"
               "Depends: x,\n y\nVersion: " +
               version + "\n");
}

}  // namespace

TEST_CASE("an engine without CDI must be updated, not switched on") {
  const Host host;
  install(host, "containerd", "containerd", "1.6.20~ds1-1");
  CHECK(is_only(diagnose(host, {inventory()}), "containerd 1.6.20", Level::fault,
                {"older than 1.7.0", "Update it"}));
  CHECK(findings_as_text(diagnose(host, {inventory()})).find("enable_cdi") == std::string::npos);
  CHECK(is_only(diagnose(host), "containerd 1.6.20", Level::note, {"older than 1.7.0"}));
}

TEST_CASE("whether CDI is on by default is known of a version") {
  const Host host;
  install(host, "containerd", "containerd", "1.7.2");
  CHECK(is_only(diagnose(host, {inventory()}), "containerd 1.7.2", Level::fault,
                {"switched off", "enable_cdi"}));
  install(host, "containerd", "containerd", "2.0.5");
  CHECK(is_only(diagnose(host, {inventory()}), "containerd 2.0.5", Level::good,
                {"reads /etc/cdi, /var/run/cdi, up to CDI 1.0.0"}));
  host.put("etc/containerd/config.toml",
           "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = false\n");
  CHECK(is_only(diagnose(host, {inventory()}), "containerd 2.0.5", Level::fault, {"switched off"}));
}

TEST_CASE("the files that an engine is too old for are named") {
  const Host host;
  install(host, "podman", "podman", "4.3.1+ds1-8");
  const auto put = [&](const char* name, const char* version, const char* kind) {
    host.put(name, fmt::format("cdiVersion: {}\nkind: {}\ndevices:\n- name: a\n  containerEdits: "
                               "{{env: [A=b]}}\n",
                               version, kind));
  };
  put("run/cdi/old.yaml", "0.5.0", "nvidia.com/gpu");
  CHECK(is_only(diagnose(host, {inventory()}), "podman 4.3.1", Level::good, {"up to CDI 0.5.0"}));
  host.put("run/cdi/new.yaml", spec_of_gpu(195, R"({"cdi-publisher/owner": "cdi-prepare",
                                            "cdi-prepare/options": "max-version=0.6.0 no-all"})"));
  put("etc/cdi/other.yaml", "1.1.0", "acme.com/nic");
  const auto found = about(diagnose(host, {inventory()}), "podman 4.3.1");
  REQUIRE(found.size() == 2);
  CHECK(found[0].level == Level::fault);  // whatever the kind
  const std::string newest = "is newer than 0.5.0, the newest that podman 4.3.1 reads";
  CHECK(found[0].what ==
        "refuses /etc/cdi/other.yaml:1:13: cdiVersion: version \"1.1.0\" " + newest);
  CHECK(found[0].advice ==
        "Convert the file by running `cdi convert --in-place --backup --for podman@4.3.1 " +
            host.path() + "/etc/cdi/other.yaml`; or update podman to 6.0.0 or newer.");
  CHECK(found[1].level == Level::fault);
  CHECK(found[1].what ==
        "refuses /var/run/cdi/new.yaml:1:16: cdiVersion: version \"0.6.0\" " + newest);
  CHECK(found[1].advice.starts_with("Run `cdi-prepare write --root " + host.path() +
                                    " --no-all`, which"));
}

TEST_CASE("an engine for which no spec can be written must be updated") {
  const Host host;
  install(host, "podman", "podman", "4.0.2");
  host.put("etc/cdi/ours.yaml",
           "# cdi-publisher/owner: cdi-prepare\ncdiVersion: 0.5.0\nkind: acme.com/nic\n"
           "devices: [{name: nic0, containerEdits: {env: [A=1]}}]\n");
  const auto findings = about(diagnose(host, {inventory()}), "podman 4.0.2");
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].level == Level::fault);
  CHECK(findings[0].advice.starts_with("Update podman to 4.3.0 or newer"));
  CHECK(findings[0].advice.find("cdi-prepare write") == std::string::npos);
}

TEST_CASE("an error about a refused value has the place of the value") {
  const Host host;
  install(host, "podman", "podman", "6.0.0");
  host.put("etc/cdi/none.yaml",
           "cdiVersion: 0.6.0\nkind: acme.com/nic\ndevices:\n- name: a\n  containerEdits:\n"
           "    deviceNodes:\n    - path: /dev/d\n      permissions: none\n");
  const auto found = about(diagnose(host, {inventory()}), "podman 6.0.0");
  REQUIRE(found.size() == 1);
  CHECK(found[0].what.starts_with("refuses /etc/cdi/none.yaml:8:20: devices[0].containerEdits."));
}

TEST_CASE("a file that programs read in different ways is named") {
  const Host host;
  install(host, "podman", "podman", "6.0.0");
  host.put("etc/cdi/two.yaml",
           "cdiVersion: 0.6.0\nkind: acme.com/nic\ndevices:\n- name: a\n  containerEdits: {env: "
           "[A=b]}\n---\n{}\n");
  const auto found = about(diagnose(host, {inventory()}), "podman 6.0.0");
  REQUIRE(found.size() == 2);
  CHECK(found[0].level == Level::note);
  CHECK(found[0].what.starts_with(
      "may refuse or read differently: /etc/cdi/two.yaml:7:1: only the first document"));
  CHECK(found[0].advice ==
        "Convert the file with losses by running `cdi convert --in-place --backup --lossy --for "
        "podman@6.0.0 " +
            host.path() + "/etc/cdi/two.yaml`, which loses its other documents.");
}

TEST_CASE("no setting is advised for an engine that has none for directories") {
  const Host host;
  const auto advice = [&](const std::string& version) {
    install(host, "podman", "podman", version);
    const auto found =
        about(diagnose(host, {inventory()}, {.output_dir = "/opt/cdi"}), "podman " + version);
    REQUIRE(found.size() == 1);
    CHECK(found[0].what.starts_with("does not read /opt/cdi"));
    return found[0].advice;
  };
  CHECK(advice("5.4.2") == "Write the specs to a directory that it reads (--output-dir).");
  CHECK(advice("5.5.0").find("Add /opt/cdi to cdi_spec_dirs") != std::string::npos);
}

TEST_CASE("the path in an advised command does not lead out of the root") {
  const Host host;
  install(host, "podman", "podman", "4.3.1");
  host.put("data/a b;c/v.yaml",
           "cdiVersion: 0.7.0\nkind: acme.com/nic\ndevices:\n- name: a\n  containerEdits: {env: "
           "[A=b]}\n");
  host.make("etc");
  host.link("/data/a b;c", "etc/cdi");  // absolute: the kernel would look for it in its own root
  const auto found = about(diagnose(host), "podman 4.3.1");
  REQUIRE(found.size() == 1);
  CHECK(found[0].what.starts_with("refuses /etc/cdi/v.yaml:1:13: "));
  CHECK(found[0].advice.find("--for podman@4.3.1 '" + host.path() + "/data/a b;c/v.yaml'`") !=
        std::string::npos);
}

TEST_CASE("an engine that reads annotations only is named") {
  const Host host;
  install(host, "containerd", "containerd", "1.7.1");
  host.put("etc/containerd/config.toml",
           "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n");
  const auto found = about(diagnose(host, {inventory()}), "containerd 1.7.1");
  REQUIRE(found.size() == 2);
  CHECK(found[0].what.starts_with("ignores the CRI field CDI_devices"));
  CHECK(found[1].level == Level::good);
  install(host, "containerd", "containerd", "1.7.2");
  CHECK(about(diagnose(host, {inventory()}), "containerd 1.7.2").size() == 1);
}
