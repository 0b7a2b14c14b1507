// Tests for include/cdi/oci/linux.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/linux.hpp>

#include "every_member.hpp"
#include "keys.hpp"

namespace {}  // namespace

TEST_CASE("The Linux part has the members of config-linux.md") {
  check_chapter<cdi::oci::Linux>("/linux");
  CHECK(keys<cdi::oci::LinuxDevice>() ==
        Keys{"path!", "type!", "major=", "minor=", "fileMode", "uid", "gid"});
  CHECK(keys<cdi::oci::LinuxDeviceCgroup>() == Keys{"allow!", "type", "major", "minor", "access"});
  CHECK(keys<cdi::oci::LinuxNamespace>() == Keys{"type!", "path"});
  CHECK(keys<cdi::oci::LinuxNetDevice>() == Keys{"name"});
  CHECK(keys<cdi::oci::LinuxIntelRdt>() ==
        Keys{"closID", "schemata", "l3CacheSchema", "memBwSchema", "enableMonitoring"});
}

TEST_CASE("The Linux part is read back from JSON as it was written") {
  for (const std::string text : {
           R"({})",
           R"({"resources":{},"intelRdt":{}})",
           R"({"devices":[{"path":"/d","type":"c","major":0,"minor":0},)"
           R"({"path":"/d","type":"b","major":-1,"minor":9223372036854775807,"fileMode":0,)"
           R"("uid":0,"gid":4294967295}]})",
           R"({"resources":{"devices":[{"allow":false},{"allow":true,"type":"c","major":0,)"
           R"("minor":-1,"access":"rwm"}]},"namespaces":[{"type":"user"},)"
           R"({"type":"network","path":"/n"}],"netDevices":{"eth0":{},"eth1":{"name":"n"}},)"
           R"("intelRdt":{"closID":"c","schemata":["L3:0=f"],"l3CacheSchema":"a",)"
           R"("memBwSchema":"b","enableMonitoring":true}})",
       }) {
    CAPTURE(text);
    const auto part = cdi::read_json<cdi::oci::Linux>(text);
    REQUIRE(part);
    CHECK(*cdi::write_json(*part, -1) == text);
  }
}

TEST_CASE("A rule for all numbers differs from a rule for number 0") {
  const auto all = cdi::read_json<cdi::oci::LinuxDeviceCgroup>(R"({"allow":true})");
  const auto zero =
      cdi::read_json<cdi::oci::LinuxDeviceCgroup>(R"({"allow":true,"major":0,"minor":0})");
  REQUIRE(all);
  REQUIRE(zero);
  CHECK_FALSE(all->major);
  CHECK(zero->major == 0);
  CHECK(*all != *zero);
}
