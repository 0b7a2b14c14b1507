// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/convert.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>

namespace {

using cdi::ContainerEdits;
using cdi::Errc;
using cdi::Spec;

Spec good_spec() {
  return {.version = "1.1.0",
          .kind = "vendor.com/gpu",
          .devices = {{.name = "0", .container_edits = {.env = {"A=1"}}}}};
}

/// `where: message` of what is wrong; empty when nothing is.
template <class T>
std::string fault(const T& value) {
  const auto good = cdi::validate(value);
  if (good) return "";
  CHECK((good.error().code == Errc::invalid || good.error().code == Errc::invalid_name));
  return to_string(good.error());
}

/// Some edits and what is wrong with them.
struct Row {
  ContainerEdits edits;
  std::string expected;
};

cdi::IntelRdt closid(std::string id) {
  return {.clos_id = std::move(id)};
}

const std::string long_id(4096, 'a');

const std::vector<Row> rows{
    {{}, ""},
    // env
    {{.env = {"A=", "A=1", "A=b=c", "A=1", "a b=\n"}}, ""},
    {{.env = {"A=1", "A"}}, R"(env[1]: invalid environment variable "A": write NAME=value)"},
    {{.env = {"=1"}}, R"(env[0]: invalid environment variable "=1": write NAME=value)"},
    {{.env = {""}}, R"(env[0]: invalid environment variable "": write NAME=value)"},
    // device nodes
    {{.device_nodes = {{.path = "rel/../x", .major = 0, .minor = 0}, {.path = "rel/../x"}}}, ""},
    {{.device_nodes = {{.path = "/a", .type = "c", .major = -1, .minor = -1}}},
     "deviceNodes[0].major: device number -1 is negative: use 0 or more, or leave it out"},
    {{.device_nodes = {{.path = "/a", .type = "c", .major = 1, .minor = -1}}},
     "deviceNodes[0].minor: device number -1 is negative: use 0 or more, or leave it out"},
    {{.device_nodes = {{.path = "/a"}, {.host_path = "/b"}}},
     "deviceNodes[1].path: the device node has no path: name the node in the container"},
    {{.device_nodes = {{.path = "/a", .type = "b", .permissions = "rwm"},
                       {.path = "/a", .type = "c", .permissions = "mmr"},
                       {.path = "/a", .type = "u", .permissions = "none"},
                       {.path = "/a", .type = "p", .permissions = ""}}},
     ""},
    {{.device_nodes = {{.path = "/a", .type = "C"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "C": use "b", "c", "u" or "p", or leave it out)"},
    {{.device_nodes = {{.path = "/a", .type = "bc"}}},
     R"(deviceNodes[0].type: device "/a": invalid type "bc": use "b", "c", "u" or "p", or leave it out)"},
    {{.device_nodes = {{.path = "/a", .permissions = "rwx"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "rwx": use some of "rwm", or "none")"},
    {{.device_nodes = {{.path = "/a", .permissions = "None"}}},
     R"(deviceNodes[0].permissions: device "/a": invalid permissions "None": use some of "rwm", or "none")"},
    // hooks
    {{.hooks = {{.hook_name = "prestart", .path = "rel", .timeout = -1},
                {.hook_name = "createRuntime", .path = "/h", .timeout = 0},
                {.hook_name = "createContainer", .path = "/h"},
                {.hook_name = "startContainer", .path = "/h"},
                {.hook_name = "poststart", .path = "/h"},
                {.hook_name = "poststop", .path = "/h"}}},
     ""},
    {{.hooks = {{.hook_name = "preStart", .path = "/h"}}},
     R"(hooks[0].hookName: invalid hook name "preStart": use one of prestart createRuntime )"
     "createContainer startContainer poststart poststop"},
    {{.hooks = {{.hook_name = "prestart"}}},
     R"(hooks[0].path: hook "prestart" has no path: name the program to run)"},
    {{.hooks = {{.hook_name = "prestart", .path = "/h", .env = {"A=1", "B"}}}},
     R"(hooks[0].env[1]: invalid environment variable "B": write NAME=value)"},
    // mounts
    {{.mounts = {{.host_path = "a", .container_path = "b", .options = {"?"}, .type = "?"}}}, ""},
    {{.mounts = {{.container_path = "/b"}}},
     "mounts[0].hostPath: the mount has no host path: name what to mount"},
    {{.mounts = {{.host_path = "/a"}}},
     R"(mounts[0].containerPath: mount of "/a" has no container path: name where to mount it)"},
    // rdt
    {{.intel_rdt = closid("")}, ""},
    {{.intel_rdt = closid("/")}, ""},
    {{.intel_rdt = closid("a b...")}, ""},
    {{.intel_rdt = closid(long_id.substr(1))}, ""},
    // net devices
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "b", .name = "a"}}},
     ""},
    {{.net_devices = {{.name = "b"}}},
     "netDevices[0].hostInterfaceName: the net device names no interface of the host: name the one "
     "to move"},
    {{.net_devices = {{.host_interface_name = "a"}}},
     R"(netDevices[0].name: net device "a" has no name in the container: give it one)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "d"},
                      {.host_interface_name = "a", .name = "e"}}},
     R"(netDevices[2].hostInterfaceName: "a" is taken by netDevices[0] already: choose another)"},
    {{.net_devices = {{.host_interface_name = "a", .name = "b"},
                      {.host_interface_name = "c", .name = "b"}}},
     R"(netDevices[1].name: "b" is taken by netDevices[0] already: choose another)"},
};

TEST_CASE("edits are checked on their own, in the spec and in every device") {
  for (const auto& row : rows) {
    CAPTURE(row.expected);
    CHECK(fault(row.edits) == row.expected);
    CHECK(fault(cdi::convert<cdi::ContainerEditsView>(row.edits)) == row.expected);

    Spec spec = good_spec();
    spec.container_edits = row.edits;
    CHECK(fault(spec) == (row.expected.empty() ? "" : "containerEdits." + row.expected));

    if (cdi::is_empty(row.edits)) continue;
    spec = good_spec();
    spec.devices.push_back({.name = "1", .container_edits = row.edits});
    CHECK(fault(spec) == (row.expected.empty() ? "" : "devices[1].containerEdits." + row.expected));
  }
}

TEST_CASE("a closID names a directory") {
  for (const std::string& id :
       {std::string{"."}, std::string{".."}, std::string{"a/b"}, std::string{"/a"},
        std::string{"//"}, std::string{"a\n"}, long_id}) {
    const auto good = cdi::validate(ContainerEdits{.intel_rdt = closid(id)});
    CAPTURE(id);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == "intelRdt.closID");
    CHECK(good.error().message.starts_with("closID \""));
    CHECK(good.error().message.size() < 300);
    CHECK(good.error().message.find('\n') == std::string::npos);
  }
}

