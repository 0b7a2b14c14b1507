// Tests for include/cdi/policy/decision.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/policy/decision.hpp>
#include <cdi/rules/rules.hpp>

namespace {

using cdi::RequestOrigin;
using Texts = std::vector<std::string>;

const cdi::OptionalTexts no_texts{std::in_place};

/// A spec in /etc/cdi, owned by root, with one device.
cdi::LoadedSpec spec_with(cdi::ContainerEdits edits, cdi::ContainerEdits of_spec = {}) {
  cdi::LoadedSpec loaded{.path = "/etc/cdi/gpu.yaml", .access = cdi::FileAccess{.mode = 0644}};
  loaded.spec.kind = "vendor.com/gpu";
  loaded.spec.devices = {{.name = "0", .container_edits = std::move(edits)}};
  loaded.spec.container_edits = std::move(of_spec);
  return loaded;
}

cdi::Decision decide_on(const cdi::LoadedSpec& spec, const cdi::Policy& policy,
                        RequestOrigin origin = RequestOrigin::field) {
  const cdi::ResolvedDevice device{&spec, spec.spec.devices.data()};
  auto decisions = cdi::decide(policy, {&device, 1}, origin);
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].allowed == decisions[0].reasons.empty());
  return std::move(decisions[0]);
}

/// Whether one rule that allows with these conditions allows the device of a spec.
bool is_allowed(const cdi::LoadedSpec& spec, cdi::PolicyRule rule,
                RequestOrigin origin = RequestOrigin::field) {
  rule.allow = true;
  return decide_on(spec, {.rules = {rule}}, origin).allowed;
}

/// The members that the limits deny to a device with these edits.
Texts denied(const cdi::EditLimits& limits, cdi::ContainerEdits edits) {
  const auto decision = decide_on(spec_with(std::move(edits)),
                                  {.rules = {{.name = "r", .allow = true, .edits = limits}}});
  Texts members;
  for (const auto& reason : decision.reasons) {
    constexpr std::string_view outer = "devices[0].containerEdits.";
    REQUIRE(reason.member.starts_with(outer));
    members.push_back(reason.member.substr(outer.size()));
  }
  return members;
}

}  // namespace

TEST_CASE("Without a rule that applies, a device is denied") {
  const auto spec = spec_with({});
  const auto decision = decide_on(spec, {});
  CHECK_FALSE(decision.allowed);
  CHECK(decision.rule == "");
  CHECK(decision.device == "vendor.com/gpu=0");
  CHECK(decision.file == "/etc/cdi/gpu.yaml");
  CHECK_FALSE(
      decide_on(spec, {.rules = {{.name = "r", .allow = true, .devices = {{"a/b=*"}}}}}).allowed);
}

TEST_CASE("The first rule that applies decides, also against later ones") {
  const cdi::PolicyRule other{.name = "other", .allow = true, .devices = {{"a/b=*"}}};
  const cdi::PolicyRule no{.name = "no", .devices = {{"vendor.com/*=0"}}};
  const cdi::PolicyRule yes{.name = "yes", .allow = true};
  const cdi::PolicyRule strict{.name = "strict", .allow = true, .edits = {.env = no_texts}};
  const auto spec = spec_with({.env = {"A=1"}});
  CHECK(decide_on(spec, {.rules = {other, no, yes}}).rule == "no");
  CHECK_FALSE(decide_on(spec, {.rules = {other, no, yes}}).allowed);
  CHECK(decide_on(spec, {.rules = {other, yes, no}}).rule == "yes");
  CHECK(decide_on(spec, {.rules = {other, yes, no}}).allowed);
  // The limits of a rule decide, too: the next rule is not asked.
  CHECK(decide_on(spec, {.rules = {strict, yes}}).rule == "strict");
  CHECK_FALSE(decide_on(spec, {.rules = {strict, yes}}).allowed);
}

