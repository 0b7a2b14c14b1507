// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include "../../../examples/prepare/doctor/doctor.hpp"

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../../examples/prepare/doctor/finding.hpp"
#include "../../../examples/prepare/engines/engines.hpp"
#include "../../../examples/prepare/gpu/fault.hpp"
#include "../../../examples/prepare/gpu/gpu.hpp"
#include "../../../examples/prepare/host/host_tree.hpp"
#include "../../temp_tree.hpp"

namespace {

namespace fs = std::filesystem;
using namespace prepare;
using Level = Finding::Level;
using Texts = std::vector<std::string>;

/// A host of which only what a test puts there is to be seen.
class Host : public TempTree {
 public:
  Host() {
    make("run/cdi");
    make("var");
    link("../run", "var/run");
  }
  void make(std::string_view directory) const { fs::create_directories(*this / directory); }
  void put(std::string_view name, std::string_view text) const {
    fs::create_directories(fs::path{*this / name}.parent_path());
    TempTree::put(name, text);
  }
  void remove(std::string_view name) const { REQUIRE(fs::remove_all(*this / name) > 0); }
  void put_spec(std::string_view name, std::initializer_list<std::string_view> devices) const {
    std::string text = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n";
    for (const auto device : devices) {
      text.append("- name: '").append(device).append("'\n  containerEdits: {env: [A=b]}\n");
    }
    put(name, text);
  }
  HostTree tree() const {
    auto opened = HostTree::open(path());
    REQUIRE(opened);
    return std::move(*opened);
  }
  std::vector<Engine> engines() const { return installed_engines(tree()); }
  /// The only engine there is.
  Engine engine() const {
    auto found = engines();
    REQUIRE(found.size() == 1);
    return found.front();
  }
};

/// A host with a GPU that works.
Inventory inventory() {
  Gpu gpu{.vendor = "nvidia", .id = "GPU-1", .pci_address = "0000:17:00.0", .driver = "nvidia"};
  gpu.whole.nodes.push_back({{.path = "/dev/nvidia0", .major = 195, .minor = 0}});
  Inventory found{.kind = "nvidia.com/gpu"};
  found.gpus.push_back(std::move(gpu));
  return found;
}

/// A spec of the GPU above.
std::string spec_of_gpu(int major, const std::string& annotations) {
  return R"({"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "annotations": )" + annotations +
         R"(, "devices": [{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0",
             "type": "c", "major": )" +
         std::to_string(major) + "}]}}]}";
}

std::vector<Finding> diagnose(const Host& host, std::vector<Inventory> inventories = {},
                              const DoctorOptions& options = {}) {
  auto findings = diagnose_host(host.tree(), inventories, options);
  for (const auto& finding : findings) {
    CAPTURE(finding.what);
    CHECK_FALSE(finding.about.empty());
    CHECK_FALSE(finding.what.empty());
    CHECK(finding.advice.empty() == (finding.level == Level::good));
  }
  return findings;
}

/// The findings about something.
std::vector<Finding> about(const std::vector<Finding>& findings, std::string_view what) {
  std::vector<Finding> out;
  for (const auto& finding : findings) {
    if (finding.about == what) out.push_back(finding);
  }
  return out;
}

/// Whether a finding is all there is about something, and holds all of these texts.
bool is_only(const std::vector<Finding>& findings, std::string_view what, Level level,
             std::initializer_list<std::string_view> parts) {
  const auto found = about(findings, what);
  if (found.size() != 1 || found.front().level != level) {
    MESSAGE(findings_as_text(findings));
    return false;
  }
  const auto text = found.front().what + "\n" + found.front().advice;
  for (const auto part : parts) {
    if (text.find(part) == std::string::npos) {
      MESSAGE(text);
      return false;
    }
  }
  return true;
}

}  // namespace

// Findings.

TEST_CASE("findings as text and as JSON") {
  const std::vector<Finding> findings{{Level::good, "IOMMU", "on", ""},
                                      {Level::fault, "a \"b\"", "wrong \xff", "mend it"}};
  CHECK(findings_as_text(findings) ==
        "good   IOMMU: on\n"
        "fault  a \"b\": wrong \\xff\n"
        "       mend it\n");
  const auto json = nlohmann::ordered_json::parse(findings_as_json(findings))["findings"];
  REQUIRE(json.size() == 2);
  CHECK(json[0].dump() == R"({"level":"good","about":"IOMMU","what":"on","advice":null})");
  CHECK(json[1]["level"] == "fault");
  CHECK(json[1]["advice"] == "mend it");
  CHECK(findings_as_json({}) == "{\n  \"findings\": []\n}\n");
}

