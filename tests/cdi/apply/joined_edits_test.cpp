// Tests for include/cdi/apply/joined_edits.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/apply/joined_edits.hpp>
#include <cdi/model/copy_as.hpp>
#include <cdi/model/fields.hpp>

namespace {

constexpr cdi::detail::OptionalParts all_places{true, true, true, true};

using Sets = std::vector<cdi::ContainerEdits>;

cdi::Result<void> join(const Sets& sets, cdi::detail::JoinedEdits& to,
                       const cdi::detail::OptionalParts& places = all_places) {
  std::vector<const cdi::ContainerEdits*> all;
  for (const auto& edits : sets) all.push_back(&edits);
  return cdi::detail::join(std::span<const cdi::ContainerEdits* const>{all},
                           cdi::detail::Texts::unknown, places, to);
}

}  // namespace

TEST_CASE("Sets of edits are joined kind by kind, in order") {
  const Sets sets{
      {.env = {"A=1"},
       .device_nodes = {{.path = "/dev/a"}, {.path = "/dev/b"}},
       .mounts = {{.container_path = "/x"}},
       .intel_rdt = cdi::IntelRdt{.clos_id = "first", .schemata = {{"L3:0=f"}}},
       .additional_gids = {0, 5}},
      {},
      {.env = {"A=2"},
       .device_nodes = {{.path = "/dev/c"}},
       .intel_rdt = cdi::IntelRdt{.l3_cache_schema = "L3"},
       .additional_gids = {5}},
  };
  cdi::detail::JoinedEdits joined;
  REQUIRE(join(sets, joined));
  CHECK(joined.env == std::vector<std::string_view>{"A=1", "A=2"});
  CHECK(joined.nodes_end == std::vector<std::size_t>{2, 2, 3});
  CHECK(joined.mounts_end == std::vector<std::size_t>{1, 1, 1});
  CHECK(joined.nodes[2].path == "/dev/c");
  CHECK(joined.mounts.size() == 1);
  CHECK(joined.intel_rdt.clos_id == "");  // the last settings, whole
  CHECK(joined.intel_rdt.l3_cache_schema == "L3");
  CHECK(joined.intel_rdt.schemata.empty());
  CHECK(joined.gids == std::vector<std::uint32_t>{5, 5});  // `apply` adds each once
  CHECK(joined.touched.env);
  CHECK(joined.touched.devices);
  CHECK_FALSE(joined.touched.net_devices);
}

namespace {

/// An edit whose members all differ from their defaults.
template <class Edit>
Edit filled() {
  Edit edit;
  unsigned number = 0;
  cdi::every_field<Edit>([&](const auto& field) {
    auto& member = edit.*field.member;
    ++number;
    if constexpr (requires { member = "text"; }) {
      member = "text " + std::to_string(number);
    } else {
      member = number;
    }
    return true;
  });
  return edit;
}

}  // namespace

TEST_CASE("Each member of the field list of a node and of an interface is joined") {
  const auto node = filled<cdi::DeviceNode>();
  const auto device = filled<cdi::NetDevice>();
  const Sets sets{{.device_nodes = {node}, .net_devices = {device}}};
  cdi::detail::JoinedEdits joined;
  REQUIRE(join(sets, joined));
  CHECK(cdi::copy_as<cdi::DeviceNode>(joined.nodes.at(0)) == node);
  CHECK(cdi::copy_as<cdi::NetDevice>(joined.net_devices.at(0)) == device);
}

TEST_CASE("An error names the set, the member and what is wrong") {
  struct {
    cdi::ContainerEdits edits;
    cdi::detail::OptionalParts places;
    cdi::Errc code;
    std::string where;
  } const rows[] = {
      {{.hooks = {{.hook_name = "prestart", .path = "/h"}, {.hook_name = "x", .path = "/h"}}},
       all_places,
       cdi::Errc::invalid,
       "hooks[1].hookName"},
      {{.env = {"A=\xff"}}, all_places, cdi::Errc::invalid, ""},
      {{.net_devices = {{.host_interface_name = "eth0", .name = "a"}}},
       {false, true, true, true},
       cdi::Errc::unsupported,
       "netDevices"},
      {{.intel_rdt = cdi::IntelRdt{}},
       {true, false, true, true},
       cdi::Errc::unsupported,
       "intelRdt"},
      {{.additional_gids = {1}},
       {true, true, false, true},
       cdi::Errc::unsupported,
       "additionalGids"},
      {{.device_nodes = {{.path = "/dev/a"}}},
       {true, true, true, false},
       cdi::Errc::unsupported,
       "deviceNodes"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where);
    cdi::detail::JoinedEdits joined;
    const auto done = join({{.env = {"A=1"}}, row.edits, {}}, joined, row.places);
    REQUIRE_FALSE(done);
    CHECK(done.error().edits == 2);
    CHECK(done.error().code == row.code);
    CHECK(done.error().where == row.where);
  }
}

