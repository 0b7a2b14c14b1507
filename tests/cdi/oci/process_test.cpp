// Tests for include/cdi/oci/process.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/process.hpp>

#include "every_member.hpp"
#include "keys.hpp"

TEST_CASE("A process need not have cwd; cwd, user, uid and gid are always written") {
  CHECK(keys<cdi::oci::Process>() ==
        Keys{"terminal", "consoleSize", "user=", "args", "commandLine", "env",
             "cwd=", "capabilities", "rlimits", "noNewPrivileges", "apparmorProfile", "oomScoreAdj",
             "scheduler", "selinuxLabel", "ioPriority", "execCPUAffinity"});
  CHECK(keys<cdi::oci::User>() == Keys{"uid=", "gid=", "umask", "additionalGids", "username"});
  check_chapter<cdi::oci::Process>("/process");
  CHECK(*cdi::write_json(cdi::oci::Process{}, -1) == R"({"user":{"uid":0,"gid":0},"cwd":""})");
}

TEST_CASE("A process is read back from JSON as it was written") {
  for (
      const std::string text :
      {R"({"user":{"uid":0,"gid":0},"cwd":"/"})",
       R"({"terminal":true,"user":{"uid":4294967295,"gid":7,"umask":0,"additionalGids":[0,9],)"
       R"("username":"u"},"args":["sh",""],"env":["A=1","B"],"cwd":"/w","noNewPrivileges":true})"}) {
    CAPTURE(text);
    const auto process = cdi::read_json<cdi::oci::Process>(text);
    REQUIRE(process);
    CHECK(*cdi::write_json(*process, -1) == text);
  }
}

TEST_CASE("A process without cwd is read, like with the Go types") {
  const auto process = cdi::read_json<cdi::oci::Process>(R"({"args":["sh"]})");
  REQUIRE(process);
  CHECK(process->cwd.empty());
  CHECK(*cdi::write_json(*process, -1) == R"({"user":{"uid":0,"gid":0},"args":["sh"],"cwd":""})");
}

TEST_CASE("Ids out of range are refused") {
  for (const std::string id :
       {"-1", "4294967296", "1.5", "\"0\"", "true", "99999999999999999999999999"}) {
    CAPTURE(id);
    CHECK_FALSE(cdi::read_json<cdi::oci::User>(R"({"uid":)" + id + R"(,"gid":0})"));
    CHECK_FALSE(cdi::read_json<cdi::oci::User>(R"({"uid":0,"gid":)" + id + "}"));
    CHECK_FALSE(
        cdi::read_json<cdi::oci::User>(R"({"uid":0,"gid":0,"additionalGids":[)" + id + "]}"));
  }
}