TEST_CASE("only a fault needs mending") {
  CHECK_FALSE(has_fault({}));
  CHECK_FALSE(has_fault({{Level::good, "a", "b", ""}, {Level::note, "a", "b", "c"}}));
  CHECK(has_fault({{Level::good, "a", "b", ""}, {Level::fault, "a", "b", "c"}}));
}

// Engines.

TEST_CASE("an engine is there with its program or its configuration") {
  const Host host;
  CHECK(host.engines().empty());
  host.put("usr/local/bin/containerd", "");
  host.put("usr/bin/crio", "");
  host.put("usr/bin/dockerd", "");
  host.put("usr/bin/podman", "");
  host.put("usr/share/containers/containers.conf", "");
  const auto found = host.engines();
  REQUIRE(found.size() == 4);
  for (const auto& engine : found) {
    CHECK(engine.spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});
    CHECK(engine.doubts.empty());
  }
  CHECK(found[0].name == "containerd");
  CHECK(found[0].cdi == Engine::Cdi::by_version);
  CHECK(found[1].name == "cri-o");
  CHECK(found[1].cdi == Engine::Cdi::on);
  CHECK(found[2].name == "docker");
  CHECK(found[2].cdi == Engine::Cdi::by_version);
  CHECK(found[3].name == "podman");
  CHECK(found[3].cdi == Engine::Cdi::on);
}

TEST_CASE("that Podman's defaults are there does not make Podman be there") {
  const Host host;
  host.put("usr/share/containers/containers.conf", "[engine]\n");
  CHECK(host.engines().empty());
  host.put("etc/containers/containers.conf", "[engine]\n");
  CHECK(host.engine().name == "podman");
}

TEST_CASE("containerd by the version of its file") {
  const Host host;
  const auto with = [&](std::string_view text) {
    host.put("etc/containerd/config.toml", text);
    return host.engine();
  };
  const auto old = with(
      "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n"
      "cdi_spec_dirs = [\"/a\", \"/b\"]\n");
  CHECK(old.cdi == Engine::Cdi::on);
  CHECK(old.spec_dirs == Texts{"/a", "/b"});
  CHECK(old.doubts.empty());

  const auto off = with("version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi=false\n");
  CHECK(off.cdi == Engine::Cdi::off);
  CHECK(off.spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});

  CHECK(with("version = 2\n").cdi == Engine::Cdi::by_version);
  CHECK(with("version = 3\n").cdi == Engine::Cdi::on);
  const auto newer = with(
      "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\nenable_cdi = false\n"
      "cdi_spec_dirs = ['/c']\n");
  CHECK(newer.cdi == Engine::Cdi::off);
  CHECK(newer.spec_dirs == Texts{"/c"});
  CHECK(newer.doubts.empty());
}

TEST_CASE("containerd does not read what stands in the wrong table") {
  const Host host;
  for (const auto* const text :
       {"version = 2\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = false\n",
        "[plugins.cri.containerd]\nenable_cdi = false\n", "version = 2\nenable_cdi = false\n"}) {
    host.put("etc/containerd/config.toml", text);
    const auto engine = host.engine();
    CHECK(engine.cdi == Engine::Cdi::by_version);
    REQUIRE(engine.doubts.size() == 1);
    CHECK(engine.doubts[0].find("where containerd does not read it") != std::string::npos);
  }
}

TEST_CASE("containerd's imports count after the file, each with its own version") {
  const Host host;
  host.put("etc/containerd/config.toml",
           "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\", \"more.toml\"]\n"
           "[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = false\ncdi_spec_dirs = ['/x']\n");
  CHECK(host.engine().cdi == Engine::Cdi::off);
  host.put("etc/containerd/conf.d/99-nvidia.toml",
           "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = true\n");
  host.put("etc/containerd/conf.d/99-nvidia.toml.bak",
           "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = false\n");
  CHECK(host.engine().cdi == Engine::Cdi::on);
  CHECK(host.engine().spec_dirs == Texts{"/x"});
  host.put("etc/containerd/more.toml",
           "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\ncdi_spec_dirs = ['/y']\n");
  CHECK(host.engine().spec_dirs == Texts{"/y"});
}