TEST_CASE("Net devices that contradict each other are refused") {
  const cdi::NetDevice device{.host_interface_name = "eth1", .name = "b"};
  const Sets sets{{.net_devices = {{.host_interface_name = "eth0", .name = "a"}, device}}, {}};
  struct {
    std::vector<cdi::NetDevice> devices;
    std::string where;
    std::string message;
  } const rows[] = {
      {{device, {.host_interface_name = "eth0", .name = "c"}},
       "netDevices[1].hostInterfaceName",
       "the host interface \"eth0\" gets two names, \"a\" and \"c\""},
      {{{.host_interface_name = "eth2", .name = "b"}},
       "netDevices[0].name",
       "two host interfaces, \"eth1\" and \"eth2\", get the name \"b\""},
      {{{.host_interface_name = "eth1", .name = "a"}},
       "netDevices[0].hostInterfaceName",
       "the host interface \"eth1\" gets two names, \"b\" and \"a\""},
      {{{.host_interface_name = "a", .name = "eth0"}, device}, "", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.where);
    auto all = sets;
    all.push_back({.net_devices = row.devices});
    cdi::detail::JoinedEdits joined;
    const auto done = join(all, joined);
    CHECK(done.has_value() == row.where.empty());
    if (done) continue;
    CHECK(done.error().edits == 3);
    CHECK(done.error().code == cdi::Errc::invalid);
    CHECK(done.error().where == row.where);
    CHECK(done.error().message == row.message);
  }
}

TEST_CASE("Of several faults, the first is reported") {
  cdi::detail::JoinedEdits joined;
  const auto hooks = join({{.hooks = {{.hook_name = "x"}, {.hook_name = "y"}}}}, joined);
  REQUIRE_FALSE(hooks);
  CHECK(hooks.error().where == "hooks[0].hookName");
  const auto texts = join({{.env = {"A=\xff", "B=\xff"}}}, joined);
  REQUIRE_FALSE(texts);
  CHECK(texts.error().message.find("A=") != std::string::npos);
}

TEST_CASE("The number of entries is limited, and one set of edits cannot be listed twice") {
  const Sets most{{.additional_gids = std::vector<std::uint32_t>(2'000'000, 7)}};
  cdi::detail::JoinedEdits joined;
  CHECK(join(most, joined));
  auto sets = most;
  sets[0].additional_gids.push_back(7);
  const auto one = join(sets, joined);
  REQUIRE_FALSE(one);
  CHECK(one.error().code == cdi::Errc::limit);
  CHECK(one.error().advice.empty());
  const auto two = join({most[0], {.env = {"A=1"}}}, joined);
  REQUIRE_FALSE(two);
  CHECK(two.error().advice == "list each device only once");
  cdi::ContainerEdits with_rdt;
  with_rdt.intel_rdt = cdi::IntelRdt{.schemata = std::vector<std::string>(1001)};
  const auto rdt = join(Sets(2000, with_rdt), joined);
  REQUIRE_FALSE(rdt);
  CHECK(rdt.error().code == cdi::Errc::limit);
  with_rdt.intel_rdt->schemata->pop_back();
  CHECK(join(Sets(2000, with_rdt), joined));
}

TEST_CASE("Edits without a part need no place for it") {
  cdi::detail::JoinedEdits joined;
  CHECK(join({{.env = {"A=1"}, .additional_gids = {0}}}, joined, {}));
}

TEST_CASE("A host that does not have a node is reported with the set and the node") {
  const Sets sets{{.device_nodes = {{.path = "/a"}}},
                  {.device_nodes = {{.path = "/b"}, {.path = "/gone"}}}};
  cdi::detail::JoinedEdits joined;
  REQUIRE(join(sets, joined));
  const auto host = [](std::string_view path) -> cdi::Result<cdi::HostNode> {
    if (path != "/gone") return cdi::HostNode{'c', 1, 2, 0600};
    return cdi::Error{.code = cdi::Errc::host};
  };
  const auto done = cdi::detail::complete_devices(joined, cdi::detail::HostRef{host}, {});
  REQUIRE_FALSE(done);
  CHECK(done.error().edits == 2);
  CHECK(done.error().where == "deviceNodes[1]");
}