TEST_CASE("the version must be one that was made, and the message lists them") {
  Spec spec = good_spec();
  for (const std::string version : {"", "1.1", "2.0.0"}) {
    spec.version = version;
    CHECK(fault(spec) == "cdiVersion: unknown version \"" + version +
                             "\": use one of 0.3.0 0.4.0 0.5.0 0.6.0 0.7.0 0.8.0 1.0.0 1.1.0");
  }
  spec.version = "v0.5.0";
  CHECK(fault(spec) == "");
  spec.version = "0.4.0";
  CHECK(fault(spec) ==
        R"(cdiVersion: version "0.4.0" is too old for devices[0].name: write "0.5.0")");
  spec.version = "0.2.0";
  spec.devices[0].name = "a";
  CHECK(fault(spec) == R"(cdiVersion: version "0.2.0" is too old: write "0.3.0")");
}

TEST_CASE("the kind must have a vendor and a class") {
  Spec spec = good_spec();
  for (const auto& row : {
           std::pair{"", R"(kind: kind "" has no slash: write vendor.com/class)"},
           std::pair{"gpu", R"(kind: kind "gpu" has no slash: write vendor.com/class)"},
           std::pair{"/gpu", R"(kind: vendor "" is empty: write at least one letter or digit)"},
           std::pair{"v/", R"(kind: class "" is empty: write at least one letter or digit)"},
           std::pair{"9/gpu", R"(kind: vendor "9" must begin with a letter)"},
           std::pair{"v/gpu-", R"(kind: class "gpu-" must end with a letter or digit)"},
       }) {
    CAPTURE(row.second);
    spec.kind = row.first;
    CHECK(fault(spec) == row.second);
  }
}

