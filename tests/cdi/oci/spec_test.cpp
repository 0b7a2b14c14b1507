// Tests for include/cdi/oci/spec.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/copy_as.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/spec.hpp>

#include "every_member.hpp"

namespace {

const std::string everything =
    R"({"ociVersion":"1.3.0","process":{"user":{"uid":1,"gid":2},"env":["A=1"],"cwd":"/"},)"
    R"("hostname":"h","mounts":[{"destination":"/c","source":"/h"}],)"
    R"("hooks":{"poststop":[{"path":"/h"}]},"annotations":{"a":"1","b":""},)"
    R"("linux":{"namespaces":[{"type":"user"}]}})";

}  // namespace

TEST_CASE("An OCI spec has its version, which is required, and the chapters of OCI 1.3.0") {
  std::vector<std::string> keys;
  cdi::every_field<cdi::oci::Spec>([&](const auto& field) {
    keys.emplace_back(field.key).append(field.when == cdi::required ? "!" : "");
    return true;
  });
  CHECK(keys == std::vector<std::string>{"ociVersion!", "process", "root", "hostname", "domainname",
                                         "mounts", "hooks", "annotations", "linux", "solaris",
                                         "windows", "vm", "zos", "freebsd"});
}

TEST_CASE("An OCI spec is read back from JSON as it was written") {
  for (const std::string& text : {std::string{R"({"ociVersion":"1.0.2"})"}, everything}) {
    CAPTURE(text);
    const auto spec = cdi::read_json<cdi::oci::Spec>(text);
    REQUIRE(spec);
    CHECK(*cdi::write_json(*spec, -1) == text);
  }
}

TEST_CASE("A view of an OCI spec is written like the spec") {
  const auto spec = cdi::read_json<cdi::oci::Spec>(everything);
  REQUIRE(spec);
  const auto view = cdi::copy_as<cdi::oci::SpecView>(*spec);
  CHECK(*cdi::write_json(view, -1) == everything);
  CHECK(cdi::copy_as<cdi::oci::Spec>(view) == *spec);
}

TEST_CASE("Configs with every member, of runc and of a pod are written as they were read") {
  check_chapter<cdi::oci::Spec>("");
  for (const std::string name : {"every-member", "runc-default", "k8s-pod"}) {
    CAPTURE(name);
    const auto text = read_data("oci/" + name + ".json");
    const auto spec = cdi::read_json<cdi::oci::Spec>(text);
    REQUIRE_MESSAGE(spec, to_string(spec.error()));
    CHECK(cdi::to_json_value<nlohmann::json>(*spec) == nlohmann::json::parse(text));
    const auto view = cdi::copy_as<cdi::oci::SpecView>(*spec);
    CHECK(cdi::copy_as<cdi::oci::Spec>(view) == *spec);
  }
}

TEST_CASE("Unknown members are kept wherever they are") {
  const std::string text =
      R"({"ociVersion":"1.4.0","process":{"user":{"uid":0,"gid":0,"homeDir":"/h"},"cwd":"/",)"
      R"("niceness":[1]},"linux":{"devices":[{"path":"/d","type":"c","major":1,"minor":2,)"
      R"("label":"x"}],"netDevices":{"eth0":{"mtu":1500}}},"wasm":{"engine":{"name":"w"}}})";
  const auto spec = cdi::read_json<cdi::oci::Spec>(text);
  REQUIRE(spec);
  CHECK(*cdi::write_json(*spec, -1) == text);
}

TEST_CASE("A required list may be null, as Go writes an empty one") {
  const auto spec = cdi::read_json<cdi::oci::Spec>(
      R"({"ociVersion":"1.3.0","process":{"cwd":"/"},"linux":{"seccomp":{"defaultAction":"a",)"
      R"("syscalls":[{"names":null,"action":"b"}]}},"windows":{"layerFolders":null}})");
  REQUIRE_MESSAGE(spec, to_string(spec.error()));
  CHECK(*cdi::write_json(*spec, -1) ==
        R"({"ociVersion":"1.3.0","process":{"user":{"uid":0,"gid":0},"cwd":"/"},)"
        R"("linux":{"seccomp":{"defaultAction":"a","syscalls":[{"names":[],"action":"b"}]}},)"
        R"("windows":{"layerFolders":[]}})");
  CHECK_FALSE(cdi::read_json<cdi::oci::Spec>(R"({"ociVersion":null})"));
}

TEST_CASE("A member of the wrong type is refused, with path and position") {
  const auto spec =
      cdi::read_json<cdi::oci::Spec>("{\"ociVersion\":\"1.3.0\",\n\"root\":{\"path\":[]}}");
  REQUIRE_FALSE(spec);
  CHECK(to_string(spec.error()) == "line 2:16: root.path: expected text, not a list");
  CHECK_FALSE(cdi::read_json<cdi::oci::Spec>("{}"));
}

TEST_CASE("A number, true or false is not read as text") {
  struct {
    std::string json;
    std::string error;
  } const rows[] = {
      {R"({"ociVersion":1.0})", "line 1:15: ociVersion: expected text, not 1.0: put it in quotes"},
      {R"({"ociVersion":"1.3.0","hostname":true})",
       "line 1:34: hostname: expected text, not true: put it in quotes"},
      {R"({"ociVersion":"1.3.0","process":{"args":["a",-7]}})",
       "line 1:46: process.args[1]: expected text, not -7: put it in quotes"},
      {R"({"ociVersion":"1.3.0","annotations":{"a":1e3}})",
       "line 1:42: annotations.a: expected text, not 1e3: put it in quotes"},
      {R"({"ociVersion":"1.3.0","linux":{"netDevices":{"eth0":{"name":23}}}})",
       "line 1:61: linux.netDevices.eth0.name: expected text, not 23: put it in quotes"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.json);
    const auto spec = cdi::read_json<cdi::oci::Spec>(row.json);
    REQUIRE_FALSE(spec);
    CHECK(spec.error().code == cdi::Errc::schema);
    CHECK(to_string(spec.error()) == row.error);
  }
  const std::string quoted = R"({"ociVersion":"1.0","hostname":"true","annotations":{"a":"7"}})";
  CHECK(*cdi::write_json(*cdi::read_json<cdi::oci::Spec>(quoted), -1) == quoted);
}

TEST_CASE("The root file system is written as it was read") {
  check_chapter<cdi::oci::Root>("/root");
}

TEST_CASE("A root file system has a path") {
  CHECK(required_keys<cdi::oci::Root>() == "path");
}
