// The configuration of each container engine.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/engines/engines.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/made_up_host.hpp"

using namespace tools;

namespace {

using Texts = std::vector<std::string>;

class EngineHost : public MadeUpHost {
 public:
  std::vector<Engine> engines() const { return installed_engines(tree()); }
  /// The only engine there is.
  Engine engine() const {
    auto found = engines();
    REQUIRE(found.size() == 1);
    return found.front();
  }
};

}  // namespace

TEST_CASE("an engine is there with its program or its configuration") {
  const EngineHost host;
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
    CHECK(engine.warnings.empty());
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
  const EngineHost host;
  host.put("usr/share/containers/containers.conf", "[engine]\n");
  CHECK(host.engines().empty());
  host.put("etc/containers/containers.conf", "[engine]\n");
  CHECK(host.engine().name == "podman");
}

TEST_CASE("containerd by the version of its file") {
  const EngineHost host;
  const auto with = [&](std::string_view text) {
    host.put("etc/containerd/config.toml", text);
    return host.engine();
  };
  const auto old = with(
      "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = true\n"
      "cdi_spec_dirs = [\"/a\", \"/b\"]\n");
  CHECK(old.cdi == Engine::Cdi::on);
  CHECK(old.spec_dirs == Texts{"/a", "/b"});
  CHECK(old.warnings.empty());

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
  CHECK(newer.warnings.empty());
}

TEST_CASE("containerd does not read settings in the wrong table") {
  const EngineHost host;
  for (const auto* const text :
       {"version = 2\n[plugins.\"io.containerd.cri.v1.runtime\"]\nenable_cdi = false\n",
        "[plugins.cri.containerd]\nenable_cdi = false\n", "version = 2\nenable_cdi = false\n"}) {
    host.put("etc/containerd/config.toml", text);
    const auto engine = host.engine();
    CHECK(engine.cdi == Engine::Cdi::by_version);
    REQUIRE(engine.warnings.size() == 1);
    CHECK(engine.warnings[0].find("containerd ignores enable_cdi") != std::string::npos);
  }
}

TEST_CASE("containerd's imports count after the file, each with its own version") {
  const EngineHost host;
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

TEST_CASE("containerd's imports have imports") {
  const EngineHost host;
  const auto file = [](const std::string& imports, const std::string& dir) {
    return "version = 2\nimports = [" + imports +
           "]\n[plugins.\"io.containerd.grpc.v1.cri\"]\ncdi_spec_dirs = ['" + dir + "']\n";
  };
  host.put("etc/containerd/config.toml", file("'a/*.toml', 'b.toml'", "/config"));
  host.put("etc/containerd/a/1.toml", file("'more/2.toml', '../config.toml'", "/1"));
  host.put("etc/containerd/b.toml", file("'./a/1.toml'", "/b"));
  CHECK(host.engine().spec_dirs == Texts{"/b"});
  host.put("etc/containerd/a/more/2.toml", file("", "/2"));
  CHECK(host.engine().spec_dirs == Texts{"/2"});
}

TEST_CASE("Advice names the file whose setting counts") {
  const EngineHost host;
  const std::string table = "[plugins.\"io.containerd.cri.v1.runtime\"]\n";
  host.put("etc/containerd/config.toml",
           "version = 3\nimports = ['conf.d/*.toml']\n" + table + "enable_cdi = true\n");
  CHECK(host.engine().to_set_dirs ==
        "cdi_spec_dirs in the CRI table of /etc/containerd/config.toml");
  host.put("etc/containerd/conf.d/50-lab.toml",
           "version = 3\n" + table + "enable_cdi = false\ncdi_spec_dirs = ['/x']\n");
  const auto engine = host.engine();
  const std::string file =
      "/etc/containerd/conf.d/50-lab.toml, which is read after /etc/containerd/config.toml";
  CHECK(engine.cdi == Engine::Cdi::off);
  CHECK(engine.to_switch_on.find("of " + file + ";") != std::string::npos);
  CHECK(engine.to_set_dirs == "cdi_spec_dirs in the CRI table of " + file);
}

TEST_CASE("Advice for CRI-O and podman names the file whose setting counts") {
  const EngineHost host;
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/a\"]\n");
  const std::string crio = "cdi_spec_dirs in [crio.runtime] of /etc/crio/crio.conf";
  CHECK(host.engine().to_set_dirs == crio);
  host.put("etc/crio/crio.conf.d/60-lab.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/b\"]\n");
  host.put("etc/crio/crio.conf.d/70-other.conf", "[crio.image]\n");
  CHECK(host.engine().to_set_dirs ==
        "cdi_spec_dirs in [crio.runtime] of /etc/crio/crio.conf.d/60-lab.conf, which is read "
        "after /etc/crio/crio.conf");
  host.remove("etc/crio");
  host.put("etc/containers/containers.conf.d/9.conf", "[engine]\ncdi_spec_dirs = [\"/b\"]\n");
  host.put("etc/containers/containers.conf", "");
  CHECK(host.engine().to_set_dirs.find("9.conf, which is read after") != std::string::npos);
}