TEST_CASE("a device must have a good name and edits") {
  Spec spec = good_spec();
  spec.devices.push_back({.name = "a b", .container_edits = {.env = {"A=1"}}});
  CHECK(fault(spec).starts_with(R"(devices[1].name: device name "a b" may hold only)"));
  spec.devices[1] = {.name = "a", .annotations = {{"k", "v"}}};
  CHECK(fault(spec) ==
        R"(devices[1].containerEdits: device "a" has no edits: give it some, or remove it)");
  spec.devices[1].container_edits.intel_rdt.emplace();
  CHECK(fault(spec) == "");
  spec.devices[1].container_edits = {.additional_gids = {0}};
  CHECK(fault(spec) == "");
}

TEST_CASE("a spec must have devices, each with a name of its own") {
  Spec spec = good_spec();
  spec.devices.push_back({.name = "1", .container_edits = {.env = {"A=1"}}});
  spec.devices.push_back(spec.devices[0]);
  CHECK(fault(spec) ==
        R"(devices[2].name: device "0" is defined by devices[0] already: choose another name)");
  spec.devices.clear();
  CHECK(fault(spec) == "devices: the spec has no devices: define at least one");
}

TEST_CASE("the first broken rule is the error") {
  // Broken in everything; mended one by one, in the order of the reference.
  Spec spec{.version = "x", .kind = "gpu", .annotations = {{"?", ""}}};
  spec.container_edits = {.env = {"A"},
                          .device_nodes = {{.type = "x"}},
                          .net_devices = {{}},
                          .hooks = {{.env = {"A"}}},
                          .mounts = {{}},
                          .intel_rdt = closid(".")};
  spec.devices = {{.name = "-"}, {.name = "a", .container_edits = {.env = {"A=1"}}}};
  auto& edits = spec.container_edits;
  auto& device = spec.devices[0];

  struct Step {
    std::string where;
    std::function<void()> mend;
  };
  const std::vector<Step> steps{
      {"cdiVersion",
       [&] {
         spec.version = "0.3.0";
       }},
      {"cdiVersion",
       [&] {
         spec.version = "1.1.0";
       }},
      {"kind",
       [&] {
         spec.kind = "v/-";
       }},
      {"kind",
       [&] {
         spec.kind = "v/c";
       }},
      {"annotations.?",  // the reference never comes to look at it
       [&] {
         spec.annotations.clear();
       }},
      {"containerEdits.env[0]",
       [&] {
         edits.env.clear();
       }},
      {"containerEdits.deviceNodes[0].path",
       [&] {
         edits.device_nodes[0].path = "/a";
       }},
      {"containerEdits.deviceNodes[0].type",
       [&] {
         edits.device_nodes.clear();
       }},
      {"containerEdits.hooks[0].hookName",
       [&] {
         edits.hooks[0].hook_name = "prestart";
       }},
      {"containerEdits.hooks[0].path",
       [&] {
         edits.hooks[0].path = "/h";
       }},
      {"containerEdits.hooks[0].env[0]",
       [&] {
         edits.hooks.clear();
       }},
      {"containerEdits.mounts[0].hostPath",
       [&] {
         edits.mounts[0].host_path = "/a";
       }},
      {"containerEdits.mounts[0].containerPath",
       [&] {
         edits.mounts.clear();
       }},
      {"containerEdits.intelRdt.closID",
       [&] {
         edits.intel_rdt.reset();
       }},
      {"containerEdits.netDevices[0].hostInterfaceName",
       [&] {
         edits.net_devices.clear();
       }},
      {"devices[0].name",
       [&] {
         device.name = "a";
       }},
      {"devices[0].containerEdits",
       [&] {
         device.container_edits.env = {"A"};
       }},
      {"devices[0].containerEdits.env[0]",
       [&] {
         device.container_edits.env = {"A=1"};
       }},
      {"devices[1].name",
       [&] {
         spec.devices.clear();
       }},
      {"devices",
       [&] {
         spec = good_spec();
       }},
  };
  for (const auto& row : steps) {
    CAPTURE(row.where);
    const auto good = cdi::validate(spec, nullptr, cdi::Purpose::write);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == row.where);
    row.mend();
  }
  CHECK(cdi::validate(spec));
}

}  // namespace