TEST_CASE("containerd that only serves Docker reads no specs") {
  const Host host;
  host.put("etc/containerd/config.toml", "disabled_plugins = [\"cri\"]\n");
  CHECK(host.engines().empty());
  host.put("etc/containerd/config.toml", "#disabled_plugins = [\"cri\"]\n");
  CHECK(host.engines().size() == 1);
  host.put("etc/containerd/config.toml", "disabled_plugins = [\"zfs\"]\n");
  CHECK(host.engines().size() == 1);
}

TEST_CASE("CRI-O's last file counts") {
  const Host host;
  host.put("etc/crio/crio.conf.d/10-crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\n\"/b\",\n]\n");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/a\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/b"});
  host.put("etc/crio/crio.conf.d/20-x", "[crio.runtime]\n# cdi_spec_dirs = [\"/c\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/b"});
  host.remove("etc/crio/crio.conf");
  CHECK(host.engine().name == "cri-o");
}

TEST_CASE("Docker's file") {
  const Host host;
  const auto with = [&](std::string_view text) {
    host.put("etc/docker/daemon.json", text);
    return host.engine();
  };
  CHECK(with(R"({"features": {"cdi": true}})").cdi == Engine::Cdi::on);
  CHECK(with(R"({"features": {"cdi": false}})").cdi == Engine::Cdi::off);
  CHECK(with(R"({"features": {"buildkit": true}})").cdi == Engine::Cdi::by_version);
  CHECK(with("").doubts.empty());
  const auto dirs = with(R"({"features": {"cdi": true}, "cdi-spec-dirs": ["/a", "/b"]})");
  CHECK(dirs.spec_dirs == Texts{"/a", "/b"});
  CHECK(with(R"({"features": {"cdi": true}, "cdi-spec-dirs": [""]})").cdi == Engine::Cdi::off);
}

TEST_CASE("Podman's files add to each other or take each other's place") {
  const Host host;
  host.put("usr/bin/podman", "");
  host.put("usr/share/containers/containers.conf", "[engine]\ncdi_spec_dirs = [\"/a\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/a"});
  host.put("etc/containers/containers.conf", "[engine]\ncdi_spec_dirs = [\"/b\", {append=true}]\n");
  CHECK(host.engine().spec_dirs == Texts{"/a", "/b"});
  host.put("etc/containers/containers.conf.d/x.conf", "[engine]\ncdi_spec_dirs = [\"/c\"]\n");
  host.put("etc/containers/containers.conf.d/y", "[engine]\ncdi_spec_dirs = [\"/d\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/c"});
}

TEST_CASE("configuration that is odd is a doubt") {
  const Host host;
  host.put("etc/containerd/config.toml",
           "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = \"yes\"\n");
  CHECK(host.engine().doubts.size() == 1);
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/containerd/config.toml", "version = 2\nversion = two\n");
  REQUIRE(host.engine().doubts.size() == 1);
  CHECK(host.engine().doubts[0].starts_with("/etc/containerd/config.toml:2:"));
  host.put("etc/containerd/config.toml", "[" + std::string(500000, '.') + "]");
  REQUIRE(host.engine().doubts.size() == 1);
  CHECK(host.engine().doubts[0].starts_with("/etc/containerd/config.toml:1:1: "));
  host.remove("etc/containerd");

  host.make("etc/crio/crio.conf");
  CHECK(host.engine().doubts.size() == 1);
  host.remove("etc/crio");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = \"/a\"\n");
  CHECK(host.engine().doubts.size() == 1);
  CHECK(host.engine().spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});
  host.remove("etc/crio");

  for (const auto* const text : {"{", "[]", "1", "null", R"({"cdi-spec-dirs": "/a"})",
                                 R"({"cdi-spec-dirs": [1]})", "\xff"}) {
    CAPTURE(text);
    host.put("etc/docker/daemon.json", text);
    CHECK(host.engine().doubts.size() == 1);
    CHECK(host.engine().spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});
  }
  host.put("etc/docker/daemon.json", R"({"features": [1]})");
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": "yes"}})");
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/docker/daemon.json", std::string(100000, '['));
  CHECK(host.engine().doubts.size() == 1);
}

