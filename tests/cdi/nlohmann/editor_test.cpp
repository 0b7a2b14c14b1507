// Tests for include/cdi/nlohmann/editor.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/nlohmann/models.hpp>

#include "../../support/edits_of.hpp"

namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

static_assert(cdi::JsonDocument<Json>);
static_assert(cdi::JsonDocument<Ordered>);
static_assert(!cdi::JsonDocument<std::string>);
static_assert(!cdi::JsonDocument<cdi::Spec>);

const std::string env = R"({"env":["A=1"]})";
const std::string device = R"({"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":0}]})";
const std::string net = R"({"netDevices":[{"hostInterfaceName":"e","name":"n"}]})";
const std::string mount = R"({"mounts":[{"hostPath":"/h","containerPath":"/c"}]})";
const std::string hook = R"({"hooks":[{"hookName":"poststop","path":"/h"}]})";
const std::string rdt = R"({"intelRdt":{"closID":"c"}})";
const std::string gids = R"({"additionalGids":[7]})";
const std::string all_edits[] = {env, device, net, mount, hook, rdt, gids};

}  // namespace

TEST_CASE("Members that the library does not know keep their values and places at every level") {
  const std::string before =
      R"({"x1":[1.50,1e400],"process":{"x2":null,"user":{"gid":2,"x3":{},"uid":1,)"
      R"("additionalGids":[9]},"env":["B=1","A=0","C"],"cwd":"/","apparmorProfile":""},"x4":"",)"
      R"("mounts":[{"x5":1,"destination":"/z"},{"destination":"/c","x6":1},{"destination":"/y",)"
      R"("options":[],"x7":[{}]}],"hooks":{"x8":[1],"poststop":[{"x9":0,"path":"/o","env":[]}]},)"
      R"("linux":{"x10":0,"namespaces":[{"type":"pid","x11":0}],"resources":{"memory":{"limit":-1},)"
      R"("devices":[{"x12":0,"allow":false}],"x13":18446744073709551615},"devices":[{"x14":0,)"
      R"("path":"/e"},{"path":"/d","x15":0}],"netDevices":{"b":{"x16":0},"e":{"x17":0}},)"
      R"("intelRdt":{"closID":"x18"},"seccomp":{"x19":[]}},"ociVersion":"9.9","x20":false})";
  const std::string after =
      R"({"x1":[1.50,1e400],"process":{"x2":null,"user":{"gid":2,"x3":{},"uid":1,)"
      R"("additionalGids":[9,7]},"env":["B=1","A=1","C"],"cwd":"/","apparmorProfile":""},"x4":"",)"
      R"("mounts":[{"x5":1,"destination":"/z"},{"destination":"/y","options":[],"x7":[{}]},)"
      R"({"destination":"/c","source":"/h"}],"hooks":{"x8":[1],"poststop":[{"x9":0,"path":"/o",)"
      R"("env":[]},{"path":"/h"}]},"linux":{"x10":0,"namespaces":[{"type":"pid","x11":0}],)"
      R"("resources":{"memory":{"limit":-1},"devices":[{"x12":0,"allow":false},{"allow":true,)"
      R"("type":"c","major":5,"minor":0,"access":"rwm"}],"x13":18446744073709551615},"devices":[)"
      R"({"x14":0,"path":"/e"},{"path":"/d","type":"c","major":5,"minor":0,"fileMode":0,"uid":1,)"
      R"("gid":2}],"netDevices":{"b":{"x16":0},"e":{"name":"n"}},"intelRdt":{"closID":"c"},)"
      R"("seccomp":{"x19":[]}},"ociVersion":"9.9","x20":false})";
  // 1e400 is not a number of nlohmann's: written as a text here.
  const auto parse = [](std::string text) {
    text.replace(text.find("1e400"), 5, "\"1e400\"");
    return Ordered::parse(text);
  };
  auto ordered = parse(before);
  auto sorted = Json::parse(ordered.dump());
  for (const auto& edits : all_edits) {
    CAPTURE(edits);
    CHECK(edits_of(edits).apply(ordered));
    CHECK(edits_of(edits).apply(sorted));
  }
  CHECK(ordered.dump() == parse(after).dump());
  CHECK(sorted == Json::parse(parse(after).dump()));
}

TEST_CASE("Mounts that are sorted take their unknown members along") {
  auto target =
      Ordered::parse(R"({"mounts":[{"destination":"/a/b","x":1},{"destination":"/a","x":2}]})");
  REQUIRE(edits_of(mount).apply(target));
  CHECK(target.dump() ==
        R"({"mounts":[{"destination":"/a","x":2},{"destination":"/c","source":"/h"},)"
        R"({"destination":"/a/b","x":1}]})");
}

TEST_CASE("Members that are null count as absent") {
  struct {
    std::string edits;
    std::string before;
    std::string after;
  } const rows[] = {
      {env, R"({"process":null})",
       R"({"process":{"user":{"uid":0,"gid":0},"cwd":"","env":["A=1"]}})"},
      {env, R"({"process":{"env":null,"cwd":"/"}})", R"({"process":{"env":["A=1"],"cwd":"/"}})"},
      {mount, R"({"mounts":null,"linux":null})",
       R"({"mounts":[{"destination":"/c","source":"/h"}],"linux":null})"},
      {mount, R"({"linux":{"namespaces":null},"mounts":[{"destination":null}]})",
       R"({"linux":{"namespaces":null},"mounts":[{"destination":null},)"
       R"({"destination":"/c","source":"/h"}]})"},
      {hook, R"({"hooks":null})", R"({"hooks":{"poststop":[{"path":"/h"}]}})"},
      {hook, R"({"hooks":{"poststop":null}})", R"({"hooks":{"poststop":[{"path":"/h"}]}})"},
      {rdt, R"({"linux":{"intelRdt":null}})", R"({"linux":{"intelRdt":{"closID":"c"}}})"},
      {net, R"({"linux":{"netDevices":null}})", R"({"linux":{"netDevices":{"e":{"name":"n"}}}})"},
      {gids, R"({"process":{"user":null}})",
       R"({"process":{"user":{"uid":0,"gid":0,"additionalGids":[7]}}})"},
      {gids, R"({"process":{"user":{"uid":null,"additionalGids":null}}})",
       R"({"process":{"user":{"uid":null,"additionalGids":[7]}}})"},
      {device, R"({"process":null,"linux":{"devices":null,"resources":null}})",
       R"({"process":null,"linux":{"devices":[{"path":"/d","type":"c","major":5,"minor":0,)"
       R"("fileMode":0}],"resources":{"devices":[{"allow":true,"type":"c","major":5,"minor":0,)"
       R"("access":"rwm"}]}}})"},
      {device,
       R"({"process":{"user":{"uid":null,"gid":3}},"linux":{"resources":{"devices":null}}})",
       R"({"process":{"user":{"uid":null,"gid":3}},"linux":{"resources":{"devices":[{"allow":true,)"
       R"("type":"c","major":5,"minor":0,"access":"rwm"}]},"devices":[{"path":"/d","type":"c",)"
       R"("major":5,"minor":0,"fileMode":0,"gid":3}]}})"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.edits);
    CAPTURE(row.before);
    auto target = Json::parse(row.before);
    auto ordered = Ordered::parse(row.before);
    CHECK(edits_of(row.edits).apply(target));
    CHECK(edits_of(row.edits).apply(ordered));
    CHECK(target == Json::parse(row.after));
    CHECK(Json::parse(ordered.dump()) == Json::parse(row.after));
  }
}
