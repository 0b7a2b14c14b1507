// Tests for include/cdi/apply/apply.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/apply/apply.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "targets.hpp"

namespace {

using apply_targets::Bare;
using apply_targets::check_rows;
using apply_targets::content;
using apply_targets::FakeHost;
using apply_targets::Json;
using apply_targets::Model;
using apply_targets::oci_spec;
using apply_targets::Ordered;
using apply_targets::Text;

cdi::Result<cdi::HostNode> ask_fake_host(std::string_view path) {
  return FakeHost{}(path);
}

}  // namespace

static_assert(cdi::HostLookup<FakeHost>);
static_assert(!cdi::HostLookup<int>);
static_assert(std::is_same_v<decltype(cdi::apply), const cdi::ApplyFunction>);

TEST_CASE_TEMPLATE("No edits change nothing", Target, Json, Ordered, Model, Text) {
  check_rows<Target>({
      {"{}", "{}", "{}"},
      {R"({"mounts":[{"destination":"/a/b"},{"destination":"/"}]})", "{}",
       R"({"mounts":[{"destination":"/a/b"},{"destination":"/"}]})"},
      {"{}", R"({"env":[],"hooks":[],"additionalGids":[0]})", "{}"},
  });
}

TEST_CASE_TEMPLATE("A variable keeps its place and gets the new value", Target, Json, Ordered,
                   Model, Text) {
  check_rows<Target>({
      {"{}", R"({"env":["A=1"]})",
       R"({"process":{"user":{"uid":0,"gid":0},"cwd":"","env":["A=1"]}})"},
      {R"({"process":{"env":["A=0","B=0"]}})", R"({"env":["B=1","C=1","A=2"]})",
       R"({"process":{"env":["A=2","B=1","C=1"]}})"},
      {R"({"process":{"env":["A=1","A=2"]}})", R"({"env":["A=3"]})",
       R"({"process":{"env":["A=1","A=3"]}})"},
      {R"({"process":{"env":["A","B=1"]}})", R"({"env":["A=1"]})",
       R"({"process":{"env":["A=1","B=1"]}})"},
      {R"({"process":{"env":["AB=1","a=1"]}})", R"({"env":["A=1","A=2=3"]})",
       R"({"process":{"env":["AB=1","a=1","A=2=3"]}})"},
  });
}

TEST_CASE_TEMPLATE("The host completes what a device node does not say", Target, Json, Ordered,
                   Model, Text) {
  const auto node = [](std::string edits, std::string device, std::string rule) {
    edits = R"({"deviceNodes":[)" + edits + "]}";
    device = R"({"linux":{"devices":[)" + device + "]";
    if (!rule.empty()) device += R"(,"resources":{"devices":[)" + rule + "]}";
    device += "}}";
    check_rows<Target>({{"{}", edits, device}});
  };
  node(R"({"path":"/dev/null"})",
       R"({"path":"/dev/null","type":"c","major":1,"minor":3,"fileMode":438})",
       R"({"allow":true,"type":"c","major":1,"minor":3,"access":"rwm"})");
  node(R"({"path":"/x","hostPath":"/dev/sda","type":"b"})",
       R"({"path":"/x","type":"b","major":8,"minor":0,"fileMode":432})",
       R"({"allow":true,"type":"b","major":8,"minor":0,"access":"rwm"})");
  // A minor without major counts for nothing, a major without type is kept as it is.
  node(R"({"path":"/dev/null","minor":9})",
       R"({"path":"/dev/null","type":"c","major":1,"minor":3,"fileMode":438})",
       R"({"allow":true,"type":"c","major":1,"minor":3,"access":"rwm"})");
  node(R"({"path":"/dev/null","major":7})",
       R"({"path":"/dev/null","type":"c","major":7,"minor":0,"fileMode":438})",
       R"({"allow":true,"type":"c","major":7,"minor":0,"access":"rwm"})");
  // Specified: the host need not have it, nor have the same; only its mode is taken.
  node(R"({"path":"/dev/gone","type":"c","major":5,"minor":6})",
       R"({"path":"/dev/gone","type":"c","major":5,"minor":6})",
       R"({"allow":true,"type":"c","major":5,"minor":6,"access":"rwm"})");
  node(R"({"path":"/dev/null","type":"b","major":9})",
       R"({"path":"/dev/null","type":"b","major":9,"minor":0,"fileMode":438})",
       R"({"allow":true,"type":"b","major":9,"minor":0,"access":"rwm"})");
  node(R"({"path":"/dev/null","fileMode":0})",
       R"({"path":"/dev/null","type":"c","major":1,"minor":3,"fileMode":0})",
       R"({"allow":true,"type":"c","major":1,"minor":3,"access":"rwm"})");
  // FIFOs have no numbers, and neither they nor type u have a rule.
  node(R"({"path":"/dev/pipe"})",
       R"({"path":"/dev/pipe","type":"p","major":0,"minor":0,"fileMode":416})", "");
  node(R"({"path":"/dev/gone","type":"p"})",
       R"({"path":"/dev/gone","type":"p","major":0,"minor":0})", "");
  node(R"({"path":"/dev/null","type":"u","major":1,"minor":3})",
       R"({"path":"/dev/null","type":"u","major":1,"minor":3,"fileMode":438})", "");
  // Permissions are the access of the rule; for none there is a rule of no access.
  node(R"({"path":"/dev/null","permissions":"mr"})",
       R"({"path":"/dev/null","type":"c","major":1,"minor":3,"fileMode":438})",
       R"({"allow":true,"type":"c","major":1,"minor":3,"access":"mr"})");
  node(R"({"path":"/dev/null","permissions":"none"})",
       R"({"path":"/dev/null","type":"c","major":1,"minor":3,"fileMode":438})",
       R"({"allow":true,"type":"c","major":1,"minor":3})");
}

