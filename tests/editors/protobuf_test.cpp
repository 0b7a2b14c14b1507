// Edits have the same result in protobuf messages as in our OCI model.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../../examples/editors/protobuf_editor.hpp"
#include "../support/random_registry.hpp"
#include "edits.hpp"

namespace {

using Message = grpc::Spec;
using Model = cdi::oci::Spec;

static_assert(cdi::Editable<Message> && !cdi::FullyEditable<Message>);

void fill(const cdi::oci::IdMapping& mapping, grpc::LinuxIDMapping& out) {
  out.set_containerid(mapping.container_id);
  out.set_hostid(mapping.host_id);
  out.set_size(mapping.size);
}

void fill(const cdi::oci::Linux& part, grpc::Linux& out) {
  for (const auto& node : part.devices) {
    protobuf_editor::assign(cdi::copy_as<cdi::oci::LinuxDeviceView>(node), *out.add_devices());
  }
  for (const auto& space : part.namespaces) out.add_namespaces()->set_type(space.type);
  for (const auto& mapping : part.uid_mappings) fill(mapping, *out.add_uidmappings());
  for (const auto& mapping : part.gid_mappings) fill(mapping, *out.add_gidmappings());
  if (!part.resources) return;
  for (const auto& rule : part.resources->devices) {
    protobuf_editor::assign(cdi::copy_as<cdi::oci::LinuxDeviceCgroupView>(rule),
                            *out.mutable_resources()->add_devices());
  }
}

void fill(const cdi::oci::Hooks& hooks, Message& out) {
  cdi::SpecEditor<Message> editor{out};
  for (std::size_t i = 0; i < cdi::oci::hook_point_names.size(); ++i) {
    const auto point = static_cast<cdi::oci::HookPoint>(i);
    auto copy = hooks;
    for (const auto& hook : copy.at(point)) {
      editor.hooks(point).append(cdi::copy_as<cdi::oci::HookView>(hook));
    }
  }
}

/// The model as messages: what they have no place for is left out.
Message to_message(const Model& model) {
  Message out;
  if (model.process) {
    auto& user = *out.mutable_process()->mutable_user();
    user.set_uid(model.process->user.uid);
    user.set_gid(model.process->user.gid);
    for (const auto gid : model.process->user.additional_gids) user.add_additionalgids(gid);
    for (const auto& entry : model.process->env) out.mutable_process()->add_env(entry);
  }
  for (const auto& mount : model.mounts) {
    protobuf_editor::assign(cdi::copy_as<cdi::oci::MountView>(mount), *out.add_mounts());
  }
  if (model.hooks) fill(*model.hooks, out);
  if (model.linux_) fill(*model.linux_, *out.mutable_linux());
  return out;
}

}  // namespace

TEST_CASE("Edits have the same result in messages as in the model") {
  for (const auto text : editors_test::specs) {
    for (const auto first : editors_test::edits) {
      for (const auto second : editors_test::edits) {
        CAPTURE(text);
        CAPTURE(first);
        CAPTURE(second);
        auto model = editors_test::parsed<Model>(text);
        Message message = to_message(model);
        for (const auto each : {first, second, first}) {
          const auto edits = editors_test::parsed<cdi::ContainerEdits>(each);
          if (!edits.net_devices.empty() || edits.intel_rdt) {
            const auto done = edits.apply(message);
            REQUIRE_FALSE(done);
            CHECK(done.error().code == cdi::Errc::unsupported);
            continue;
          }
          REQUIRE(edits.apply(model));
          REQUIRE(edits.apply(message));
        }
        // A user is there after groups were added, also without ids.
        message.mutable_process()->mutable_user();
        Message expected = to_message(model);
        expected.mutable_process()->mutable_user();
        REQUIRE(message.SerializeAsString() == expected.SerializeAsString());
      }
    }
  }
}

TEST_CASE("A second injection of the same devices changes nothing") {
  random_registry::inject_twice(
      [](const Model& model) { return std::make_unique<Message>(to_message(model)); },
      [](std::uint32_t seed, bool injected, const Message& once, const Message& twice) {
        CAPTURE(seed);
        REQUIRE(injected);
        REQUIRE(once.SerializeAsString() == twice.SerializeAsString());
      });
}
