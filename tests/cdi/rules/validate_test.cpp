// Tests for include/cdi/rules/validate.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>

#include "checked_specs.hpp"

using cdi::Spec;

TEST_CASE("The version must be a known one, and the message lists them") {
  Spec spec = whole_spec();
  for (const std::string version : {"", "1.1", "2.0.0"}) {
    spec.version = version;
    CHECK(fault(spec) ==
          "cdiVersion: unknown version \"" + version +
              "\": use one of 0.3.0, 0.4.0, 0.5.0, 0.6.0, 0.7.0, 0.8.0, 1.0.0, 1.1.0");
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

TEST_CASE("Every broken rule of a spec is an error, in the order of validate") {
  Spec spec = whole_spec();
  CHECK(cdi::every_error(spec).empty());
  spec.version = "0.2";
  spec.kind = "gpu";
  spec.devices[0].name = "a b";
  spec.annotations = {{"a b", "c"}};
  spec.devices.push_back({.name = "n", .container_edits = {.env = {std::string{"A=\0", 3}, "B"}}});
  std::vector<cdi::Error> warnings;
  const auto rules_of = [&](const std::vector<cdi::Error>& errors) {
    std::string out;
    for (const auto& error : errors) out.append(error.rule).append(" ");
    return out;
  };
  CHECK(rules_of(cdi::every_error(spec, &warnings)) ==
        "text-nul version-known kind-name device-name env-entry ");
  CHECK(rules_of(warnings) == "annotation-key ");
  CHECK(rules_of(cdi::every_error(spec, nullptr, cdi::ValidateFor::writing)) ==
        "text-nul version-known kind-name annotation-key device-name env-entry ");
  CHECK(cdi::every_error(spec).front().where == cdi::validate(spec).error().where);
}

TEST_CASE("Host paths and mount types of devices before the last are too new only to writers") {
  const cdi::Device plain{.name = "a", .container_edits = {.env = {"A=1"}}};
  cdi::Device typed{.name = "b"};
  typed.container_edits.mounts = {
      {.host_path = "/a", .container_path = "/b", .options = {"bind"}, .type = "bind"}};
  cdi::Device node{.name = "c"};
  node.container_edits.device_nodes = {{.path = "/a", .host_path = "/b"}};
  Spec spec{.version = "0.3.0", .kind = "vendor.com/gpu", .devices = {node, typed, plain}};
  const std::string message =
      R"(version "0.3.0" is too old for devices[0].containerEdits.deviceNodes[0].hostPath)";
  std::vector<cdi::Error> warnings;
  CHECK(cdi::validate(spec, &warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message == message + "; such a spec can be read, but not written");
  const auto written = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
  REQUIRE_FALSE(written);
  CHECK(written.error().message == message);
  CHECK(written.error().advice == R"(write "0.5.0")");

  spec.devices = {node, plain, typed};
  CHECK(fault(spec) == "cdiVersion: " + message + R"(: write "0.5.0")");
  spec.version = "0.4.0";
  CHECK(fault(spec) == "");
  spec.devices = {plain, typed, node};
  CHECK(
      fault(spec).ends_with(R"(devices[2].containerEdits.deviceNodes[0].hostPath: write "0.5.0")"));
  spec.devices = {node, plain};
  CHECK(fault(spec) == "");
  spec.devices[0].name = "0";
  CHECK(fault(spec).ends_with(R"(write "0.5.0")"));
  spec.devices[0].name = "c";
  spec.container_edits = node.container_edits;
  CHECK(fault(spec).ends_with(R"(write "0.5.0")"));
  spec.container_edits = {};
  spec.devices[0].container_edits.additional_gids = {1};
  CHECK(fault(spec).ends_with(R"(write "0.7.0")"));
  spec.devices[0].container_edits.additional_gids = {};
  spec.version = "0.2.0";
  CHECK_FALSE(cdi::validate(spec));
}

TEST_CASE("The kind must have a vendor and a class") {
  Spec spec = whole_spec();
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

TEST_CASE("A device must have a valid name and edits") {
  Spec spec = whole_spec();
  spec.devices.push_back({.name = "a b", .container_edits = {.env = {"A=1"}}});
  CHECK(fault(spec).starts_with(R"(devices[1].name: device name "a b" may contain only)"));
  spec.devices[1] = {.name = "a", .annotations = {{"k", "v"}}};
  CHECK(fault(spec) ==
        R"(devices[1].containerEdits: device "a" has no edits: add edits, or remove the device)");
  spec.devices[1].container_edits.intel_rdt.emplace();
  CHECK(fault(spec) == "");
  spec.devices[1].container_edits = {.additional_gids = {0}};
  CHECK(fault(spec) == "");
}

TEST_CASE("A spec must have devices, each with a name of its own") {
  Spec spec = whole_spec();
  spec.devices.push_back({.name = "1", .container_edits = {.env = {"A=1"}}});
  spec.devices.push_back(spec.devices[0]);
  CHECK(fault(spec) ==
        R"(devices[2].name: device "0" is already defined by devices[0]: choose another name)");
  spec.devices.clear();
  CHECK(fault(spec) == "devices: the spec has no devices: define at least one");
}

TEST_CASE("The first broken rule is the error") {
  // Broken in everything; fixed one by one, in the order of the reference.
  Spec spec{.version = "x", .kind = "gpu", .annotations = {{"?", ""}}};
  spec.container_edits = {.env = {"A"},
                          .device_nodes = {{.type = "x"}},
                          .net_devices = {{}},
                          .hooks = {{.env = {"A"}}},
                          .mounts = {{}},
                          .intel_rdt = cdi::IntelRdt{.clos_id = "."}};
  spec.devices = {{.name = "-"}, {.name = "a", .container_edits = {.env = {"A=1"}}}};
  auto& edits = spec.container_edits;
  auto& device = spec.devices[0];

  struct Step {
    std::string where;
    std::function<void()> fix;
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
         spec = whole_spec();
       }},
  };
  for (const auto& row : steps) {
    CAPTURE(row.where);
    const auto good = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == row.where);
    row.fix();
  }
  CHECK(cdi::validate(spec));
}

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

using cdi::Rule;

const std::vector<Breach> breaches{
    {Rule::version_known, "cdiVersion",
     [](Spec& s) {
       s.version = "1.2";
     }},
    {Rule::version_new_enough, "cdiVersion",
     [](Spec& s) {
       s.version = "0.4.0";
     }},
    {Rule::version_earlier_devices, "cdiVersion",
     [](Spec& s) {
       s.version = "0.4.0";
       s.devices[0].name = "a";
       s.devices[0].container_edits.device_nodes = {{.path = "/a", .host_path = "/b"}};
       s.devices.push_back({.name = "b", .container_edits = {.env = {"A=1"}}});
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
    {Rule::node_number_size, "containerEdits.deviceNodes[1].major",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "/x", .major = 4095, .minor = 1048575},
                                   {.path = "/y", .major = 4096}};
     }},
    {Rule::node_number_size, "containerEdits.deviceNodes[0].minor",
     [](Spec& s) {
       edits_of(s).device_nodes = {{.path = "/x", .minor = 1048576}};
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
       edits_of(s).mounts = {{.host_path = "/h", .container_path = "c", .options = {"bind"}}};
     }},
    {Rule::mount_bind, "containerEdits.mounts[0].options",
     [](Spec& s) {
       edits_of(s).mounts = {
           {.host_path = "/h", .container_path = "/c", .options = {"ro"}, .type = "none"}};
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

}  // namespace

TEST_CASE("Each rule is checked, and has the severity that the table says") {
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
    Spec spec = whole_spec();
    breach.change(spec);
    std::vector<cdi::Error> warnings;
    const auto good = cdi::validate(spec, &warnings);
    REQUIRE(good.has_value() == (row.severity != cdi::Severity::error));
    REQUIRE(warnings.size() == (good ? 1 : 0));
    const auto& found = good ? warnings[0] : good.error();
    CHECK(found.rule == row.code);
    CHECK(found.where == breach.where);
    CHECK(cdi::validate(spec).has_value() == good.has_value());
    const auto written = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
    CHECK(written.has_value() == (row.severity == cdi::Severity::warning));
    if (!written) CHECK(written.error().rule == row.code);
    // What `validate` takes is written, unless its warning says that it is not.
    const bool said = found.message.ends_with("; such a spec can be read, but not written");
    CHECK(said == (good && !written));
    for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
      CHECK(cdi::write_spec(spec, format).has_value() == written.has_value());
    }
  }
  for (const auto& row : cdi::rules) {
    CAPTURE(row.code);
    CHECK(seen[static_cast<std::size_t>(row.rule)]);
  }
}

