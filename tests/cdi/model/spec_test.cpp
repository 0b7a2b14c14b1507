// Tests for include/cdi/model/spec.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/model/type_of.hpp>

namespace {

using cdi::SpecVersion;

static_assert(std::is_aggregate_v<cdi::Spec> && std::is_aggregate_v<cdi::SpecView>);
static_assert(std::is_aggregate_v<cdi::Device> && std::is_aggregate_v<cdi::ContainerEdits>);
static_assert(std::is_aggregate_v<cdi::DeviceNode> && std::is_aggregate_v<cdi::NetDevice>);
static_assert(std::is_aggregate_v<cdi::Hook> && std::is_aggregate_v<cdi::Mount>);
static_assert(std::is_aggregate_v<cdi::IntelRdt>);
static_assert(std::is_nothrow_move_constructible_v<cdi::ContainerEdits>);
static_assert(std::is_same_v<decltype(cdi::SpecView::kind), std::string_view>);
static_assert(std::is_same_v<decltype(cdi::Spec::kind), std::string>);
static_assert(cdi::current_version == SpecVersion{1, 1, 0});

template <class T>
std::string keys() {
  std::string out;
  cdi::every_field<T>([&](const auto& field) {
    out.append(out.empty() ? "" : " ").append(field.key);
    return true;
  });
  return out;
}

template <class T>
std::string required_keys() {
  std::string out;
  cdi::every_field<T>([&](const auto& field) {
    if (field.when == cdi::required) out.append(out.empty() ? "" : " ").append(field.key);
    return true;
  });
  return out;
}

/// `key version` of the fields that versions after 0.3.0 introduced.
template <class T>
std::string later_keys() {
  std::string out;
  cdi::every_field<T>([&](const auto& field) {
    if (field.lifetime.since == SpecVersion{}) return true;
    out.append(out.empty() ? "" : ", ")
        .append(field.key)
        .append(" " + to_string(field.lifetime.since));
    return true;
  });
  return out;
}

TEST_CASE("Fields are in the order of the CDI document") {
  CHECK(keys<cdi::Spec>() == "cdiVersion kind annotations devices containerEdits");
  CHECK(keys<cdi::Device>() == "name annotations containerEdits");
  CHECK(keys<cdi::ContainerEdits>() ==
        "env deviceNodes netDevices hooks mounts intelRdt additionalGids");
  CHECK(keys<cdi::DeviceNode>() == "path hostPath type major minor fileMode permissions uid gid");
  CHECK(keys<cdi::NetDevice>() == "hostInterfaceName name");
  CHECK(keys<cdi::Hook>() == "hookName path args env timeout");
  CHECK(keys<cdi::Mount>() == "hostPath containerPath options type");
  CHECK(keys<cdi::IntelRdt>() ==
        "closID l3CacheSchema memBwSchema schemata enableMonitoring "
        "enableCMT enableMBM");
}

TEST_CASE("A view has the same fields as the owning type") {
  CHECK(keys<cdi::SpecView>() == keys<cdi::Spec>());
  CHECK(keys<cdi::ContainerEditsView>() == keys<cdi::ContainerEdits>());
}

TEST_CASE("Required fields must be in a document") {
  CHECK(required_keys<cdi::Spec>() == "cdiVersion kind devices");
  CHECK(required_keys<cdi::Device>() == "name containerEdits");
  CHECK(required_keys<cdi::ContainerEdits>() == "");
  CHECK(required_keys<cdi::DeviceNode>() == "path");
  CHECK(required_keys<cdi::NetDevice>() == "hostInterfaceName name");
  CHECK(required_keys<cdi::Hook>() == "hookName path");
  CHECK(required_keys<cdi::Mount>() == "hostPath containerPath");
  CHECK(required_keys<cdi::IntelRdt>() == "");
}

TEST_CASE("Each field has the version that introduced it") {
  CHECK(later_keys<cdi::Spec>() == "annotations 0.6.0");
  CHECK(later_keys<cdi::Device>() == "annotations 0.6.0");
  CHECK(later_keys<cdi::ContainerEdits>() ==
        "netDevices 1.1.0, intelRdt 0.7.0, additionalGids 0.7.0");
  CHECK(later_keys<cdi::DeviceNode>() == "hostPath 0.5.0");
  CHECK(later_keys<cdi::NetDevice>() == "");
  CHECK(later_keys<cdi::Hook>() == "");
  CHECK(later_keys<cdi::Mount>() == "type 0.4.0");
  CHECK(later_keys<cdi::IntelRdt>() ==
        "schemata 1.1.0, enableMonitoring 1.1.0, enableCMT 0.7.0, "
        "enableMBM 0.7.0");
}

TEST_CASE("Members that are not set are empty") {
  CHECK(cdi::is_empty(cdi::Spec{}));
  CHECK(cdi::is_empty(cdi::SpecView{}));
  const cdi::DeviceNode node;
  CHECK(node.major == 0);
  CHECK_FALSE(node.file_mode);
  CHECK_FALSE(node.uid);
  CHECK_FALSE(cdi::Hook{}.timeout);
  CHECK_FALSE(cdi::ContainerEdits{}.intel_rdt);
  CHECK_FALSE(cdi::IntelRdt{}.schemata);
}

TEST_CASE("An empty intelRdt and a group 0 are not empty edits, empty lists are") {
  CHECK_FALSE(cdi::is_empty(cdi::ContainerEdits{.intel_rdt = cdi::IntelRdt{}}));
  CHECK_FALSE(cdi::is_empty(cdi::ContainerEdits{.additional_gids = {0}}));
  CHECK_FALSE(cdi::is_empty(cdi::IntelRdt{.schemata = std::vector<std::string>{}}));
  CHECK(cdi::is_empty(cdi::ContainerEdits{.env = {}, .mounts = {}}));
}

TEST_CASE("Specs are made with designated initialisers and compared by value") {
  const auto make = [] {
    return cdi::Spec{
        .version = "1.1.0",
        .kind = "vendor.com/gpu",
        .devices = {{
            .name = "0",
            .container_edits = {.device_nodes = {{.path = "/dev/gpu0", .file_mode = 0640}}},
        }},
    };
  };
  const cdi::Spec spec = make();
  CHECK(spec == make());

  cdi::Spec other = make();
  other.devices[0].container_edits.device_nodes[0].file_mode.reset();
  CHECK(spec != other);
  other = make();
  other.annotations["a"] = "b";
  CHECK(spec != other);
}

}  // namespace