TEST_CASE("Conditions on device, source and file") {
  const auto spec = spec_with({});
  CHECK(is_allowed(spec, {.devices = {{"a/b=c", "vendor.com/gpu=*"}}}));
  CHECK_FALSE(is_allowed(spec, {.devices = no_texts}));
  CHECK(is_allowed(spec, {.sources = {{"field"}}}));
  CHECK_FALSE(is_allowed(spec, {.sources = {{"field"}}}, RequestOrigin::annotation));
  CHECK(is_allowed(spec, {.sources = {{"variable", "annotation"}}}, RequestOrigin::annotation));
  CHECK(is_allowed(spec, {.sources = {{"commandLine"}}}, RequestOrigin::command_line));
  CHECK(is_allowed(spec, {.files = {{"/etc/cdi"}}}));
  CHECK(is_allowed(spec, {.files = {{"/etc/cdi/gpu.*"}}}));
  CHECK_FALSE(is_allowed(spec, {.files = {{"/var/run/cdi", "/etc/cdi/nic.yaml"}}}));
}

TEST_CASE("Conditions on owner, group and mode of the file") {
  auto spec = spec_with({});
  const auto set = [&](cdi::FileAccess access) {
    spec.access = access;
    return spec;
  };
  CHECK(is_allowed(set({0, 0, 0644}), {.file_owners = {{0}}, .file_groups = {{0}}}));
  CHECK_FALSE(is_allowed(set({1000, 0, 0644}), {.file_owners = {{0}}}));
  CHECK(is_allowed(set({1000, 0, 0644}), {.file_owners = {{0, 1000}}}));
  CHECK_FALSE(is_allowed(set({0, 7, 0644}), {.file_groups = {{0}}}));
  CHECK(is_allowed(set({0, 0, 0600}), {.file_mode = "0644"}));
  CHECK(is_allowed(set({0, 0, 0644}), {.file_mode = "0644"}));
  CHECK_FALSE(is_allowed(set({0, 0, 0664}), {.file_mode = "0644"}));
  CHECK_FALSE(is_allowed(set({0, 0, 04644}), {.file_mode = "0644"}));
}

TEST_CASE("What is not known is against the device") {
  auto spec = spec_with({});
  spec.access.reset();
  spec.path = "made by hand";
  CHECK(is_allowed(spec, {}));
  for (const cdi::PolicyRule& rule :
       {cdi::PolicyRule{.file_owners = {{0}}}, cdi::PolicyRule{.file_groups = {{0}}},
        cdi::PolicyRule{.file_mode = "0777"}, cdi::PolicyRule{.files = {{"/"}}}}) {
    CHECK_FALSE(is_allowed(spec, rule));
    auto deny = rule;
    deny.name = "deny";
    CHECK(decide_on(spec, {.rules = {deny, {.name = "all", .allow = true}}}).rule == "deny");
  }
  const cdi::ResolvedDevice device{&spec, spec.spec.devices.data()};
  const cdi::Policy by_source{.rules = {{.name = "s", .sources = {{"annotation"}}}}};
  const auto decisions = cdi::decide(by_source, {&device, 1}, std::span<cdi::RequestedDevice>{});
  REQUIRE(decisions.size() == 1);
  CHECK(decisions[0].rule == "s");
}

TEST_CASE("Only * alone covers a variable whose name has a line end or a control character") {
  for (const char* const name : {"GPU\nLD_PRELOAD", "GPU\rLD_PRELOAD", "GPU\t", "\x7fGPU",
                                 "GPU\u0085LD_PRELOAD", "GPU\u2028LD_PRELOAD", "GPU\u2029"}) {
    CAPTURE(name);
    const auto entry = name + std::string{"=/x"};
    for (const char* const pattern : {"GPU*", "*GPU*", "**", name}) {
      CAPTURE(pattern);
      CHECK(denied({.env = {{pattern}}}, {.env = {entry}}) == Texts{"env[0]"});
      CHECK(denied({.hook_env = {{pattern}}}, {.hooks = {{.path = "/h", .env = {entry}}}}) ==
            Texts{"hooks[0].env[0]"});
    }
    CHECK(denied({.env = {{"GPU*", "*"}}}, {.env = {entry}}) == Texts{});
    CHECK(denied({}, {.env = {entry}}) == Texts{});
  }
  // The value may have them.
  CHECK(denied({.env = {{"GPU*"}}}, {.env = {"GPU\u00e9=a\nb"}}) == Texts{});
}

