// Tests for include/cdi/model/copy_as.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/copy_as.hpp>
#include <cdi/model/spec.hpp>

namespace {

/// A model whose members have default values that are not empty.
template <class S>
struct Begun {
  cdi::StringOf<S> text{"a"};
  cdi::ListOf<S, int> list{1, 2};
  cdi::DictOf<S, int> dict{{"b", 3}};
  std::optional<int> number{4};

  static constexpr void fields(auto& list) {
    list("text", &Begun::text);
    list("list", &Begun::list);
    list("dict", &Begun::dict);
    list("number", &Begun::number);
  }
};

static_assert(cdi::detail::is_same_model(cdi::detail::type_of<cdi::Spec>,
                                         cdi::detail::type_of<cdi::SpecView>));
static_assert(!cdi::detail::is_same_model(cdi::detail::type_of<cdi::Spec>,
                                          cdi::detail::type_of<cdi::DeviceView>));

cdi::Spec every_field_said() {
  return {
      .version = "1.1.0",
      .kind = "vendor.com/gpu",
      .annotations = {{"spec.note", "a"}, {"spec.other", "b"}},
      .devices = {{
                      .name = "0",
                      .annotations = {{"device.note", "c"}},
                      .container_edits =
                          {
                              .env = {"A=1", "B=2"},
                              .device_nodes = {{.path = "/dev/a",
                                                .host_path = "/dev/b",
                                                .type = "c",
                                                .major = 195,
                                                .minor = -1,
                                                .file_mode = 0,
                                                .permissions = "rw",
                                                .uid = 1,
                                                .gid = 2}},
                              .net_devices = {{.host_interface_name = "eth0", .name = "net0"}},
                              .hooks = {{.hook_name = "prestart",
                                         .path = "/bin/hook",
                                         .args = {"hook", "-v"},
                                         .env = {"C=3"},
                                         .timeout = 0}},
                              .mounts = {{.host_path = "/a",
                                          .container_path = "/b",
                                          .options = {"ro", "bind"},
                                          .type = "bind"}},
                              .intel_rdt = {{.clos_id = "class",
                                             .l3_cache_schema = "L3:0=f",
                                             .mem_bw_schema = "MB:0=70",
                                             .schemata = {{"L3:0=f"}},
                                             .enable_monitoring = true}},
                              .additional_gids = {0, 4294967295},
                          },
                  },
                  {.name = "1", .container_edits = {.env = {"D=4"}}}},
      .container_edits = {.env = {"E=5"}, .intel_rdt = cdi::IntelRdt{}},
  };
}

bool points_into(std::string_view view, std::string_view text) {
  return view.data() == text.data() && view.size() == text.size();
}

TEST_CASE("A view of a spec has the same values, and points into it") {
  const cdi::Spec spec = every_field_said();
  const auto view = cdi::copy_as<cdi::SpecView>(spec);
  CHECK(points_into(view.kind, spec.kind));
  CHECK(points_into(view.annotations.begin()->first, spec.annotations.begin()->first));
  CHECK(points_into(view.annotations.begin()->second, spec.annotations.begin()->second));
  const auto& from = spec.devices[0].container_edits;
  const auto& to = view.devices[0].container_edits;
  CHECK(points_into(to.env[1], from.env[1]));
  CHECK(points_into(to.hooks[0].args[1], from.hooks[0].args[1]));
  CHECK(points_into(to.intel_rdt->clos_id, from.intel_rdt->clos_id));
  CHECK(points_into(to.intel_rdt->schemata->at(0), from.intel_rdt->schemata->at(0)));
}

TEST_CASE("A spec that is copied to a view and back is equal") {
  const cdi::Spec spec = every_field_said();
  CHECK(cdi::copy_as<cdi::Spec>(cdi::copy_as<cdi::SpecView>(spec)) == spec);
  const cdi::Spec empty;
  CHECK(cdi::copy_as<cdi::Spec>(cdi::copy_as<cdi::SpecView>(empty)) == empty);
}

template <class From>
concept ViewedAs = requires(From&& from) {
  cdi::copy_as<cdi::SpecView>(std::forward<From>(from));
};
static_assert(ViewedAs<const cdi::Spec&>);
static_assert(!ViewedAs<cdi::Spec>);  // it would be gone before the view is used

TEST_CASE("An owning model keeps its text when the source is destroyed") {
  cdi::Spec spec = every_field_said();
  const auto copy = cdi::copy_as<cdi::Spec>(cdi::copy_as<cdi::SpecView>(spec));
  spec = {};
  CHECK(copy == every_field_said());
}

TEST_CASE("Absent members stay absent, and empty ones empty") {
  cdi::IntelRdt rdt;
  CHECK_FALSE(cdi::copy_as<cdi::BasicIntelRdt<cdi::Borrowed>>(rdt).schemata);
  rdt.schemata.emplace();
  const auto view = cdi::copy_as<cdi::BasicIntelRdt<cdi::Borrowed>>(rdt);
  REQUIRE(view.schemata);
  CHECK(view.schemata->empty());
}

TEST_CASE("A part of a spec is copied like the whole") {
  const auto node = cdi::copy_as<cdi::DeviceNode>(
      cdi::BasicDeviceNode<cdi::Borrowed>{.path = "/dev/x", .uid = 0});
  CHECK(node == cdi::DeviceNode{.path = "/dev/x", .uid = 0});
}

TEST_CASE("Empty members replace the default values of a model") {
  Begun<cdi::Owning> empty;
  empty.text.clear();
  empty.list.clear();
  empty.dict.clear();
  empty.number.reset();
  const auto view = cdi::copy_as<Begun<cdi::Borrowed>>(empty);
  CHECK(view.text.empty());
  CHECK(view.list.empty());
  CHECK(view.dict.empty());
  CHECK_FALSE(view.number);
}

}  // namespace