namespace {

/// A change to a good spec, and the rule that it breaks.
struct Breach {
  cdi::Rule rule;
  std::string where;
  std::function<void(Spec&)> change;
};

const std::string long_name(64, 'a');
const std::string interface_name(16, 'a');
const std::string long_vendor = std::string(60, 'a') + "." + std::string(60, 'b') + "." +
                                std::string(60, 'c') + "." + std::string(60, 'd') + ".example.org";

cdi::ContainerEdits& edits_of(Spec& spec) {
  return spec.container_edits;
}

using cdi::Rule;

// NOLINTBEGIN(bugprone-exception-escape)
const std::vector<Breach> breaches{
    {Rule::version_known, "cdiVersion",
     [](Spec& s) {
       s.version = "1.2";
     }},
    {Rule::version_new_enough, "cdiVersion",
     [](Spec& s) {
       s.version = "0.4.0";
     }},
    {Rule::field_retired, "containerEdits.intelRdt.enableCMT",
     [](Spec& s) {
       edits_of(s).intel_rdt = {.enable_cmt = false};
     }},
    {Rule::field_retired, "devices[0].containerEdits.intelRdt.enableMBM",
     [](Spec& s) {
       s.devices[0].container_edits.intel_rdt = {.enable_mbm = true};
     }},
    {Rule::text_nul, "devices[0].name",
     [](Spec& s) {
       s.devices[0].name.push_back('\0');
     }},
    {Rule::kind_name, "kind",
     [](Spec& s) {
       s.kind = "gpu";
     }},
    {Rule::kind_class_length, "kind",
     [](Spec& s) {
       s.kind = "v.com/" + long_name;
     }},
    {Rule::kind_vendor_dns, "kind",
     [](Spec& s) {
       s.kind = "v_x.com/c";
     }},
    {Rule::kind_vendor_dns, "kind",
     [](Spec& s) {
       s.kind = "v..com/c";
     }},
    {Rule::kind_vendor_dns, "kind",
     [](Spec& s) {
       s.kind = "v-.com/c";
     }},
    {Rule::kind_vendor_dns, "kind",
     [](Spec& s) {
       s.kind = long_name + ".com/c";
     }},
    {Rule::kind_vendor_dns, "kind",
     [](Spec& s) {
       s.kind = long_vendor + "/c";
     }},
    {Rule::annotation_key, "annotations.a b",
     [](Spec& s) {
       s.annotations["a b"] = "";
     }},
    {Rule::annotation_key, "devices[0].annotations.-",
     [](Spec& s) {
       s.devices[0].annotations["-"] = "";
     }},
    {Rule::annotation_size, "annotations",
     [](Spec& s) {
       s.annotations["a"] = std::string(262144, 'x');
     }},
    {Rule::env_entry, "containerEdits.env[0]",
     [](Spec& s) {
       edits_of(s).env = {"A"};
     }},
    {Rule::env_name, "containerEdits.env[1]",
     [](Spec& s) {
       edits_of(s).env = {"A=", R"(// or mshv "DEVICE=/dev/kvm",)"};
     }},
    {Rule::env_name, "containerEdits.hooks[0].env[0]",
     [](Spec& s) {
       edits_of(s).hooks = {{.hook_name = "prestart", .path = "/h", .env = {"A'=1"}}};
     }},
    {Rule::node_path, "containerEdits.deviceNodes[0].path",
     [](Spec& s) {
       edits_of(s).device_nodes = {{}};
     }},
    {Rule::node_numbers, "containerEdits.deviceNodes[0].minor",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "/x", .minor = -1}};
     }},
    {Rule::node_path_absolute, "containerEdits.deviceNodes[0].path",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "dev/x"}};
     }},
    {Rule::node_type, "containerEdits.deviceNodes[0].type",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "/x", .type = "d"}};
     }},
    {Rule::node_permissions, "containerEdits.deviceNodes[0].permissions",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "/x", .permissions = "x"}};
     }},
    {Rule::net_names, "containerEdits.netDevices[0].hostInterfaceName",
     [](Spec& s) {
       edits_of(s).net_devices = {{.name = "a"}};
     }},
    {Rule::net_names_unique, "containerEdits.netDevices[1].name",
     [](Spec& s) {
       edits_of(s).net_devices = {{.host_interface_name = "a", .name = "x"},
                                  {.host_interface_name = "b", .name = "x"}};
     }},
    {Rule::net_name_length, "containerEdits.netDevices[0].hostInterfaceName",
     [](Spec& s) {
       edits_of(s).net_devices = {{.host_interface_name = interface_name, .name = "x"}};
     }},
    {Rule::net_name_length, "containerEdits.netDevices[0].name",
     [](Spec& s) {
       edits_of(s).net_devices = {{.host_interface_name = "a", .name = "a b"}};
     }},
    {Rule::net_name_length, "containerEdits.netDevices[0].name",
     [](Spec& s) {
       edits_of(s).net_devices = {{.host_interface_name = "a", .name = ".."}};
     }},
    {Rule::hook_name, "containerEdits.hooks[0].hookName",
     [](Spec& s) {
       edits_of(s).hooks = {{.hook_name = "x", .path = "/h"}};
     }},
    {Rule::hook_path, "containerEdits.hooks[0].path",
     [](Spec& s) {
       edits_of(s).hooks = {{.hook_name = "prestart"}};
     }},
    {Rule::hook_path_absolute, "containerEdits.hooks[0].path",
     [](Spec& s) {
       edits_of(s).hooks = {{.hook_name = "prestart", .path = "h"}};
     }},
    {Rule::hook_timeout_positive, "containerEdits.hooks[0].timeout",
     [](Spec& s) {
       edits_of(s).hooks = {{.hook_name = "prestart", .path = "/h", .timeout = 0}};
     }},
    {Rule::mount_paths, "containerEdits.mounts[0].containerPath",
     [](Spec& s) {
       edits_of(s).mounts = {{.host_path = "/h"}};
     }},
    {Rule::mount_path_absolute, "containerEdits.mounts[0].containerPath",
     [](Spec& s) {
       edits_of(s).mounts = {{.host_path = "/h", .container_path = "c"}};
     }},
    {Rule::rdt_closid, "containerEdits.intelRdt.closID",
     [](Spec& s) {
       edits_of(s).intel_rdt = {.clos_id = ".."};
     }},
    {Rule::gid_zero, "containerEdits.additionalGids[1]",
     [](Spec& s) {
       edits_of(s).additional_gids = {5, 0};
     }},
    {Rule::devices_given, "devices",
     [](Spec& s) {
       s.devices.clear();
     }},
    {Rule::device_name, "devices[0].name",
     [](Spec& s) {
       s.devices[0].name = "-";
     }},
    {Rule::device_name_unique, "devices[1].name",
     [](Spec& s) {
       s.devices.push_back(s.devices[0]);
     }},
    {Rule::device_name_length, "devices[0].name",
     [](Spec& s) {
       s.devices[0].name = long_name;
     }},
    {Rule::device_edits, "devices[0].containerEdits",
     [](Spec& s) {
       s.devices[0].container_edits = {};
     }},
};
// NOLINTEND(bugprone-exception-escape)

}  // namespace