TEST_CASE("Each kind of edit has its limits") {
  CHECK(denied({}, {.env = {"A=1"}, .hooks = {{.path = "x"}}, .mounts = {{.host_path = "y"}}}) ==
        Texts{});
  CHECK(denied({.env = {{"GPU_*"}}}, {.env = {"GPU_A=1", "PATH=/x", "GPU_=", "LD_PRELOAD=GPU_"}}) ==
        Texts{"env[1]", "env[3]"});
  CHECK(denied({.device_nodes = {{"/dev/gpu*"}}},
               {.device_nodes = {{.path = "/dev/gpu0"},
                                 {.path = "/dev/gpu0", .host_path = "/dev/mem"},
                                 {.path = "/dev/x", .host_path = "/dev/gpu1"},
                                 {.path = "/dev/mem"}}}) ==
        Texts{"deviceNodes[1].hostPath", "deviceNodes[3].path"});
  CHECK(denied({.node_numbers = false},
               {.device_nodes = {{.path = "/dev/gpu0"},
                                 {.path = "/dev/gpu0", .type = "b", .major = 8}}}) ==
        Texts{"deviceNodes[1].major"});
  CHECK(denied({.net_devices = {{"eth*"}}}, {.net_devices = {{"eth0", "a"}, {"ib0", "eth1"}}}) ==
        Texts{"netDevices[1].hostInterfaceName"});
  CHECK(denied({.hooks = {{"/usr/bin"}}},
               {.hooks = {{.path = "/usr/bin/a"}, {.path = "/usr/bin/../bin/a"}, {.path = "a"}}}) ==
        Texts{"hooks[1].path", "hooks[2].path"});
  CHECK(denied({.hooks = {{"/a"}}, .hook_env = {{"GPU*"}}},
               {.hooks = {{.path = "/a", .env = {"GPU=1", "LD_PRELOAD=/x"}}}}) ==
        Texts{"hooks[0].env[1]"});
  CHECK(denied({.hooks = no_texts}, {.hooks = {{.path = "/a"}}}) == Texts{"hooks[0].path"});
  CHECK(denied({.intel_rdt = false}, {.intel_rdt = cdi::IntelRdt{}}) == Texts{"intelRdt"});
  CHECK(denied({.additional_gids = {{44}}}, {.additional_gids = {44, 0, 45}}) ==
        Texts{"additionalGids[2]"});
}

TEST_CASE("Mounts have roots, must be bind mounts there, and may have to be read-only") {
  const cdi::Mount read_only{.host_path = "/usr/lib/a", .options = {"ro", "bind"}};
  CHECK(denied({.mounts = {{"/usr/lib"}}, .writable_mounts = false}, {.mounts = {read_only}}) ==
        Texts{});
  CHECK(denied({.mounts = {{"/usr/lib"}}},
               {.mounts = {{.host_path = "/usr/lib/a", .type = "bind"},
                           {.host_path = "/usr/lib/../../etc"},
                           {.host_path = "/usr/lib", .options = {"lowerdir=/"}, .type = "overlay"},
                           {.host_path = "tmpfs", .type = "tmpfs"},
                           {.host_path = "/usr/lib/b", .options = {"bind"}, .type = "tmpfs"},
                           {.host_path = "/usr/lib/b", .options = {"rbind"}, .type = "rbind"}}}) ==
        Texts{"mounts[1].hostPath", "mounts[2].type", "mounts[3].type", "mounts[4].type"});
  CHECK(denied({.writable_mounts = false}, {.mounts = {{.host_path = "/a"},
                                                       {.host_path = "/a", .options = {"ro", "rw"}},
                                                       {.host_path = "/a", .options = {"rw", "ro"}},
                                                       {.host_path = "/a", .options = {"rro"}}}}) ==
        Texts{"mounts[0]", "mounts[1]", "mounts[3]"});
  // runc and crun make the mount of these options writable.
  CHECK(denied({.writable_mounts = false},
               {.mounts = {{.host_path = "/a", .options = {"rrw", "ro"}}}}) == Texts{"mounts[0]"});
}

TEST_CASE("A list of mounts covers no remount, which changes another mount") {
  const cdi::Mount remount{
      .host_path = "/usr/lib/a", .container_path = "/sys", .options = {"bind", "remount", "rw"}};
  CHECK(denied({.mounts = {{"/usr/lib"}}}, {.mounts = {remount}}) == Texts{"mounts[0].options[1]"});
  CHECK(denied({}, {.mounts = {remount}}) == Texts{});
}