TEST_CASE("Advice for Docker names the member that switches CDI off") {
  const EngineHost host;
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": true}, "cdi-spec-dirs": [""]})");
  CHECK(host.engine().to_switch_on.starts_with("Remove cdi-spec-dirs from /etc/docker/daemon."));
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": false}, "cdi-spec-dirs": []})");
  CHECK(host.engine().to_switch_on.starts_with("Remove \"cdi\": false and cdi-spec-dirs from "));
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": false}})");
  CHECK(host.engine().to_switch_on.starts_with("Set \"features\": {\"cdi\": true} in "));
}

TEST_CASE("A file in the place of a directory of settings is like no settings") {
  const EngineHost host;
  host.put("usr/bin/containerd", "");
  host.put("etc/containerd", "");
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  CHECK(host.engine().warnings.empty());
}

TEST_CASE("containerd that only serves Docker reads no specs") {
  const EngineHost host;
  for (const std::string name :
       {"cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"}) {
    host.put("etc/containerd/config.toml", "disabled_plugins = [\"" + name + "\"]\n");
    CHECK(host.engines().empty());
  }
  host.put("etc/containerd/config.toml", "#disabled_plugins = [\"cri\"]\n");
  CHECK(host.engines().size() == 1);
  host.put("etc/containerd/config.toml", "disabled_plugins = [\"zfs\"]\n");
  CHECK(host.engines().size() == 1);
}

TEST_CASE("CRI-O's last file counts") {
  const EngineHost host;
  host.put("etc/crio/crio.conf.d/10-crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\n\"/b\",\n]\n");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = [\"/a\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/b"});
  host.put("etc/crio/crio.conf.d/20-x", "[crio.runtime]\n# cdi_spec_dirs = [\"/c\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/b"});
  host.remove("etc/crio/crio.conf");
  CHECK(host.engine().name == "cri-o");
}

TEST_CASE("Docker's file") {
  const EngineHost host;
  const auto with = [&](std::string_view text) {
    host.put("etc/docker/daemon.json", text);
    return host.engine();
  };
  CHECK(with(R"({"features": {"cdi": true}})").cdi == Engine::Cdi::on);
  CHECK(with(R"({"features": {"cdi": false}})").cdi == Engine::Cdi::off);
  CHECK(with(R"({"features": {"buildkit": true}})").cdi == Engine::Cdi::by_version);
  CHECK(with("").warnings.empty());
  const auto dirs = with(R"({"features": {"cdi": true}, "cdi-spec-dirs": ["/a", "/b"]})");
  CHECK(dirs.spec_dirs == Texts{"/a", "/b"});
  CHECK(with(R"({"features": {"cdi": true}, "cdi-spec-dirs": [""]})").cdi == Engine::Cdi::off);
}

TEST_CASE("Podman's files add to each other or take each other's place") {
  const EngineHost host;
  host.put("usr/bin/podman", "");
  host.put("usr/share/containers/containers.conf", "[engine]\ncdi_spec_dirs = [\"/a\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/a"});
  host.put("etc/containers/containers.conf", "[engine]\ncdi_spec_dirs = [\"/b\", {append=true}]\n");
  CHECK(host.engine().spec_dirs == Texts{"/a", "/b"});
  host.put("etc/containers/containers.conf.d/x.conf", "[engine]\ncdi_spec_dirs = [\"/c\"]\n");
  host.put("etc/containers/containers.conf.d/y", "[engine]\ncdi_spec_dirs = [\"/d\"]\n");
  CHECK(host.engine().spec_dirs == Texts{"/c"});
}

TEST_CASE("odd configuration is a warning") {
  const EngineHost host;
  host.put("etc/containerd/config.toml",
           "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_cdi = \"yes\"\n");
  CHECK(host.engine().warnings.size() == 1);
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/containerd/config.toml", "version = 2\nversion = two\n");
  REQUIRE(host.engine().warnings.size() == 1);
  CHECK(host.engine().warnings[0].starts_with("/etc/containerd/config.toml:2:"));
  host.put("etc/containerd/config.toml", "[" + std::string(500000, '.') + "]");
  REQUIRE(host.engine().warnings.size() == 1);
  CHECK(host.engine().warnings[0].starts_with("/etc/containerd/config.toml:1:130: "));  // a dot
  host.remove("etc/containerd");

  host.make("etc/crio/crio.conf");
  CHECK(host.engine().warnings.size() == 1);
  host.remove("etc/crio");
  host.put("etc/crio/crio.conf", "[crio.runtime]\ncdi_spec_dirs = \"/a\"\n");
  CHECK(host.engine().warnings.size() == 1);
  CHECK(host.engine().spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});
  host.remove("etc/crio");

  for (const auto* const text : {"{", "[]", "1", "null", R"({"cdi-spec-dirs": "/a"})",
                                 R"({"cdi-spec-dirs": [1]})", "\xff"}) {
    CAPTURE(text);
    host.put("etc/docker/daemon.json", text);
    CHECK(host.engine().warnings.size() == 1);
    CHECK(host.engine().spec_dirs == Texts{"/etc/cdi", "/var/run/cdi"});
  }
  host.put("etc/docker/daemon.json", R"({"features": [1]})");
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/docker/daemon.json", R"({"features": {"cdi": "yes"}})");
  CHECK(host.engine().cdi == Engine::Cdi::by_version);
  host.put("etc/docker/daemon.json", std::string(100000, '['));
  CHECK(host.engine().warnings.size() == 1);
}