TEST_CASE("each rule is looked at, and broken it is what the table of rules says") {
  std::vector<bool> seen(cdi::rules.size());
  for (const auto rule :
       {Rule::json_syntax, Rule::single_document, Rule::member_case, Rule::portable_text}) {
    seen[static_cast<std::size_t>(rule)] = true;  // checked where files are read
  }
  for (const auto& breach : breaches) {
    const auto& row = cdi::row_of(breach.rule);
    CAPTURE(row.code);
    CAPTURE(breach.where);
    seen[static_cast<std::size_t>(breach.rule)] = true;
    Spec spec = good_spec();
    breach.change(spec);
    std::vector<cdi::Error> warnings;
    const auto good = cdi::validate(spec, &warnings);
    REQUIRE(good.has_value() == (row.severity != cdi::Severity::error));
    REQUIRE(warnings.size() == (good ? 1 : 0));
    const auto& found = good ? warnings[0] : good.error();
    CHECK(found.rule == row.code);
    CHECK(found.where == breach.where);
    CHECK(cdi::validate(spec).has_value() == good.has_value());
    const auto written = cdi::validate(spec, nullptr, cdi::Purpose::write);
    CHECK(written.has_value() == (row.severity == cdi::Severity::warning));
    if (!written) CHECK(written.error().rule == row.code);
  }
  for (const auto& row : cdi::rules) {
    CAPTURE(row.code);
    CHECK(seen[static_cast<std::size_t>(row.rule)]);
  }
}