TEST_CASE("A spec just within the rules gets no warning") {
  Spec spec = whole_spec();
  spec.kind = std::string(63, 'v') + "." + std::string(63, 'w') + ".x-y.com/" + long_name.substr(1);
  spec.annotations = {{"example.com/key", std::string(262129, 'x')}};
  spec.devices[0].name = long_name.substr(1);
  edits_of(spec) = {
      .env = {"a.b-c/(x)= 'y' \"z\"", "1=2"},
      .device_nodes = {{.path = "/", .major = 0, .minor = 0}},
      .net_devices = {{.host_interface_name = interface_name.substr(1), .name = "ü@9"}},
      .hooks = {{.hook_name = "prestart", .path = "/h", .timeout = 1}},
      .mounts = {{.host_path = "rel", .container_path = "/", .options = {"rbind"}}},
      .additional_gids = {1}};
  std::vector<cdi::Error> warnings;
  CHECK(cdi::validate(spec, &warnings));
  for (const auto& warning : warnings) CHECK(to_string(warning) == "");
}

TEST_CASE("Fields of older versions are valid in those versions only") {
  Spec spec = whole_spec();
  edits_of(spec).intel_rdt = {.enable_cmt = true};
  for (const auto& row :
       {std::pair{"0.6.0", R"(cdiVersion: version "0.6.0" is too old for )"
                           R"(containerEdits.intelRdt: write "0.7.0")"},
        std::pair{"0.7.0", ""}, std::pair{"1.0.0", ""},
        std::pair{
            "1.1.0",
            R"(containerEdits.intelRdt.enableCMT: version "1.1.0" no longer defines the member: )"
            "write enableMonitoring, or declare a version before 1.1.0"}}) {
    CAPTURE(row.first);
    spec.version = row.first;
    CHECK(fault(spec) == row.second);
  }
}

