// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/convert.hpp>
#include <cdi/fields.hpp>
#include <cdi/json.hpp>
#include <cdi/oci/spec.hpp>

namespace {

const std::string everything =
    R"({"ociVersion":"1.3.0","process":{"user":{"uid":1,"gid":2},"env":["A=1"],"cwd":"/"},)"
    R"("hostname":"h","mounts":[{"destination":"/c","source":"/h"}],)"
    R"("hooks":{"poststop":[{"path":"/h"}]},"annotations":{"a":"1","b":""},)"
    R"("linux":{"namespaces":[{"type":"user"}]}})";

}  // namespace

TEST_CASE("An OCI spec has its version, which is required, and the chapters that CDI edits") {
  std::vector<std::string> keys;
  cdi::every_field<cdi::oci::Spec>([&](const auto& field) {
    keys.emplace_back(field.key).append(field.when == cdi::required ? "!" : "");
    return true;
  });
  CHECK(keys == std::vector<std::string>{"ociVersion!", "process", "hostname", "mounts", "hooks",
                                         "annotations", "linux"});
}

TEST_CASE("An OCI spec survives the way through JSON") {
  for (const std::string& text : {std::string{R"({"ociVersion":"1.0.2"})"}, everything}) {
    CAPTURE(text);
    const auto spec = cdi::read_json<cdi::oci::Spec>(text);
    REQUIRE(spec);
    CHECK(*cdi::write_json(*spec, -1) == text);
  }
}

TEST_CASE("A view of an OCI spec says the same as the spec") {
  const auto spec = cdi::read_json<cdi::oci::Spec>(everything);
  REQUIRE(spec);
  const auto view = cdi::convert<cdi::oci::SpecView>(*spec);
  CHECK(*cdi::write_json(view, -1) == everything);
  CHECK(cdi::convert<cdi::oci::Spec>(view) == *spec);
}

TEST_CASE("The model refuses what it would lose") {
  const auto spec = cdi::read_json<cdi::oci::Spec>(R"({"ociVersion":"1.3.0","root":{}})");
  REQUIRE_FALSE(spec);
  CHECK(spec.error().where == "root");
  CHECK_FALSE(cdi::read_json<cdi::oci::Spec>("{}"));
}
