// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/text/json.hpp>

namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

static_assert(cdi::JsonDocument<Json>);
static_assert(cdi::JsonDocument<Ordered>);
static_assert(!cdi::JsonDocument<std::string>);
static_assert(!cdi::JsonDocument<cdi::Spec>);

cdi::ContainerEdits edits_of(std::string_view text) {
  auto edits = cdi::read_json<cdi::ContainerEdits>(text);
  REQUIRE_MESSAGE(edits, (edits ? "" : to_string(edits.error())));
  return *std::move(edits);
}

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
  // 1e400 is no number of nlohmann's: written as a text here.
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

TEST_CASE_TEMPLATE("A touched part of a wrong kind is refused by its path, and nothing is changed",
                   Target, Json, Ordered) {
  // What `%` stands for, which is to be refused, in a part that the edits touch.
  struct {
    std::string edits;
    std::string where;
    std::string document;
    std::string wrong;
  } const rows[] = {
      {env, "process", R"({"process":%})", R"([],"",0,true)"},
      {env, "process.env", R"({"process":{"env":%}})", R"({},"A=0",0,false)"},
      {env, "process.env[1]", R"({"process":{"env":["A=0",%]}})", R"(null,{},[],1)"},
      {device, "process", R"({"process":%})", R"([],"",0)"},
      {device, "process.user", R"({"process":{"user":%}})", R"([],"root",0)"},
      {device, "process.user.uid", R"({"process":{"user":{"uid":%}}})",
       R"("0",-1,1.5,1.0,4294967296,18446744073709551616,true,{})"},
      {device, "process.user.gid", R"({"process":{"user":{"gid":%}}})", R"("0",-1,4294967296)"},
      {device, "linux", R"({"linux":%})", R"([],"",0)"},
      {device, "linux.devices", R"({"linux":{"devices":%}})", R"({},"",0)"},
      {device, "linux.devices[0]", R"({"linux":{"devices":[%]}})", R"(null,[],"/d",0)"},
      {device, "linux.devices[1].path", R"({"linux":{"devices":[{},{"path":%}]}})", R"({},[],0)"},
      {device, "linux.resources", R"({"linux":{"resources":%}})", R"([],"",0)"},
      {device, "linux.resources.devices", R"({"linux":{"resources":{"devices":%}}})", R"({},0)"},
      {net, "linux", R"({"linux":%})", R"([],0)"},
      {net, "linux.netDevices", R"({"linux":{"netDevices":%}})", R"([],"",0)"},
      {mount, "mounts", R"({"mounts":%})", R"({},"",0)"},
      {mount, "mounts[1]", R"({"mounts":[{},%]})", R"(null,[],"",0)"},
      {mount, "mounts[0].destination", R"({"mounts":[{"destination":%}]})", R"({},[],0)"},
      {mount, "linux", R"({"linux":%})", R"([],0)"},
      {mount, "linux.namespaces", R"({"linux":{"namespaces":%}})", R"({},"user",0)"},
      {mount, "linux.namespaces[0]", R"({"linux":{"namespaces":[%]}})", R"(null,"user",[])"},
      {mount, "linux.namespaces[0].type", R"({"linux":{"namespaces":[{"type":%}]}})", R"({},0)"},
      {hook, "hooks", R"({"hooks":%})", R"([],"",0)"},
      {hook, "hooks.poststop", R"({"hooks":{"poststop":%}})", R"({},"",0)"},
      {hook, "hooks.poststop[0]", R"({"hooks":{"poststop":[%]}})", R"(null,[],"/h")"},
      {rdt, "linux", R"({"linux":%})", R"([],"",0)"},
      {gids, "process", R"({"process":%})", R"([],0)"},
      {gids, "process.user", R"({"process":{"user":%}})", R"([],0)"},
      {gids, "process.user.additionalGids", R"({"process":{"user":{"additionalGids":%}}})",
       R"({},"",7)"},
      {gids, "process.user.additionalGids[1]", R"({"process":{"user":{"additionalGids":[7,%]}}})",
       R"(null,-1,4294967296,1.5,"7",[])"},
      {env, "", "%", R"(null,[],"",0,-1,1.5,true)"},
  };
  for (const auto& row : rows) {
    const auto kinds = "[" + row.wrong + "]";
    for (const auto& value : Json::parse(kinds)) {
      const auto hole = row.document.find('%');
      auto target = Target::parse(row.document.substr(0, hole) + value.dump() +
                                  row.document.substr(hole + 1));
      CAPTURE(target);
      CAPTURE(row.edits);
      const auto copy = target;
      const auto done = edits_of(row.edits).apply(target);
      REQUIRE_FALSE(done);
      CHECK(done.error().code == cdi::Errc::schema);
      CHECK(done.error().where == row.where);
      CHECK(target == copy);
    }
  }
}

TEST_CASE_TEMPLATE("Parts that the edits do not touch are not looked at", Target, Json, Ordered) {
  const char* const user = R"({"process":{"user":"x"}})";
  const char* const ids = R"({"process":{"user":{"uid":-1,"gid":"x"}}})";
  struct {
    std::string document;
    std::vector<std::string> some;
  } const rows[] = {
      {R"({"process":1})", {net, mount, hook, rdt}},
      {R"({"process":{"env":1}})", {device, net, mount, hook, rdt, gids}},
      {R"({"process":{"args":1,"user":{"username":1}}})", {env, device, gids}},
      {R"({"process":{"user":{"additionalGids":1}}})", {env, device}},
      {user, {net, mount, hook, rdt}},
      {ids, {env, gids}},
      {R"({"linux":1})", {env, hook, gids}},
      {R"({"linux":{"devices":1,"resources":1}})", {net, mount, rdt}},
      {R"({"linux":{"netDevices":1}})", {device, mount, rdt}},
      {R"({"linux":{"namespaces":1}})", {device, net, rdt}},
      {R"({"linux":{"intelRdt":1}})", {device, net, mount, rdt}},
      {R"({"mounts":1})", {env, device, net, hook, rdt, gids}},
      {R"({"hooks":1})", {env, device, net, mount, rdt, gids}},
      {R"({"hooks":{"prestart":1}})", {hook}},
      {R"({"hooks":{"poststop":[{"path":1}]}})", {hook}},
  };
  for (const auto& row : rows) {
    for (const auto& edits : row.some) {
      CAPTURE(row.document);
      CAPTURE(edits);
      auto target = Target::parse(row.document);
      const auto done = edits_of(edits).apply(target);
      CHECK_MESSAGE(done, (done ? "" : to_string(done.error())));
    }
  }
}

TEST_CASE_TEMPLATE("The message names the kind that was found", Target, Json, Ordered) {
  struct {
    std::string document;
    std::string message;
  } const rows[] = {
      {R"({"mounts":{}})", "mounts: expected an array in the OCI spec, not an object"},
      {R"({"mounts":"x"})", "mounts: expected an array in the OCI spec, not text"},
      {R"({"mounts":true})", "mounts: expected an array in the OCI spec, not true or false"},
      {R"({"mounts":[[]]})", "mounts[0]: expected an object in the OCI spec, not an array"},
      {R"({"mounts":[null]})", "mounts[0]: expected an object in the OCI spec, not null"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.document);
    auto target = Target::parse(row.document);
    const auto done = edits_of(mount).apply(target);
    REQUIRE_FALSE(done);
    CHECK(to_string(done.error()) == row.message);
  }
}