TEST_CASE("a NUL is refused in every text, at its place") {
  Spec spec = good_spec();
  auto& edits = edits_of(spec);
  edits = {.env = {"A=1"},
           .device_nodes = {{.path = "/n", .host_path = "/n", .type = "c", .permissions = "r"}},
           .net_devices = {{.host_interface_name = "h", .name = "n"}},
           .hooks = {{.hook_name = "prestart", .path = "/h", .args = {"h"}, .env = {"A=1"}}},
           .mounts = {{.host_path = "/m", .container_path = "/m", .options = {"ro"}}},
           .intel_rdt = cdi::IntelRdt{.clos_id = "c", .schemata = std::vector<std::string>{"x"}}};
  auto& device = spec.devices[0];
  const std::pair<std::string, std::string*> texts[] = {
      {"cdiVersion", &spec.version},
      {"kind", &spec.kind},
      {"annotations.k", &spec.annotations["k"]},
      {"devices[0].name", &device.name},
      {"devices[0].annotations.k", &device.annotations["k"]},
      {"devices[0].containerEdits.env[0]", &device.container_edits.env[0]},
      {"containerEdits.env[0]", &edits.env[0]},
      {"containerEdits.deviceNodes[0].path", &edits.device_nodes[0].path},
      {"containerEdits.deviceNodes[0].hostPath", &edits.device_nodes[0].host_path},
      {"containerEdits.deviceNodes[0].type", &edits.device_nodes[0].type},
      {"containerEdits.deviceNodes[0].permissions", &edits.device_nodes[0].permissions},
      {"containerEdits.netDevices[0].hostInterfaceName", &edits.net_devices[0].host_interface_name},
      {"containerEdits.netDevices[0].name", &edits.net_devices[0].name},
      {"containerEdits.hooks[0].hookName", &edits.hooks[0].hook_name},
      {"containerEdits.hooks[0].path", &edits.hooks[0].path},
      {"containerEdits.hooks[0].args[0]", &edits.hooks[0].args[0]},
      {"containerEdits.hooks[0].env[0]", &edits.hooks[0].env[0]},
      {"containerEdits.mounts[0].hostPath", &edits.mounts[0].host_path},
      {"containerEdits.mounts[0].containerPath", &edits.mounts[0].container_path},
      {"containerEdits.mounts[0].options[0]", &edits.mounts[0].options[0]},
      {"containerEdits.intelRdt.closID", &edits.intel_rdt->clos_id},
      {"containerEdits.intelRdt.schemata[0]", &edits.intel_rdt->schemata->front()},
  };
  CHECK(fault(spec) == "");
  const std::string nul{"a\0b", 3};
  for (const auto& row : texts) {
    CAPTURE(row.first);
    const auto good = std::exchange(*row.second, nul);
    CHECK(fault(spec) ==
          row.first + R"(: "a\x00b" holds a NUL, where some runtimes stop reading: remove it)");
    *row.second = good;
  }
  spec.annotations[nul] = "";
  const auto key = cdi::validate(spec);
  REQUIRE_FALSE(key);
  CHECK(key.error().rule == "text-nul");
  CHECK(fault(cdi::Mount{.host_path = "/h", .container_path = nul}).starts_with("containerPath: "));
}

TEST_CASE("what is just within the rules gives no warning") {
  Spec spec = good_spec();
  spec.kind = std::string(63, 'v') + "." + std::string(63, 'w') + ".x-y.com/" + long_name.substr(1);
  spec.annotations = {{"example.com/key", std::string(262129, 'x')}};
  spec.devices[0].name = long_name.substr(1);
  edits_of(spec) = {
      .env = {"a.b-c/(x)= 'y' \"z\"", "1=2"},
      .device_nodes = {{.path = "/", .major = 0, .minor = 0}},
      .net_devices = {{.host_interface_name = interface_name.substr(1), .name = "ü@9"}},
      .hooks = {{.hook_name = "prestart", .path = "/h", .timeout = 1}},
      .mounts = {{.host_path = "rel", .container_path = "/"}},
      .additional_gids = {1}};
  std::vector<cdi::Error> warnings;
  CHECK(cdi::validate(spec, &warnings));
  for (const auto& warning : warnings) CHECK(to_string(warning) == "");
}