TEST_CASE("The host is asked once, and not for nodes that say everything") {
  struct {
    std::string node;
    int lookups;
  } const rows[] = {
      {R"({"path":"/dev/null"})", 1},
      {R"({"path":"/dev/null","type":"c","major":1})", 1},
      {R"({"path":"/dev/null","type":"c","major":1,"fileMode":438})", 0},
      {R"({"path":"/dev/gone","type":"p","fileMode":438})", 0},
  };
  for (const auto& row : rows) {
    CAPTURE(row.node);
    const FakeHost host;
    Model target;
    CHECK(cdi::apply(edits_of(R"({"deviceNodes":[)" + row.node + "]}"), target, host));
    CHECK(host.lookups == row.lookups);
  }
}

TEST_CASE_TEMPLATE("A device belongs to the user of the process unless it says otherwise", Target,
                   Json, Ordered, Model, Text) {
  const auto owned = [](std::string user, std::string ids, std::string expected) {
    const auto process = R"({"process":{"user":)" + user + "}";
    const auto edits = R"({"deviceNodes":[{"path":"/p","type":"p")" + ids + "}]}";
    const auto after = process +
                       R"(,"linux":{"devices":[{"path":"/p","type":"p","major":0,"minor":0)" +
                       expected + "}]}}";
    check_rows<Target>({{(process + "}"), edits, after}});
  };
  owned(R"({"uid":1000,"gid":100})", "", R"(,"uid":1000,"gid":100)");
  owned(R"({"uid":4294967295,"gid":0})", "", R"(,"uid":4294967295)");
  owned(R"({"uid":0,"gid":0})", "", "");
  owned(R"({"uid":1000,"gid":100})", R"(,"uid":0,"gid":0)", R"(,"uid":0,"gid":0)");
  owned(R"({"uid":1000,"gid":100})", R"(,"uid":7)", R"(,"uid":7,"gid":100)");
}

TEST_CASE_TEMPLATE("A device node replaces the first of its path; rules are only added", Target,
                   Json, Ordered, Model, Text) {
  const char* const rule = R"(,"resources":{"devices":[{"allow":false,"access":"rwm"}]})";
  const char* const rules = R"(,"resources":{"devices":[{"allow":false,"access":"rwm"},
      {"allow":true,"type":"c","major":5,"minor":0,"access":"rwm"}]})";
  const auto device = [](std::string path, int major) {
    return R"({"path":")" + path + R"(","type":"c","major":)" + std::to_string(major) +
           R"(,"minor":0})";
  };
  const auto oci = [](const std::string& devices, const char* resources) {
    return R"({"linux":{"devices":[)" + devices + "]" + resources + "}}";
  };
  const auto edits = R"({"deviceNodes":[)" + device("/a", 5) + "]}";
  const auto check = [&](const std::string& before, const std::string& after) {
    check_rows<Target>({{oci(before, rule), edits, oci(after, rules)}});
  };
  check(device("/b", 1), device("/b", 1) + "," + device("/a", 5));
  check(device("/a", 1) + "," + device("/b", 1), device("/b", 1) + "," + device("/a", 5));
  check(device("/a", 1) + "," + device("/a", 2) + "," + device("/b", 1),
        device("/a", 5) + "," + device("/b", 1));
  check(device("/a/", 1), device("/a/", 1) + "," + device("/a", 5));
}

