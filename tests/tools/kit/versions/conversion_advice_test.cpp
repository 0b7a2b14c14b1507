// Tests for tools/kit/versions/conversion_advice.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/versions/conversion_advice.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/base/shell_word.hpp>

#include "spec_files.hpp"

using spec_files::engine;
using spec_files::file;
using spec_files::parse;

namespace {

const std::string monitored = "{intelRdt: {closID: c, enableCMT: true}}";

}  // namespace

TEST_CASE("The advice is the command that works, with what it loses, or a newer version") {
  const auto advice = [](std::string_view by, const cdi::LoadedSpec& loaded) {
    return tools::conversion_advice(engine(by), loaded);
  };
  CHECK(advice("podman@4.3.1", file("1.1.0")) ==
        "convert the file by running `cdi convert --in-place --backup --for podman@4.3.1 "
        "/etc/cdi/v.yaml`; or update podman "
        "to 6.0.0 or newer");
  CHECK(advice("podman@4.3.1", file("0.7.0", "{env: [A=1], additionalGids: [7]}")) ==
        "convert the file with losses by running `cdi convert --in-place --backup --lossy --for "
        "podman@4.3.1 "
        "/etc/cdi/v.yaml`, which loses devices[0].containerEdits.additionalGids; or update podman "
        "to 5.1.0 or newer");
  CHECK(advice("docker@29", file("1.1.0")).ends_with("; or update docker to 29.2.0 or newer"));
  CHECK(advice("kata-shim@4.1", file("1.1.0")).ends_with("; or update kata-shim"));
  // 25.0.17 reads 0.8.0, and 26.0.0 does not.
  CHECK(advice("docker@25", file("0.8.0")).ends_with("; or update docker to 27.4.0 or newer"));
  CHECK(advice("containerd@1.6.20", file("0.3.0")) ==
        "update containerd to 1.7.0 or newer, or start cdi-runtime in the place of runc: this "
        "version does not inject CDI devices");
  CHECK(advice("podman@4.3.1", file("0.7.0", "{additionalGids: [7]}"))
            .starts_with("update podman to 5.1.0 or newer, or change the file, which cannot be "
                         "converted for this version: 0.5.0 cannot express any"));
  CHECK(advice("podman@6.0", file("1.1.0", "{ENV: [A=1]}")) ==
        "convert the file by running `cdi convert --in-place --backup --for podman@6.0.0 "
        "/etc/cdi/v.yaml`");
  CHECK(advice("podman@6.0", file("1.1.0", "{env: [A=1]}\n---\n{}"))
            .ends_with("`, which loses its other documents"));
  const auto ends_early = parse(
      "{cdiVersion: 0.6.0, kind: v.com/gpu, devices: [{name: d, containerEdits: {env: [A=1]}}]}\n"
      "containerEdits: {env: [B=2]}",
      "/etc/cdi/v.yaml");
  CHECK(advice("podman@5.8", ends_early)
            .starts_with("change the file: text after the closing brace is not read: "));
}