TEST_CASE("The options of mounts can be limited") {
  const cdi::Mount mount{.host_path = "/a", .options = {"ro", "rbind", "rshared", "size=1k"}};
  CHECK(denied({.mount_options = {{"ro", "*bind", "size=*"}}}, {.mounts = {mount}}) ==
        Texts{"mounts[0].options[2]"});
  CHECK(denied({.mount_options = no_texts}, {.mounts = {mount}}).size() == 4);
  CHECK(denied({.mount_options = no_texts}, {.mounts = {{.host_path = "/a"}}}) == Texts{});
}

TEST_CASE("No limit covers a path with .., which leads elsewhere behind a link") {
  const cdi::OptionalTexts all{{"/"}};
  CHECK(denied({.device_nodes = all, .hooks = all, .mounts = all},
               {.device_nodes = {{.path = "/dev/fd/../root/a"}},
                .hooks = {{.path = "/usr/bin/.."}},
                .mounts = {{.host_path = "/usr/lib/ssl/certs/../../shadow"},
                           {.host_path = "/usr/lib/..a/b.."}}}) ==
        Texts{"deviceNodes[0].path", "hooks[0].path", "mounts[0].hostPath"});
  CHECK(denied({}, {.hooks = {{.path = "/usr/bin/.."}}}) == Texts{});
}

TEST_CASE("The edits of a spec count for each of its devices, and reasons have a place") {
  auto spec = spec_with({.env = {"B=1"}}, {.env = {"A=1"}});
  spec.edits_position = {7, 1};
  spec.device_positions = {{4, 1}};
  const cdi::Policy policy{.rules = {{.name = "r", .allow = true, .edits = {.env = {{"B"}}}}}};
  const auto decision = decide_on(spec, policy);
  REQUIRE(decision.reasons.size() == 1);
  CHECK(decision.reasons[0] ==
        cdi::DenyReason{.message = "sets the variable \"A\", which the rule does not allow",
                        .member = "containerEdits.env[0]",
                        .line = 7,
                        .column = 1});
  const auto rejected = cdi::require_allowed({&decision, 1});
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().code == cdi::Errc::denied);
  CHECK(to_string(rejected.error()) ==
        "/etc/cdi/gpu.yaml:7:1: containerEdits.env[0]: the policy denies \"vendor.com/gpu=0\", by "
        "the rule \"r\": sets the variable \"A\", which the rule does not allow");
}

TEST_CASE("Devices are decided one by one, each by its own request") {
  const auto spec = spec_with({});
  const cdi::ResolvedDevice device{&spec, spec.spec.devices.data()};
  const cdi::ResolvedDevice devices[] = {device, device, device};
  const cdi::RequestedDevice requested[] = {
      {.name = "vendor.com/gpu=0", .origin = RequestOrigin::field},
      {.name = "vendor.com/gpu=0", .origin = RequestOrigin::annotation, .key = "cdi.k8s.io/a"},
      {.name = "vendor.com/gpu=0", .origin = RequestOrigin::variable, .key = "GPUS"}};
  const cdi::Policy policy{.rules = {{.name = "r", .allow = true, .sources = {{"field"}}}}};
  const auto decisions = cdi::decide(policy, devices, requested);
  REQUIRE(decisions.size() == 3);
  CHECK(decisions[0].allowed);
  CHECK_FALSE(decisions[1].allowed);
  CHECK(decisions[1].source == "annotation");
  CHECK(decisions[1].key == "cdi.k8s.io/a");
  CHECK(decisions[2].source == "variable");
  CHECK(cdi::require_allowed({decisions.data(), 1}));
  const auto rejected = cdi::require_allowed(decisions);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().message.ends_with("; it also denies 1 more"));
  CHECK(cdi::require_allowed({}));
}