TEST_CASE("an engine reads the directory or does not") {
  const Host host;
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\", \"/run/cdi\"]\n");
  // By another path.
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::good, {"/etc/cdi, /run/cdi"}));

  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/etc/cdi\"]\n");
  const auto findings = diagnose(host, {inventory()});
  CHECK(is_only(findings, "cri-o", Level::fault,
                {"does not read /var/run/cdi", "but /etc/cdi", "crio.conf", "--output-dir"}));
  CHECK(has_fault(findings));
  CHECK(is_only(diagnose(host), "cri-o", Level::note, {"does not read"}));  // nothing to read
  CHECK(is_only(diagnose(host, {inventory()}, {.output_dir = "/etc/cdi/"}), "cri-o", Level::good,
                {}));
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = []\n");
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::fault, {"but none"}));
}

TEST_CASE("a directory that is not there yet is the one it will be") {
  const Host host;
  host.remove("run/cdi");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/run/cdi\"]\n");
  CHECK(is_only(diagnose(host, {inventory()}), "cri-o", Level::good, {}));
}

TEST_CASE("CDI that is off, or on by version, is to be switched on") {
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

TEST_CASE("a doubt about an engine is told beside what is known") {
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

TEST_CASE("an engine without CDI is told so, and not to be switched on") {
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
  host.put("run/cdi/new.yaml", spec_of_gpu(195, R"({"cdi-prepare/options": "profile=all"})"));
  put("etc/cdi/other.yaml", "1.1.0", "acme.com/x");
  const auto found = about(diagnose(host, {inventory()}), "podman 4.3.1");
  REQUIRE(found.size() == 3);
  CHECK(found[0].level == Level::note);
  const std::string_view read = ", and 0.5.0 is the newest that it reads";
  CHECK(found[0].what == "refuses /etc/cdi/other.yaml: it is CDI 1.1.0" + std::string{read});
  CHECK(found[0].advice.find("cdi convert --for podman@4.3.1") != std::string::npos);
  CHECK(found[1].level == Level::fault);
  CHECK(found[1].what == "refuses /var/run/cdi/new.yaml: it is CDI 0.6.0" + std::string{read});
  CHECK(found[1].advice.find("cdi-prepare write") != std::string::npos);
  CHECK(found[2].level == Level::good);
}

// The driver.

TEST_CASE("module and libraries of one version") {
  const Host host;
  CHECK(about(diagnose(host), "NVIDIA driver").empty());

  host.put("sys/module/nvidia/version", "570.195.03\n");
  host.put("proc/driver/nvidia/version", "NVRM version: ...\n");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::note, {"no libcuda", "570.195.03"}));

  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03", "");
  host.link("libcuda.so.570.195.03", "usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {"570.195.03"}));

  // What is left of another version is harmless as long as no program loads it.
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.535.216.03", "");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {}));
}

TEST_CASE("libraries upgraded without a reboot") {
  const Host host;
  host.put("sys/module/nvidia/version", "535.216.03\n");
  host.make("proc/driver/nvidia");
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.570.195.03", "");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault,
                {"module 535.216.03", "libcuda.so.570.195.03", "Reboot"}));
  host.put("usr/lib/x86_64-linux-gnu/libcuda.so.535.216.03", "");
  host.link("libcuda.so.570.195.03", "usr/lib/x86_64-linux-gnu/libcuda.so.1");
  CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault, {"libcuda.so.570.195.03"}));
}

TEST_CASE("the version by the other file, and libraries where Debian and Red Hat put them") {
  for (const std::string version :
       {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.216.03  Thu Apr  3 01:14:19 UTC 2025",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.216.03  Release Build  "
        "(x) "}) {
    const Host host;
    host.put("proc/driver/nvidia/version", version + "\nGCC version:  gcc version 12.2.0\n");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::note, {"module 535.216.03 is"}));
    host.put("usr/lib64/libcuda.so.535.216.03", "");
    host.put("usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.216.03", "");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::good, {}));
    host.put("usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.550.1", "");
    CHECK(is_only(diagnose(host), "NVIDIA driver", Level::fault, {"current/libcuda.so.550.1"}));
  }
  const Host host;
  for (const auto* const odd : {"", "\n", "Module", "Module x y z", "no 1.2.3"}) {
    host.put("proc/driver/nvidia/version", odd);
    CHECK(about(diagnose(host), "NVIDIA driver").empty());
  }
}