TEST_CASE_TEMPLATE("Net devices are entered under the interface of the host", Target, Json, Ordered,
                   Model, Text) {
  check_rows<Target>({
      {"{}", R"({"netDevices":[{"hostInterfaceName":"eth1","name":"net0"}]})",
       R"({"linux":{"netDevices":{"eth1":{"name":"net0"}}}})"},
      {R"({"linux":{"netDevices":{"eth0":{"name":"a"},"eth1":{"name":"b"}}}})",
       R"({"netDevices":[{"hostInterfaceName":"eth1","name":"c"}]})",
       R"({"linux":{"netDevices":{"eth0":{"name":"a"},"eth1":{"name":"c"}}}})"},
  });
}

TEST_CASE_TEMPLATE("A mount replaces the first of its destination; then all are sorted by depth",
                   Target, Json, Ordered, Model, Text) {
  check_rows<Target>({
      {"{}",
       R"({"mounts":[{"hostPath":"/h","containerPath":"/c","type":"bind","options":["ro"]}]})",
       R"({"mounts":[{"source":"/h","destination":"/c","type":"bind","options":["ro"]}]})"},
      {R"({"mounts":[{"destination":"/a"},{"destination":"/b"},{"destination":"/a"}]})",
       R"({"mounts":[{"hostPath":"/h","containerPath":"/a"}]})",
       R"({"mounts":[{"destination":"/b"},{"destination":"/a"},
                     {"destination":"/a","source":"/h"}]})"},
      // By slashes of the clean path: rel 0; /, /z and /y/.. 1; /a/b and /a//c/ 2.
      {R"({"mounts":[{"destination":"/a//c/"},{"destination":"/z"},{"destination":"/y/../q"},
                     {"destination":"/a/b"},{"destination":"/"}]})",
       R"({"mounts":[{"hostPath":"/h","containerPath":"rel"},
                     {"hostPath":"/h","containerPath":"/a/."}]})",
       R"({"mounts":[{"destination":"rel","source":"/h"},{"destination":"/z"},
                     {"destination":"/y/../q"},{"destination":"/"},
                     {"destination":"/a/.","source":"/h"},{"destination":"/a//c/"},
                     {"destination":"/a/b"}]})"},
  });
}

TEST_CASE_TEMPLATE("Mounts are sorted stably", Target, Json, Ordered, Model, Text) {
  const std::string depths[] = {"/x", "/x/x", "/x/x/x"};
  for (unsigned seed = 0; seed < 729; ++seed) {  // every row of six depths
    auto target = oci_spec<Target>("{}");
    cdi::ContainerEdits edits;
    std::vector<std::string> expected;
    for (std::size_t depth = 0; depth < 3; ++depth) {
      unsigned rest = seed;
      for (int i = 0; i < 6; ++i, rest /= 3) {
        if (rest % 3 == depth) expected.push_back(depths[depth] + std::to_string(i));
      }
    }
    unsigned rest = seed;
    for (int i = 0; i < 6; ++i, rest /= 3) {
      edits.mounts.push_back(
          {.host_path = "/h", .container_path = depths[rest % 3] + std::to_string(i)});
    }
    CHECK(edits.apply(target));
    std::vector<std::string> found;
    const auto after = content(target);
    for (const auto& mount : after["mounts"]) found.push_back(mount["destination"]);
    CAPTURE(seed);
    REQUIRE(found == expected);
  }
}