TEST_CASE("The advice names an update only if it may help") {
  const auto advice = [](std::string_view by, const cdi::LoadedSpec& loaded) {
    return tools::conversion_advice(engine(by), loaded);
  };
  const std::string none = "{deviceNodes: [{path: /dev/d, permissions: none}]}";
  const std::string change = "change the file: it cannot be converted: ";
  // Each known version of podman refuses these; so does each version of docker, known or not.
  CHECK(advice("podman@99", file("0.6.0", none)).starts_with(change + "podman 99.0.0 refuses"));
  CHECK(advice("podman@4.3.1", file("1.1.0", none)).starts_with(change + "podman 4.3.1 refuses"));
  CHECK(advice("docker@29", file("1.1.0", none)).starts_with(change + "docker 29.0.0 refuses"));
  // 6.0.0 does not know the member any more.
  CHECK(advice("podman@5.3", file("1.0.0", monitored)) ==
        "convert the file by running `cdi convert --in-place --backup --for podman@5.3.0 "
        "/etc/cdi/v.yaml`; or update podman "
        "to a version from 5.5.0 to 5.8.6");
  CHECK(advice("podman@6.0", file("0.7.0", monitored)) ==
        "convert the file by running `cdi convert --in-place --backup --for podman@6.0.0 "
        "/etc/cdi/v.yaml`");
  CHECK(advice("docker@28", file("1.0.0", monitored))
            .ends_with("or update docker to a version from 28.1.0 to 29.1.5"));
  // No known version of kata-shim reads 1.1.0, in which the library reads a closID /.
  const auto root = file("1.1.0", "{env: [A=1], intelRdt: {closID: /}}");
  CHECK(advice("kata-shim@4.1", root).ends_with("; or update kata-shim"));
  // The engine reads the file, of which only the text has warnings.
  auto two = file("0.6.0", "{env: [A=1]}\n---\n{}");
  two.spec.annotations["a"] = std::string(300'000, 'x');
  CHECK(advice("podman@6.0", two).starts_with(change + "the annotations take 300001 bytes"));
  CHECK(advice("podman@4.3.1", two).starts_with("convert the file with losses by running "));
}

TEST_CASE("No update is advised if no version of the engine reads the file") {
  auto letter = file("0.3.0");
  letter.spec.kind = "v/gpu";
  const std::string why = " refuses a vendor or class of one character";
  CHECK(tools::conversion_advice(engine("podman@3.0"), letter)
            .starts_with("change the file, which no version of podman reads: podman "));
  CHECK(tools::conversion_advice(engine("podman@3.0"), letter).ends_with(why));
  CHECK(tools::conversion_advice(engine("podman@4.3"), letter) ==
        "change the file: it cannot be converted: podman 4.3.0" + why);
  CHECK(tools::conversion_advice({"unheard", {1, 0, 0}}, letter)
            .ends_with("reads: unheard 1.0.0 does not inject CDI devices"));
}

TEST_CASE("A path is one word of the advised command") {
  const auto path = "/a/it's $(x)`y\n.yaml";
  const auto out =
      tools::conversion_advice(engine("podman@4.3.1"), file("1.1.0", "{env: [A=1]}", {}, path));
  CHECK(out.find(" " + cdi::shell_word(path) + "`") != std::string::npos);
}

TEST_CASE("The advice on the file of an owner names the owner first") {
  const std::string annotations = "annotations: {cdi-publisher/owner: me}\n";
  const auto yaml = file("0.7.0", "{env: [A=1]}", annotations);
  CHECK(tools::conversion_advice(engine("podman@4.3.1"), yaml) ==
        "have its owner \"me\" write the file again in CDI 0.5.0 or older; or convert the file by "
        "running "
        "`cdi convert --in-place --backup --for podman@4.3.1 /etc/cdi/v.yaml`; or update podman to "
        "5.1.0 or newer");
  const auto json = file("0.7.0", "{env: [A=1]}", annotations, "/etc/cdi/v.json");
  CHECK(
      tools::conversion_advice(engine("podman@4.3.1"), json) ==
      "update podman to 5.1.0 or newer, or have its owner \"me\" change the file, which cannot be "
      "converted for this version: JSON of CDI version 0.5.0 cannot record its owner");
  CHECK(tools::conversion_advice(engine("podman@4.9"), json).find("cdi convert") !=
        std::string::npos);
  CHECK(tools::conversion_advice(engine("podman@4.3.1"), json, "me write --for podman@4.3.1") ==
        "have its owner \"me\" write the file again by running `me write --for podman@4.3.1`; or "
        "update "
        "podman to 5.1.0 or newer");
  const auto odd = file("0.6.0", "{ENV: [A=1]}", annotations);
  CHECK(tools::conversion_advice(engine("podman@5.8"), odd)
            .starts_with(
                "have its owner \"me\" write the file again; or convert the file by running `"));
}

TEST_CASE("A device that a conversion removes is named, and an update comes first") {
  const auto loaded = parse(
      "cdiVersion: 0.5.0\nkind: v.com/gpu\ndevices:\n"
      "- name: \"0\"\n  containerEdits: {env: [A=1]}\n"
      "- name: gpu1\n  containerEdits: {env: [A=1]}\n",
      "/etc/cdi/v.yaml");
  CHECK(tools::conversion_advice(engine("podman@4.1"), loaded) ==
        "update podman to 4.3.0 or newer; or convert the file with losses by running `cdi convert "
        "--in-place --backup --lossy --for podman@4.1.0 /etc/cdi/v.yaml`, which loses device "
        "\"0\"");
}

TEST_CASE("The owner writes only for an engine that reads what can be written") {
  const auto loaded = file("0.7.0", "{env: [A=1]}", "annotations: {cdi-publisher/owner: me}\n");
  CHECK(tools::conversion_advice(engine("podman@4.0"), loaded, "me write --for podman@4.0.0")
            .starts_with("update podman to 5.1.0 or newer, or have its owner \"me\" change"));
}

TEST_CASE("The owner is told a version only if the file has a newer version") {
  const auto odd = file("0.5.0", "{ENV: [A=1]}", "# cdi-publisher/owner: me\n");
  CHECK(tools::conversion_advice(engine("containerd@2.4"), odd).find(" or older") ==
        std::string::npos);
}