TEST_CASE("a module without its directory in /proc") {
  const Host host;
  host.make("sys/module/nvidia");
  CHECK(
      is_only(diagnose(host), "NVIDIA driver", Level::fault, {"/proc/driver/nvidia", "modprobe"}));
  host.make("proc/driver/nvidia");
  CHECK(about(diagnose(host), "NVIDIA driver").empty());
}

TEST_CASE("no GPU") {
  const Host host;
  CHECK(is_only(diagnose(host), "GPUs", Level::note, {"none found"}));
  CHECK(about(diagnose(host, {inventory()}), "GPUs").empty());
}

// Specs of this host, and of another one or another time.

TEST_CASE("specs that are missing, of another host, or name what is not there") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  host.put("proc/sys/kernel/random/boot_id", "b1\n");
  auto found = inventory();
  found.driver_version = "570.1";
  const auto on_specs = [&] {
    return diagnose(host, {found});
  };
  CHECK(is_only(on_specs(), "specs", Level::fault, {"none for nvidia.com/gpu", "write"}));

  host.put("var/run/cdi/a.json", spec_of_gpu(195, "{}"));  // somebody else's, and right
  CHECK(about(on_specs(), "specs").empty());
  host.put("var/run/cdi/a.json", spec_of_gpu(196, "{}"));
  CHECK(is_only(on_specs(), "specs", Level::fault,
                {"/var/run/cdi/a.json: device 0: /dev/nvidia0 is c 195:0", "diff"}));

  const std::string right = R"({"cdi-prepare/driver-version": "570.1", "cdi-prepare/boot-id": "b1",
                                "cdi-prepare/gpus": "GPU-1 at 0000:17:00.0"})";
  host.put("var/run/cdi/a.json", spec_of_gpu(195, right));
  CHECK(about(on_specs(), "specs").empty());
  for (const auto& [key, value] : {std::pair{"driver-version", "535.1"}, std::pair{"boot-id", "b0"},
                                   std::pair{"gpus", "GPU-2 at 0000:17:00.0"}}) {
    host.put("var/run/cdi/a.json",
             spec_of_gpu(195, std::string{"{\"cdi-prepare/"} + key + "\": \"" + value + "\"}"));
    CHECK(is_only(on_specs(), "specs", Level::fault, {key, value, "write"}));
  }

  // Nothing to hand out needs no spec.
  host.remove("var/run/cdi/a.json");
  found.gpus[0].whole.left_out = Problem{Fault::excluded_by_driver, "excluded"};
  CHECK(about(on_specs(), "specs").empty());
}

// GPUs and nodes.

TEST_CASE("GPUs that are well") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  host.put("var/run/cdi/a.json", spec_of_gpu(195, "{}"));
  const auto findings = diagnose(host, {inventory()});
  CHECK(is_only(findings, "nvidia.com/gpu", Level::good, {"1 of 1"}));
  CHECK(about(findings, "nvidia GPU 0000:17:00.0").empty());
  CHECK_FALSE(has_fault(findings));
}

TEST_CASE("each fault has its own level and advice, whatever its text is") {
  const Host host;
  for (const auto& [fault, code, persistence, remedy] : fault_meanings) {
    CAPTURE(code);
    auto found = inventory();
    found.gpus.front().whole.left_out = Problem{fault, "some text"};
    const bool intended = persistence == Persistence::intended;
    CHECK(is_only(diagnose(host, {found}), "nvidia GPU 0000:17:00.0",
                  intended ? Level::note : Level::fault, {"left out: some text", remedy}));
  }
}