TEST_CASE_TEMPLATE("In a user namespace with mappings, bind mounts have their ids mapped", Target,
                   Json, Ordered, Model, Text) {
  struct {
    std::string mount;
    std::string options;
  } const rows[] = {
      {R"("type":"bind")", R"(["idmap"])"},
      {R"("options":["ro","bind"])", R"(["ro","bind","idmap"])"},
      {R"("options":["rbind","ro"])", R"(["rbind","ro","ridmap"])"},
      {R"("type":"bind","options":["rbind"])", R"(["rbind","ridmap"])"},
      {R"("options":["rbind","bind"])", R"(["rbind","bind","idmap"])"},
      {R"("options":["bind","rbind"])", R"(["bind","rbind","ridmap"])"},
      {R"("options":["ridmap","bind"])", R"(["ridmap","bind"])"},
      {R"("options":["bind","idmap"])", R"(["bind","idmap"])"},
      {R"("options":["bind","idmap=x"])", R"(["bind","idmap=x","idmap"])"},
      {R"("type":"tmpfs","options":["ro"])", R"(["ro"])"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.mount);
    const auto edits = edits_of(
        std::string{R"({"mounts":[{"hostPath":"/h","containerPath":"/c",)"} + row.mount + "}]}");
    const auto options_in = [&](const std::string& linux_part) {
      auto target = oci_spec<Target>(R"({"linux":)" + linux_part + "}");
      CHECK(cdi::apply(edits, target));
      return content(target)["mounts"][0].value("options", Json::array());
    };
    const std::string uids = R"("uidMappings":[{"containerID":0,"hostID":1000,"size":9}])";
    const std::string gids = R"("gidMappings":[{"containerID":0,"hostID":2000,"size":9}])";
    const std::string user = R"("namespaces":[{"type":"pid"},{"type":"user"}])";
    const std::string joined = R"("namespaces":[{"type":"user","path":"/proc/1/ns/user"}])";
    for (const auto& spaces : {user, joined}) {
      CHECK(options_in("{" + spaces + "," + uids + "," + gids + "}") == Json::parse(row.options));
      const auto unmapped = Json(edits.mounts[0].options);
      CHECK(options_in("{" + spaces + "}") == unmapped);
      CHECK(options_in("{" + spaces + "," + uids + "}") == unmapped);
      CHECK(options_in("{" + spaces + "," + gids + "}") == unmapped);
      CHECK(options_in("{" + spaces + "," + uids + R"(,"gidMappings":[]})") == unmapped);
      CHECK(options_in(R"({"namespaces":[{"type":"pid"}],)" + uids + "," + gids + "}") == unmapped);
      CHECK(options_in("{" + uids + "," + gids + "}") == unmapped);
    }
  }
}

TEST_CASE_TEMPLATE("Hooks are appended to the list of their point, in order", Target, Json, Ordered,
                   Model, Text) {
  for (const auto point : cdi::oci::hook_point_names) {
    const std::string name{point};
    CAPTURE(name);
    check_rows<Target>({
        {(R"({"hooks":{")" + name + R"(":[{"path":"/old"}]}})"),
         (R"({"hooks":[{"hookName":")" + name + R"(","path":"/h","args":["h","-x"],"env":["A=1"],
           "timeout":5},{"hookName":")" +
          name + R"(","path":"/h"},{"hookName":")" + name + R"(","path":"/h","timeout":0}]})"),
         (R"({"hooks":{")" + name + R"(":[{"path":"/old"},{"path":"/h","args":["h","-x"],
           "env":["A=1"],"timeout":5},{"path":"/h"},{"path":"/h","timeout":0}]}})")},
    });
  }
}

TEST_CASE_TEMPLATE("Intel RDT settings replace the OCI spec's as a whole", Target, Json, Ordered,
                   Model, Text) {
  const char* const after = R"({"linux":{"intelRdt":{"closID":"b","schemata":["L3:0=f"],
      "memBwSchema":"MB:0=20","l3CacheSchema":"L3:0=3","enableMonitoring":true}}})";
  const char* const edits = R"({"intelRdt":{"closID":"b","schemata":["L3:0=f"],
      "memBwSchema":"MB:0=20","l3CacheSchema":"L3:0=3","enableMonitoring":true}})";
  check_rows<Target>({
      {"{}", edits, after},
      {R"({"linux":{"intelRdt":{"closID":"a","memBwSchema":"MB:0=10"}}})", edits, after},
      {R"({"linux":{"intelRdt":{"closID":"a","memBwSchema":"MB:0=10"}}})",
       R"({"intelRdt":{"closID":"c"}})", R"({"linux":{"intelRdt":{"closID":"c"}}})"},
      // what older versions say of monitoring
      {"{}", R"({"intelRdt":{"enableCMT":true,"enableMBM":false}})",
       R"({"linux":{"intelRdt":{"enableMonitoring":true}}})"},
      {"{}", R"({"intelRdt":{"enableMBM":true}})",
       R"({"linux":{"intelRdt":{"enableMonitoring":true}}})"},
      {"{}", R"({"intelRdt":{"enableCMT":false,"enableMBM":false}})",
       R"({"linux":{"intelRdt":{}}})"},
  });
}

