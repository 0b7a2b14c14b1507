// The findings about specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/doctor/specs.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cdi/text/document.hpp>

#include "diagnosis.hpp"

using namespace prepare;

TEST_CASE("specs that are missing, of another host, or name missing nodes") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  host.put("proc/sys/kernel/random/boot_id", "b1\n");
  auto found = inventory();
  found.driver_version = "570.1";
  const auto on_specs = [&] {
    return diagnose(host, {found});
  };
  CHECK(is_only(on_specs(), "specs", Level::fault, {"no spec for nvidia.com/gpu", "write"}));

  host.put("var/run/cdi/a.json", spec_of_gpu(195, "{}"));  // of another program, and correct
  CHECK(about(on_specs(), "specs").empty());
  host.put("var/run/cdi/a.json", spec_of_gpu(196, "{}"));
  CHECK(is_only(on_specs(), "specs", Level::fault,
                {"/var/run/cdi/a.json:1:131: devices[0].containerEdits.deviceNodes[0]: host device "
                 "\"/dev/nvidia0\" is c 195:0, not c 196:0",
                 "program that wrote"}));

  const std::string right = R"({"cdi-publisher/owner": "cdi-prepare",
                                "cdi-prepare/driver-version": "570.1", "cdi-prepare/boot-id": "b1",
                                "cdi-prepare/gpus": "GPU-1 at 0000:17:00.0"})";
  host.put("var/run/cdi/a.json", spec_of_gpu(195, right));
  CHECK(about(on_specs(), "specs").empty());
  for (const auto& [key, value] : {std::pair{"driver-version", "535.1"}, std::pair{"boot-id", "b0"},
                                   std::pair{"gpus", "GPU-2 at 0000:17:00.0"}}) {
    host.put("var/run/cdi/a.json",
             spec_of_gpu(195, std::string{"{\"cdi-prepare/"} + key + "\": \"" + value + "\", " +
                                  our_owner + "}"));
    CHECK(is_only(on_specs(), "specs", Level::fault, {key, value, "cdi-prepare write", "diff"}));
  }

  // Nothing to hand out needs no spec.
  host.remove("var/run/cdi/a.json");
  found.gpus[0].whole.left_out = Problem{Fault::excluded_by_driver, "excluded"};
  CHECK(about(on_specs(), "specs").empty());
}

TEST_CASE("the GPUs of a spec that was written with --nvml or --visible-only are not compared") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  for (const std::string option : {"nvml", "visible-only"}) {
    const auto put = [&](const std::string& options) {
      host.put(
          "var/run/cdi/a.json",
          spec_of_gpu(195, R"({"cdi-prepare/gpus": "GPU-2", "cdi-prepare/options": "profile=all)" +
                               options + "\", " + our_owner + "}"));
      return about(diagnose(host, {inventory()}), "specs");
    };
    CHECK(put(" " + option).empty());
    CHECK(has_fault(put("")));
    CHECK(has_fault(put(" max-version=" + option)));
  }
}

TEST_CASE("a renamed spec that cannot record its GPUs belongs to the kind with its nodes") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n/dev/dri/card0 c 226 0 0666 0 0\n");
  auto other = inventory();
  other.kind = "drm.local/gpu";
  other.gpus.front().whole.nodes.front().path = "/dev/dri/card0";
  const std::string owner = "# cdi-publisher/owner: cdi-prepare\n";
  const std::string spec =
      "cdiVersion: 0.5.0\nkind: acme.com/gpu\ndevices:\n- name: gpu\n  containerEdits:\n"
      "    deviceNodes:\n    - {path: /dev/nvidia0}\n";
  host.put("var/run/cdi/a.yaml", owner + "# cdi-prepare/options: kind=acme.com/gpu\n" + spec);
  CHECK(is_only(diagnose(host, {inventory(), other}), "specs", Level::fault,
                {"no spec for drm.local/gpu"}));
  host.put("var/run/cdi/a.yaml", owner + "# cdi-prepare/options: profile=all\n" + spec);
  CHECK(is_only(diagnose(host, {inventory()}), "specs", Level::fault,
                {"no spec for nvidia.com/gpu"}));
}

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
                 "engines use /var/run/cdi/nvidia.com-gpu.yaml"}));
  CHECK_FALSE(has_fault(findings));
  CHECK(is_only(diagnose(host, {}, {.spec_dirs = {"/run/cdi", "/etc/cdi"}}), "specs", Level::note,
                {"engines use /etc/cdi/nvidia.yaml"}));
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

TEST_CASE("a spec may be as large as the library reads") {
  const Host host;
  host.put("dev.tab", "/dev/nvidia0 c 195 0 0666 0 0\n");
  auto text = spec_of_gpu(195, "{}");
  text.resize(cdi::Limits{}.bytes, ' ');
  host.put("run/cdi/a.json", text);
  CHECK(about(diagnose(host, {inventory()}), "specs").empty());
  host.put("run/cdi/a.json", text + " ");
  CHECK(has_fault(about(diagnose(host), "specs")));
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

TEST_CASE("what the spec of another program needs, and this host does not have, is a fault") {
  const Host host;
  host.put("usr/lib/libacme.so.2", "");
  const auto put = [&](const char* mounts) {
    host.put("etc/cdi/acme.yaml",
             fmt::format("cdiVersion: 0.5.0\nkind: acme.com/nic\ndevices:\n- name: a\n  "
                         "containerEdits:\n    mounts:\n{}",
                         mounts));
  };
  put("    - {hostPath: /usr/lib/libacme.so.2, containerPath: /a, options: [bind]}\n");
  CHECK(about(diagnose(host), "specs").empty());
  put("    - {hostPath: /usr/lib/libacme.so.1, containerPath: /a, options: [bind]}\n"
      "    - {hostPath: /usr/lib/libacme.so.2, containerPath: /b}\n");
  CHECK(is_only(diagnose(host), "specs", Level::fault,
                {"/etc/cdi/acme.yaml:7:7: devices[0].containerEdits.mounts[0]: mount source "
                 "\"/usr/lib/libacme.so.1\" is missing",
                 "program that wrote"}));
  put("    - {hostPath: /usr/lib/libacme.so.1, containerPath: /a, options: [bind]}\n"
      "    - {hostPath: /usr/lib/libacme.so.3, containerPath: /b, options: [bind]}\n");
  CHECK(is_only(diagnose(host), "specs", Level::fault, {"is missing; and 1 more"}));
  put("    - {hostPath: /usr/lib/libacme.so.2, containerPath: /b}\n");
  CHECK(is_only(diagnose(host), "specs", Level::note, {"neither \"bind\" nor \"rbind\""}));
}