TEST_CASE("each partition that is left out") {
  const Host host;
  auto found = inventory();
  found.gpus[0].partitions = {
      {.suffix = ":gi1:ci0", .left_out = Problem{Fault::mig_node, "nvidia-cap1"}},
      {.suffix = ":gi2:ci0"}};
  const auto findings = diagnose(host, {found});
  CHECK(is_only(findings, "nvidia GPU 0000:17:00.0:gi1:ci0", Level::fault, {"nvidia-cap1"}));
  CHECK(about(findings, "nvidia GPU 0000:17:00.0:gi2:ci0").empty());
}

TEST_CASE("a GPU on no bus goes by its name") {
  const Host host;
  Gpu gpu{
      .vendor = "other", .id = "soc:gpu", .whole = {.left_out = Problem{Fault::udev_node, "x"}}};
  Inventory found{.kind = "drm.local/gpu"};
  found.gpus.push_back(gpu);
  CHECK(about(diagnose(host, {found}), "other GPU soc:gpu").size() == 1);
}

TEST_CASE("a GPU whose UUID is not known yet") {
  const Host host;
  auto found = inventory();
  found.gpus[0].id.clear();
  CHECK(is_only(diagnose(host, {found}), "nvidia GPU 0000:17:00.0", Level::note,
                {"UUID", "nvidia-persistenced"}));
}

TEST_CASE("what is not ready, missing or warned of") {
  const Host host;
  const auto level_and_advice = [&](const Inventory& found) {
    const auto findings = about(diagnose(host, {found}), found.kind);
    REQUIRE(findings.size() == 1);
    return std::pair{findings[0].level, findings[0].advice};
  };
  const auto expected = [](Level level, Fault fault) {
    return std::pair{level, std::string{meaning_of(fault).remedy}};
  };
  auto found = inventory();
  found.not_ready = Problem{Fault::nvidiactl_node, "x"};
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::nvidiactl_node));

  found = inventory();
  found.missing = {{{Fault::uvm_module, "x"}, compute | video}};
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::uvm_module));
  // A server without a screen does not need it.
  found.missing = {{{Fault::modeset_module, "x"}, graphics}};
  CHECK(level_and_advice(found).first == Level::good);

  found = inventory();
  for (const auto fault : {Fault::uvm_tools_node, Fault::modeset_node, Fault::other_libraries}) {
    found.warnings = {{fault, "x"}};
    CHECK(level_and_advice(found) == expected(Level::note, fault));
  }
  found.warnings = {{Fault::uvm_node, "x"}};  // without it no CUDA program runs
  CHECK(level_and_advice(found) == expected(Level::fault, Fault::uvm_node));
}

TEST_CASE("links in /dev/char, where they are needed") {
  const Host host;
  auto found = inventory();
  found.control_nodes = {{{.path = "/dev/nvidiactl", .major = 195, .minor = 255}}};
  found.gpus[0].whole.nodes.push_back({{.path = "/dev/dri/card0", .major = 226, .minor = 0}});
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.put("usr/bin/runc", "");
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.make("run/systemd/system");
  CHECK(is_only(diagnose(host, {found}), "/dev/char", Level::note,
                {"without a link: 2, the first 195:0.", "create-dev-char-symlinks"}));
  host.make("dev/char");
  host.link("../nvidia0", "dev/char/195:0");
  CHECK(is_only(diagnose(host, {found}), "/dev/char", Level::note,
                {"without a link: 1, the first 195:255."}));
  host.link("../nvidiactl", "dev/char/195:255");
  CHECK(about(diagnose(host, {found}), "/dev/char").empty());
  host.remove("usr/bin/runc");
  CHECK(about(diagnose(host, {inventory()}), "/dev/char").empty());
}

// What the kernel protects.

TEST_CASE("IOMMU on or off") {
  const Host host;
  CHECK(is_only(diagnose(host), "IOMMU", Level::note, {"off", "intel_iommu=on"}));
  host.make("sys/kernel/iommu_groups/0");
  host.make("sys/kernel/iommu_groups/1");
  CHECK(is_only(diagnose(host), "IOMMU", Level::good, {"groups: 2"}));
}

TEST_CASE("GPUs that share an IOMMU group") {
  const Host host;
  auto found = inventory();
  found.gpus[0].iommu_group = "42";
  Inventory other{.kind = "vfio.local/gpu"};
  other.gpus.push_back({.vendor = "amd", .pci_address = "0000:18:00.0", .iommu_group = "43"});
  CHECK(about(diagnose(host, {found, other}), "IOMMU group 42").empty());
  other.gpus[0].iommu_group = "42";
  CHECK(is_only(diagnose(host, {found, other}), "IOMMU group 42", Level::note,
                {"2 GPUs", "0000:17:00.0"}));
}