TEST_CASE_TEMPLATE("Additional groups are added once, and never group 0", Target, Json, Ordered,
                   Model, Text) {
  check_rows<Target>({
      {"{}", R"({"additionalGids":[0,5]})",
       R"({"process":{"user":{"uid":0,"gid":0,"additionalGids":[5]},"cwd":""}})"},
      {R"({"process":{"user":{"uid":1,"gid":7,"additionalGids":[5]}}})",
       R"({"additionalGids":[4294967295,5,7,0,7]})",
       R"({"process":{"user":{"uid":1,"gid":7,"additionalGids":[5,4294967295,7]}}})"},
  });
}

TEST_CASE_TEMPLATE("After an error the target is as it was", Target, Json, Ordered, Model, Text) {
  const std::string rest = R"(,"env":["A=1"],"mounts":[{"hostPath":"/h","containerPath":"/a"}],
      "netDevices":[{"hostInterfaceName":"e","name":"n"}],"intelRdt":{},"additionalGids":[5]})";
  struct {
    std::string edits;
    std::string where;
  } const rows[] = {
      {R"({"deviceNodes":[{"path":"/dev/null"},{"path":"/gone"}])", "deviceNodes[1]"},
      {R"({"deviceNodes":[{"path":"/gone","type":"c"}])", "deviceNodes[0]"},
      {R"({"deviceNodes":[{"path":"/gone","major":5}])", "deviceNodes[0]"},
      {R"({"deviceNodes":[{"path":"/dev/null","hostPath":"/gone"}])", "deviceNodes[0]"},
      {R"({"deviceNodes":[{"path":"/dev/null","type":"b"}])", "deviceNodes[0].type"},
      {R"({"deviceNodes":[{"path":"/dev/null","type":"u"}])", "deviceNodes[0].type"},
      {R"({"deviceNodes":[{"path":"/dev/pipe","type":"c"}])", "deviceNodes[0].type"},
      {R"({"hooks":[{"hookName":"poststop","path":"/x"},{"hookName":"Poststop","path":"/x"}])",
       "hooks[1].hookName"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.edits);
    for (const auto* before :
         {"{}", R"({"process":{"env":["A=0"]},"mounts":[{"destination":"/b/b"}],"hooks":{},
                    "linux":{"devices":[{"path":"/dev/null","type":"c"}]}})"}) {
      auto target = oci_spec<Target>(before);
      const auto copy = target;
      const auto done = edits_of(row.edits + rest).apply(target, FakeHost{});
      REQUIRE_FALSE(done);
      CHECK(done.error().where == row.where);
      CHECK(target == copy);
    }
  }
}

TEST_CASE("A type mismatch names both types and the path that was asked") {
  Model target;
  const auto done = edits_of(R"({"deviceNodes":[{"path":"/x","hostPath":"/dev/null","type":"b"}]})")
                        .apply(target, FakeHost{});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::host);
  CHECK(done.error().message == R"(host device "/dev/null" is of type "c", not "b")");
}

TEST_CASE_TEMPLATE("The result shares no memory with the edits, nor are these changed", Target,
                   Json, Ordered, Model, Text) {
  const char* const text = R"({"env":["NAME=a value that is too long for a small string"],
      "deviceNodes":[{"path":"/dev/null"}],
      "hooks":[{"hookName":"prestart","path":"/h","args":["an argument that is not short at all"]}],
      "mounts":[{"hostPath":"/h","containerPath":"/c","options":["an option that is not short"]}],
      "intelRdt":{"schemata":["a schema that is not short, as it seems"]}})";
  auto target = oci_spec<Target>("{}");
  Json before;
  {
    auto edits = edits_of(text);
    REQUIRE(edits.apply(target, FakeHost{}));
    CHECK(edits == edits_of(text));
    before = content(target);
    edits.env[0][0] = '?';
    edits.hooks[0].args[0][0] = '?';
    edits.mounts[0].options[0][0] = '?';
    (*edits.intel_rdt->schemata)[0][0] = '?';
    CHECK(content(target) == before);
  }
  CHECK(content(target) == before);
}

TEST_CASE_TEMPLATE("Edits are applied by member, by object, and unqualified", Target, Json, Ordered,
                   Model, Text) {
  const auto edits = edits_of(R"({"env":["A=1"],"deviceNodes":[{"path":"/dev/null"}]})");
  auto by_member = oci_spec<Target>("{}");
  auto by_object = by_member;
  auto unqualified = by_member;
  CHECK(edits.apply(by_member, FakeHost{}));
  CHECK(cdi::apply(edits, by_object, FakeHost{}));
  using cdi::apply;
  CHECK(apply(edits, unqualified, FakeHost{}));
  CHECK(by_member == by_object);
  CHECK(by_member == unqualified);

  auto by_function = oci_spec<Target>("{}");
  CHECK(edits.apply(by_function, ask_fake_host));
  CHECK(by_member == by_function);

  const auto plain = edits_of(R"({"env":["A=1"]})");
  CHECK(plain.apply(by_member));
  CHECK(apply(plain, by_member));
}

