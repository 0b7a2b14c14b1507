// Tests for include/cdi/oci/mount.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/mount.hpp>

#include "every_member.hpp"
#include "keys.hpp"

static_assert(cdi::Described<cdi::oci::Mount>);
static_assert(cdi::Described<cdi::oci::MountView>);
static_assert(cdi::Described<cdi::oci::IdMapping>);

TEST_CASE("A mount has the members of config.md, of which destination is required") {
  CHECK(keys<cdi::oci::Mount>() ==
        Keys{"destination!", "type", "source", "options", "uidMappings", "gidMappings"});
  CHECK(keys<cdi::oci::IdMapping>() == Keys{"containerID!", "hostID!", "size!"});
}

TEST_CASE("A mount is read back from JSON as it was written") {
  for (const std::string text :
       {R"({"destination":"/c"})", R"({"destination":""})",
        R"({"destination":"/c","type":"bind","source":"/h","options":["ro",""],)"
        R"("uidMappings":[{"containerID":0,"hostID":4294967295,"size":1}],)"
        R"("gidMappings":[{"containerID":1,"hostID":2,"size":3},)"
        R"({"containerID":0,"hostID":0,"size":0}]})"}) {
    CAPTURE(text);
    const auto mount = cdi::read_json<cdi::oci::Mount>(text);
    REQUIRE(mount);
    CHECK(*cdi::write_json(*mount, -1) == text);
  }
}

TEST_CASE("A mount without destination, or with ids out of range, is refused") {
  for (const std::string text :
       {"{}", R"({"source":"/h"})", R"({"destination":[]})",
        R"({"destination":"/c","uidMappings":[{"containerID":0,"hostID":0}]})",
        R"({"destination":"/c","uidMappings":[null]})",
        R"({"destination":"/c","gidMappings":[{"containerID":0,"hostID":-1,"size":1}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(cdi::read_json<cdi::oci::Mount>(text));
  }
  check_chapter<cdi::oci::Mount>("/mounts/0");
}