TEST_CASE("SELinux") {
  const Host host;
  CHECK(about(diagnose(host), "SELinux").empty());
  host.put("sys/fs/selinux/enforce", "0");
  CHECK(about(diagnose(host), "SELinux").empty());
  host.put("sys/fs/selinux/enforce", "1");
  CHECK(is_only(diagnose(host), "SELinux", Level::note, {"not known", "setsebool"}));
  host.put("sys/fs/selinux/booleans/container_use_devices", "0 0");
  CHECK(is_only(diagnose(host), "SELinux", Level::note, {"is off", "container_use_devices 1"}));
  host.put("sys/fs/selinux/booleans/container_use_devices", "1 1");
  CHECK(is_only(diagnose(host), "SELinux", Level::good, {}));
}

// Specs.

TEST_CASE("specs without a fault") {
  const Host host;
  CHECK(about(diagnose(host), "specs").empty());
  host.put_spec("etc/cdi/a.yaml", {"0"});
  host.put_spec("run/cdi/b.yaml", {"1"});
  host.put("etc/cdi/readme.txt", "{");
  host.make("etc/cdi/dir.yaml");
  CHECK(about(diagnose(host), "specs").empty());
}

TEST_CASE("a device in two directories") {
  const Host host;
  host.put_spec("etc/cdi/nvidia.yaml", {"0", "1", "2"});
  host.put_spec("run/cdi/nvidia.com-gpu.yaml", {"0", "1"});
  const auto findings = diagnose(host);
  CHECK(is_only(findings, "specs", Level::note,
                {"nvidia.com/gpu=0 and 1 more defined in /etc/cdi/nvidia.yaml, "
                 "/var/run/cdi/nvidia.com-gpu.yaml",
                 "take that of /var/run/cdi/nvidia.com-gpu.yaml"}));
  CHECK_FALSE(has_fault(findings));
  CHECK(is_only(diagnose(host, {}, {.spec_dirs = {"/run/cdi", "/etc/cdi"}}), "specs", Level::note,
                {"take that of /etc/cdi/nvidia.yaml"}));
}

TEST_CASE("a device twice in a directory") {
  const Host host;
  host.put_spec("etc/cdi/nvidia.yaml", {"0"});
  host.put_spec("run/cdi/a.yaml", {"0"});
  host.put_spec("run/cdi/b.json", {"0"});
  CHECK(is_only(diagnose(host), "specs", Level::fault,
                {"nvidia.com/gpu=0 defined in /etc/cdi/nvidia.yaml, /var/run/cdi/a.yaml, "
                 "/var/run/cdi/b.json",
                 "inject none"}));
}

TEST_CASE("a directory that is given by two paths is one") {
  const Host host;
  host.put_spec("run/cdi/a.yaml", {"0"});
  CHECK(about(diagnose(host, {}, {.spec_dirs = {"/run/cdi", "/var/run/cdi"}}), "specs").empty());
}

TEST_CASE("a spec that cannot be read is named with its line") {
  const Host host;
  host.put("run/cdi/bad.yaml",
           "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n  containerEdits:\n"
           "    deviceNodes:\n    - paht: /dev/null\n");
  host.put_spec("run/cdi/good.yaml", {"1"});
  const auto findings = diagnose(host);
  CHECK(is_only(findings, "specs", Level::fault, {"/var/run/cdi/bad.yaml:7:"}));
  CHECK(has_fault(findings));
}

TEST_CASE("no link leads out of the root") {
  const Host host;
  const Host outside;
  outside.put_spec("a.yaml", {"0"});
  host.put_spec("run/cdi/b.yaml", {"0"});
  host.make("etc");
  host.link(outside.path().c_str(), "etc/cdi");
  CHECK(about(diagnose(host), "specs").empty());
  host.link((outside / "a.yaml").c_str(), "run/cdi/c.yaml");
  CHECK(is_only(diagnose(host), "specs", Level::fault, {"/var/run/cdi/c.yaml"}));
}