TEST_CASE("The request of a device is found by its name") {
  auto spec = spec_with({});
  spec.spec.devices.push_back({.name = "1"});
  spec.spec.devices.push_back({.name = "2"});
  const cdi::ResolvedDevice zero{&spec, &spec.spec.devices[0]};
  const cdi::ResolvedDevice one{&spec, &spec.spec.devices[1]};
  const cdi::ResolvedDevice two{&spec, &spec.spec.devices[2]};
  const cdi::RequestedDevice requested[] = {
      {.name = "vendor.com/gpu=missing", .origin = RequestOrigin::field},
      {.name = "vendor.com/gpu=1", .origin = RequestOrigin::annotation, .key = "cdi.k8s.io/a"},
      {.name = "vendor.com/gpu=0", .origin = RequestOrigin::field},
      {.name = "vendor.com/gpu=0", .origin = RequestOrigin::variable, .key = "GPUS"}};
  const auto sources_of = [&](std::initializer_list<cdi::ResolvedDevice> devices) {
    std::string sources;
    for (const auto& decision :
         cdi::decide({.rules = {{.name = "r", .allow = true}}}, std::vector(devices), requested)) {
      sources += decision.source + ",";
    }
    return sources;
  };
  CHECK(sources_of({one, zero}) == "annotation,field,");  // those that resolve
  CHECK(sources_of({zero, one, zero}) == "field,annotation,variable,");
  CHECK(sources_of({zero, zero, zero}) == "field,variable,,");
  CHECK(sources_of({two}) == ",");
  const cdi::Policy field_only{
      .rules = {{.name = "f", .allow = true, .sources = {{"field"}}}, {.name = "d"}}};
  const cdi::ResolvedDevice unknown[] = {one, two};
  const auto decisions = cdi::decide(field_only, unknown, requested);
  CHECK(decisions[0].rule == "d");
  CHECK(decisions[0].key == "cdi.k8s.io/a");
  CHECK(decisions[1].source.empty());
  CHECK(decisions[1].rule == "d");
  CHECK_FALSE(decisions[1].allowed);
}

TEST_CASE("The log is JSON, whatever bytes a path has") {
  auto spec = spec_with({});
  spec.path = "/etc/cdi/\xff.json";
  const auto decision = decide_on(spec, {.rules = {{.name = "r", .allow = true}}});
  CHECK(cdi::write_decisions({&decision, 1}, -1) ==
        R"({"allowed":true,"decisions":[{"device":"vendor.com/gpu=0","allowed":true,"rule":"r",)"
        R"("source":"field","file":"/etc/cdi/\\xff.json"}]})");
  CHECK(cdi::write_decisions({}, -1) == R"({"allowed":true,"decisions":[]})");
  const auto no = decide_on(spec, {});
  CHECK(cdi::write_decisions({&no, 1}, -1).starts_with(R"({"allowed":false,)"));
}

TEST_CASE("The reasons of one decision are bounded") {
  cdi::ContainerEdits edits;
  for (std::size_t i = 0; i < 1000; ++i) edits.env.push_back("A=1");
  CHECK(denied({.env = no_texts}, std::move(edits)).size() == cdi::max_warnings);
}

// Comparing each edit with each pattern, and the edits of the spec again for each device, would run
// into the timeout.
TEST_CASE("Many devices, edits and patterns") {
  constexpr int count = 30'000;
  cdi::EditLimits limits{
      .env = no_texts, .mounts = no_texts, .additional_gids = std::vector<std::uint32_t>{}};
  cdi::ContainerEdits edits;
  for (int i = 0; i < count; ++i) {
    const auto name = std::to_string(i);
    limits.env->push_back("V" + name);
    limits.mounts->push_back("/a/" + name);
    limits.additional_gids->push_back(static_cast<std::uint32_t>(i));
    edits.env.push_back("V" + name + "=1");
    edits.mounts.push_back({.host_path = "/a/" + name + "/b", .container_path = "/c"});
    edits.additional_gids.push_back(static_cast<std::uint32_t>(i));
  }
  const auto spec = spec_with(edits, edits);
  const std::vector<cdi::ResolvedDevice> devices(3, {&spec, spec.spec.devices.data()});
  auto spec_alone = spec_with({}, edits);
  const std::vector<cdi::ResolvedDevice> more(count, {&spec_alone, spec_alone.spec.devices.data()});
  const cdi::Policy policy{.rules = {{.name = "r", .allow = true, .edits = limits}}};
  for (const auto& some : {devices, more}) {
    const auto decisions = cdi::decide(policy, some, RequestOrigin::field);
    REQUIRE(decisions.size() == some.size());
    CHECK(cdi::require_allowed(decisions));
  }
}
