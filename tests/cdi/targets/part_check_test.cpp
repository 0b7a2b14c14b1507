// Tests for include/cdi/targets/part_check.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/text/json.hpp>

#include "../../support/edits_of.hpp"

namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;
using Text = cdi::ConfigJson;

template <class Target>
Target target_of(const std::string& text) {
  if constexpr (std::is_same_v<Target, Text>) {
    return {text};
  } else {
    return Target::parse(text);
  }
}

const std::string env = R"({"env":["A=1"]})";
const std::string device = R"({"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":0}]})";
const std::string net = R"({"netDevices":[{"hostInterfaceName":"e","name":"n"}]})";
const std::string mount = R"({"mounts":[{"hostPath":"/h","containerPath":"/c"}]})";
const std::string hook = R"({"hooks":[{"hookName":"poststop","path":"/h"}]})";
const std::string rdt = R"({"intelRdt":{"closID":"c"}})";
const std::string gids = R"({"additionalGids":[7]})";

}  // namespace

TEST_CASE_TEMPLATE("A touched part of a wrong kind is refused by its path, and nothing is changed",
                   Target, Json, Ordered, Text) {
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
      {mount, "linux.uidMappings", R"({"linux":{"uidMappings":%}})", R"({},"",0)"},
      {mount, "linux.gidMappings[1]", R"({"linux":{"gidMappings":[{},%]}})", R"(null,"",[])"},
      {hook, "hooks", R"({"hooks":%})", R"([],"",0)"},
      {hook, "hooks.poststop", R"({"hooks":{"poststop":%}})", R"({},"",0)"},
      {hook, "hooks.poststop[1].path", R"({"hooks":{"poststop":[{},{"path":%}]}})", R"({},0)"},
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
      auto target = target_of<Target>(row.document.substr(0, hole) + value.dump() +
                                      row.document.substr(hole + 1));
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

TEST_CASE_TEMPLATE("A member in another case, on the way to a touched part, is refused", Target,
                   Json, Ordered, Text) {
  // Go runtimes take it for the member: with a second one, they would not see all of the first.
  struct {
    std::string document;
    std::string where;  // of the member as it is written
    std::string name;   // as it is to be written
    std::vector<std::string> some;
  } const rows[] = {
      {R"({"Process":{}})", "Process", "process", {env, device, gids}},
      {R"({"Process":null})", "Process", "process", {env, device, gids}},
      {R"({"proce\u017F\u017f":{}})", "proce\u017F\u017F", "process", {env, device, gids}},
      {R"({"process":{},"PROCESS":{}})", "PROCESS", "process", {env, device, gids}},
      {R"({"process":[],"PROCESS":{}})", "PROCESS", "process", {env, device, gids}},
      {R"({"process":{"ENV":[]}})", "process.ENV", "env", {env}},
      {R"({"process":{"env":[],"Env":[]}})", "process.Env", "env", {env}},
      {R"({"process":{"User":{"uid":1}}})", "process.User", "user", {device, gids}},
      {R"({"process":{"u\u017Fer":{}}})", "process.u\u017Fer", "user", {device, gids}},
      {R"({"process":{"user":{"UID":1}}})", "process.user.UID", "uid", {device}},
      {R"({"process":{"user":{"Gid":1}}})", "process.user.Gid", "gid", {device}},
      {R"({"process":{"user":{"additionalGIDs":[1]}}})",
       "process.user.additionalGIDs",
       "additionalGids",
       {gids}},
      {R"({"LINUX":{}})", "LINUX", "linux", {device, net, mount, rdt}},
      {R"({"linu\u212A":{},"LinuX":{}})", "LinuX", "linux", {device, net, mount, rdt}},
      {R"({"linux":{"Devices":[]}})", "linux.Devices", "devices", {device}},
      {R"({"linux":{"devices":[{"path":"/a"},{"Path":"/b"}]}})",
       "linux.devices[1].Path",
       "path",
       {device}},
      {R"({"linux":{"devices":[{"path":"/a","PATH":"/b"}]}})",
       "linux.devices[0].PATH",
       "path",
       {device}},
      {R"({"linux":{"Resources":{}}})", "linux.Resources", "resources", {device}},
      {R"({"linux":{"resources":{"Devices":[]}}})", "linux.resources.Devices", "devices", {device}},
      {R"({"linux":{"NetDevices":{}}})", "linux.NetDevices", "netDevices", {net}},
      {R"({"linux":{"intelRDT":{}}})", "linux.intelRDT", "intelRdt", {rdt}},
      {R"({"linux":{"Namespaces":[]}})", "linux.Namespaces", "namespaces", {mount}},
      {R"({"linux":{"namespaces":[{"Type":"user"}]}})",
       "linux.namespaces[0].Type",
       "type",
       {mount}},
      {R"({"Mounts":[]})", "Mounts", "mounts", {mount}},
      {R"({"mount\u017f":[]})", "mount\u017F", "mounts", {mount}},
      {R"({"mounts":[{"Destination":"/c"}]})", "mounts[0].Destination", "destination", {mount}},
      {R"({"Hooks":{}})", "Hooks", "hooks", {hook}},
      {R"({"hoo\u212as":{}})", "hoo\u212As", "hooks", {hook}},
      {R"({"hooks":{"PostStop":[]}})", "hooks.PostStop", "poststop", {hook}},
      {R"({"hooks":{"poststop":[{"Path":"/h"}]}})", "hooks.poststop[0].Path", "path", {hook}},
  };
  const auto all = {env, device, net, mount, hook, rdt, gids};
  for (const auto& row : rows) {
    for (const auto& edits : all) {
      CAPTURE(row.document);
      CAPTURE(edits);
      auto target = target_of<Target>(row.document);
      const auto copy = target;
      const auto done = edits_of(edits).apply(target);
      const bool is_touched = std::count(row.some.begin(), row.some.end(), edits) != 0;
      CHECK(done.has_value() != is_touched);
      if (done || !is_touched) continue;
      CHECK(done.error().code == cdi::Errc::schema);
      CHECK(done.error().where == row.where);
      CHECK(done.error().message == "the member name is in a different case");
      CHECK(done.error().advice == "write \"" + row.name + "\", and only once");
      CHECK(target == copy);
    }
  }
}

TEST_CASE("A member in another case is refused with its line and column") {
  cdi::ConfigJson target{.text = "{\"process\": {\n  \"args\": [],\n  \"User\": {\"uid\": 1000}}}",
                         .file = "config.json"};
  const auto done = edits_of(gids).apply(target);
  REQUIRE_FALSE(done);
  CHECK(to_string(done.error()) ==
        "config.json:3:3: process.User: the member name is in a different case: write "
        "\"user\", and only once");
}

TEST_CASE_TEMPLATE("Parts that the edits do not touch are not looked at", Target, Json, Ordered,
                   Text) {
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
  };
  for (const auto& row : rows) {
    for (const auto& edits : row.some) {
      CAPTURE(row.document);
      CAPTURE(edits);
      auto target = target_of<Target>(row.document);
      const auto done = edits_of(edits).apply(target);
      CHECK_MESSAGE(done, (done ? "" : to_string(done.error())));
    }
  }
}

TEST_CASE_TEMPLATE("The message names the kind that was found", Target, Json, Ordered, Text) {
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
    auto target = target_of<Target>(row.document);
    const auto done = edits_of(mount).apply(target);
    REQUIRE_FALSE(done);
    CHECK(done.error().where + ": " + done.error().message == row.message);
  }
}