TEST_CASE("fields of older releases are known to those releases only") {
  Spec spec = good_spec();
  edits_of(spec).intel_rdt = {.enable_cmt = true};
  for (const auto& row :
       {std::pair{"0.6.0", R"(cdiVersion: version "0.6.0" is too old for )"
                           R"(containerEdits.intelRdt: write "0.7.0")"},
        std::pair{"0.7.0", ""}, std::pair{"1.0.0", ""},
        std::pair{"1.1.0",
                  R"(containerEdits.intelRdt.enableCMT: version "1.1.0" does not have the member )"
                  "any more: write enableMonitoring, or declare a version before 1.1.0"}}) {
    CAPTURE(row.first);
    spec.version = row.first;
    CHECK(fault(spec) == row.second);
  }
}

TEST_CASE("warnings come in the order of the document, those before an error too") {
  Spec spec = good_spec();
  edits_of(spec).hooks = {{.hook_name = "prestart", .path = "h", .timeout = -5},
                          {.hook_name = "prestart", .path = "/h", .env = {"A"}}};
  std::vector<cdi::Error> warnings;
  const auto good = cdi::validate(spec, &warnings);
  REQUIRE_FALSE(good);
  REQUIRE(warnings.size() == 2);
  CHECK(to_string(warnings[0]) ==
        R"(containerEdits.hooks[0].path: path "h" is not absolute: begin it with /)");
  CHECK(to_string(warnings[1]) ==
        "containerEdits.hooks[0].timeout: a timeout of -5 seconds: use "
        "1 or more, or leave it out for none");
}

TEST_CASE("a device's own faults come before its name being taken") {
  Spec spec = good_spec();
  spec.devices.push_back(spec.devices[0]);
  spec.devices[1].container_edits.env = {"A"};
  CHECK(fault(spec).starts_with("devices[1].containerEdits.env[0]: "));
}

TEST_CASE("a vendor may be as long as a DNS name, and no longer") {
  const std::string label(62, 'a');
  Spec spec = good_spec();
  std::vector<cdi::Error> warnings;
  spec.kind = label + "." + label + "." + label + "." + label + ".b/c";  // 253 bytes and the class
  CHECK(cdi::validate(spec, &warnings));
  CHECK(warnings.empty());
  spec.kind = label + "." + label + "." + label + "." + label + ".bb/c";
  CHECK(cdi::validate(spec, &warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].rule == "kind-vendor-dns");
}

TEST_CASE("Linux takes no slash, colon or white space in the name of an interface") {
  for (const char c : std::string{"/: \t\n\v\f\r"}) {
    Spec spec = good_spec();
    edits_of(spec).net_devices = {{.host_interface_name = "a", .name = std::string{"a"} + c}};
    std::vector<cdi::Error> warnings;
    CHECK(cdi::validate(spec, &warnings));
    CHECK(warnings.size() == 1);
  }
}

TEST_CASE("of many warnings, the first are given") {
  Spec spec = good_spec();
  edits_of(spec).additional_gids.assign(200'000, 0);
  std::vector<cdi::Error> warnings;
  CHECK(cdi::validate(spec, &warnings));
  REQUIRE(warnings.size() == cdi::most_warnings);
  CHECK(warnings.back().where == "containerEdits.additionalGids[99]");
  edits_of(spec).env = {"A"};
  CHECK_FALSE(cdi::validate(spec));
}

TEST_CASE("an error is one line of UTF-8, whatever stands in the key of an annotation") {
  for (const std::string& key : {std::string{"a\nb"}, std::string{"\x1b[31m"}, std::string{"\xff"},
                                 std::string(1 << 20, '-')}) {
    Spec spec = good_spec();
    spec.annotations = {{key, ""}};
    const auto good = cdi::validate(spec, nullptr, cdi::Purpose::write);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == "annotations." + key);
    const auto text = to_string(good.error());
    CHECK(text.size() < 1000);
    CHECK(cdi::detail::is_utf8(text));
    CHECK(text.find_first_of("\n\x1b") == std::string::npos);
  }
}