TEST_CASE("A target without a part refuses edits for it before anything changes") {
  struct {
    std::string edits;
    std::string where;
  } const rows[] = {
      {R"({"env":["A=1"],"netDevices":[{"hostInterfaceName":"e","name":"n"}]})", "netDevices"},
      {R"({"env":["A=1"],"intelRdt":{}})", "intelRdt"},
      {R"({"env":["A=1"],"additionalGids":[5]})", "additionalGids"},
      {R"({"env":["A=1"],"deviceNodes":[{"path":"/dev/null"}]})", "deviceNodes"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.edits);
    Bare target;
    const FakeHost host;
    const auto done = cdi::apply(edits_of(row.edits), target, host);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::unsupported);
    CHECK(done.error().where == row.where);
    CHECK(target.spec == Model{});
    CHECK(host.lookups == 0);
  }
  Bare target;
  CHECK(edits_of(R"({"env":["A=1"],"mounts":[{"hostPath":"/h","containerPath":"/c"}],
                     "hooks":[{"hookName":"prestart","path":"/h"}]})")
            .apply(target));
  CHECK(target.spec.process->env == std::vector<std::string>{"A=1"});
  CHECK(target.spec.mounts.size() == 1);
  CHECK(target.spec.hooks->prestart.size() == 1);
}

TEST_CASE_TEMPLATE("Several edits count as one whose lists are joined", Target, Json, Ordered,
                   Model, Text) {
  const cdi::ContainerEdits some[] = {
      edits_of(R"({"env":["A=1"],"intelRdt":{"closID":"a","memBwSchema":"x"},
                   "deviceNodes":[{"path":"/p","type":"p"}],
                   "mounts":[{"hostPath":"/1","containerPath":"/a/b"}]})"),
      edits_of(R"({"env":["B=1"],"intelRdt":{"closID":"b"},"additionalGids":[3]})"),
      edits_of(R"({"env":["A=2"],"deviceNodes":[{"path":"/p","type":"p","uid":4}],
                   "mounts":[{"hostPath":"/2","containerPath":"/c"}],"additionalGids":[3]})"),
  };
  const cdi::ContainerEdits* const all[] = {&some[0], &some[1], &some[2]};
  auto target = oci_spec<Target>("{}");
  REQUIRE(cdi::apply(std::span<const cdi::ContainerEdits* const>{all}, target, FakeHost{}));
  CHECK(content(target) == content(oci_spec<Target>(R"({
      "process":{"user":{"uid":0,"gid":0,"additionalGids":[3]},"cwd":"","env":["A=2","B=1"]},
      "mounts":[{"destination":"/c","source":"/2"},{"destination":"/a/b","source":"/1"}],
      "linux":{"devices":[{"path":"/p","type":"p","major":0,"minor":0,"uid":4}],
               "intelRdt":{"closID":"b"}}})")));
}

TEST_CASE("An error has the number of the edits that it is about") {
  const cdi::ContainerEdits good = edits_of(R"({"env":["A=1"]})");
  for (const std::string bad :
       {R"({"deviceNodes":[{"path":"/gone"}]})", R"({"hooks":[{"hookName":"no","path":"/h"}]})",
        R"({"intelRdt":{}})"}) {
    CAPTURE(bad);
    const auto wrong = edits_of(bad);
    for (std::size_t at = 0; at < 3; ++at) {
      std::vector<const cdi::ContainerEdits*> all(3, &good);
      all[at] = &wrong;
      Bare target;
      const auto done =
          cdi::apply(std::span<const cdi::ContainerEdits* const>{all}, target, FakeHost{});
      REQUIRE_FALSE(done);
      CHECK(done.error().edits == at + 1);
      CHECK(target.spec == Model{});
    }
    Bare target;
    CHECK(cdi::apply(wrong, target, FakeHost{}).error().edits == 1);
  }
  auto target = cdi::ConfigJson{"[]"};
  const auto done = cdi::apply(good, target, FakeHost{});
  REQUIRE_FALSE(done);
  CHECK(done.error().edits == 0);  // about the target
}