TEST_CASE("The other rules on a device come before the one that its name is unique") {
  Spec spec = whole_spec();
  spec.devices.push_back(spec.devices[0]);
  spec.devices[1].container_edits.env = {"A"};
  CHECK(fault(spec).starts_with("devices[1].containerEdits.env[0]: "));
}

TEST_CASE("A vendor may be as long as a DNS name, and no longer") {
  const std::string label(62, 'a');
  Spec spec = whole_spec();
  std::vector<cdi::Error> warnings;
  spec.kind = label + "." + label + "." + label + "." + label + ".b/c";  // 253 bytes and the class
  CHECK(cdi::validate(spec, &warnings));
  CHECK(warnings.empty());
  spec.kind = label + "." + label + "." + label + "." + label + ".bb/c";
  CHECK(cdi::validate(spec, &warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].rule == "kind-vendor-dns");
}

TEST_CASE("An error is one line of UTF-8, whatever the key of an annotation contains") {
  for (const std::string& key : {std::string{"a\nb"}, std::string{"\x1b[31m"}, std::string{"\xff"},
                                 std::string(1 << 20, '-')}) {
    Spec spec = whole_spec();
    spec.annotations = {{key, ""}};
    const auto good = cdi::validate(spec, nullptr, cdi::ValidateFor::writing);
    REQUIRE_FALSE(good);
    CHECK(good.error().where == "annotations." + key);
    const auto text = to_string(good.error());
    CHECK(text.size() < 1000);
    CHECK(cdi::detail::is_utf8(text));
    CHECK(text.find_first_of("\n\x1b") == std::string::npos);
  }
}

TEST_CASE("A mount is one of a file system by its type, or a bind mount by its options") {
  const auto is_doubted = [](std::vector<std::string> options, std::string_view type) {
    Spec spec = whole_spec();
    edits_of(spec).mounts = {{.host_path = "/h",
                              .container_path = "/c",
                              .options = std::move(options),
                              .type = std::string{type}}};
    std::vector<cdi::Error> warnings;
    REQUIRE(cdi::validate(spec, &warnings));
    return !warnings.empty();
  };
  // Each of them was given to runc 1.1.5, which fails with "no such device" for those in doubt.
  for (const auto* const type : {"", "none", "bind", "rbind"}) {
    CAPTURE(type);
    CHECK(is_doubted({}, type));
    CHECK(is_doubted({"ro", "rprivate", "nosuid"}, type));
    CHECK_FALSE(is_doubted({"bind"}, type));
    CHECK_FALSE(is_doubted({"ro", "rbind"}, type));
  }
  for (const auto* const type : {"tmpfs", "proc", "nullfs", "ext4"}) {
    CHECK_FALSE(is_doubted({"ro"}, type));
  }
}

TEST_CASE("At most a thousand errors are listed, and the last ones are left out") {
  Spec spec = whole_spec();
  spec.kind = "gpu";
  auto& env = spec.devices[0].container_edits.env;
  env.assign(cdi::max_errors - 1, std::string(1, '\0'));
  const auto all = cdi::every_error(spec);
  REQUIRE(all.size() == cdi::max_errors);
  CHECK(all.back().rule == "kind-name");
  env.push_back(env.back());
  const auto first = cdi::every_error(spec);
  REQUIRE(first.size() == cdi::max_errors);
  CHECK(first.back().rule == "text-nul");
}