TEST_CASE("Bind mounts get the id mapping that suits them, others none") {
  struct {
    cdi::Mount mount;
    std::vector<std::string_view> expected;
  } const rows[] = {
      {{.type = "bind"}, {"idmap"}},
      {{.options = {"rbind"}}, {"rbind", "ridmap"}},
      {{.options = {"rbind", "bind"}}, {"rbind", "bind", "idmap"}},
      {{.options = {"bind", "ridmap"}}, {"bind", "ridmap"}},
      {{.options = {"ro"}, .type = "tmpfs"}, {"ro"}},
  };
  cdi::oci::MountView view;  // of one row after the other
  for (const auto& row : rows) {
    cdi::detail::JoinedEdits joined;
    const Sets sets{{.mounts = {{.options = {"before"}}, row.mount}}};
    REQUIRE(join(sets, joined));
    cdi::detail::add_id_mappings(joined);
    cdi::detail::fill_view(joined, joined.mounts[1], view);
    CHECK(view.options == row.expected);
  }
}

TEST_CASE("Views of planned records have all that the edits have") {
  const Sets sets{
      {.hooks = {{.hook_name = "prestart", .path = "/g", .args = {"g"}},
                 {.hook_name = "poststop",
                  .path = "/h",
                  .args = {"h", "-x"},
                  .env = {"A=1"},
                  .timeout = 5}},
       .mounts = {{.host_path = "/s", .container_path = "/d", .options = {"ro"}, .type = "bind"}}}};
  cdi::detail::JoinedEdits joined;
  REQUIRE(join(sets, joined));
  cdi::oci::HookView hook;
  cdi::oci::MountView mount;
  using cdi::oci::HookPoint;
  for (const auto point : {HookPoint::prestart, HookPoint::poststop, HookPoint::poststart}) {
    CHECK(joined.touched.hooks[static_cast<std::size_t>(point)] == (point != HookPoint::poststart));
  }
  for (const auto& planned : joined.hooks) cdi::detail::fill_view(joined, planned, hook);
  for (const auto& planned : joined.mounts) cdi::detail::fill_view(joined, planned, mount);
  CHECK(joined.hooks[1].point == cdi::oci::HookPoint::poststop);
  CHECK(hook ==
        cdi::oci::HookView{.path = "/h", .args = {"h", "-x"}, .env = {"A=1"}, .timeout = 5});
  CHECK(mount == cdi::oci::MountView{
                     .destination = "/d", .type = "bind", .source = "/s", .options = {"ro"}});
}

TEST_CASE("Edits that have too many entries in all are refused") {
  cdi::ContainerEdits many;
  many.env.assign(1000, "A=1");
  many.hooks = {{.hook_name = "prestart", .path = "/h", .args = {"h"}}};
  many.mounts = {{.host_path = "/s", .container_path = "/d", .options = {"ro"}}};
  const std::vector<const cdi::ContainerEdits*> max(1992, &many);  // 1004 entries each
  const auto joined = [](std::span<const cdi::ContainerEdits* const> all) {
    cdi::detail::JoinedEdits to;
    const auto done = cdi::detail::join(all, cdi::detail::Texts::unknown, all_places, to);
    if (!done) CHECK(done.error().edits == 0);  // about none of them alone
    return done ? cdi::Errc{} : done.error().code;
  };
  CHECK(joined(max) == cdi::Errc{});
  const std::vector<const cdi::ContainerEdits*> more(1993, &many);
  CHECK(joined(more) == cdi::Errc::limit);
}

TEST_CASE("Texts that are known to be UTF-8 are not checked again") {
  const Sets sets{{.env = {"A=\xff"}}};
  const cdi::ContainerEdits* const all[] = {&sets[0]};
  cdi::detail::JoinedEdits joined;
  CHECK(cdi::detail::join(std::span<const cdi::ContainerEdits* const>{all},
                          cdi::detail::Texts::utf8, all_places, joined));
}

TEST_CASE("Joined edits, which may be millions, are not copied by mistake") {
  CHECK_FALSE(std::is_copy_constructible_v<cdi::detail::JoinedEdits>);
  CHECK_FALSE(std::is_copy_assignable_v<cdi::detail::JoinedEdits>);
}
