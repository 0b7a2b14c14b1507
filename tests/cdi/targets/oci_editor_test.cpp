// Tests for include/cdi/targets/oci_editor.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>

#include <doctest/doctest.h>

#include <cdi/apply/apply.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/oci_editor.hpp>

// `apply` has the rules of the edits, and tests them for this target, too.

static_assert(cdi::Editable<cdi::oci::Spec>);
static_assert(cdi::Editable<cdi::oci::SpecView>);
static_assert(!cdi::Editable<cdi::oci::Process>);

TEST_CASE("Parts of the model are made when they are asked for, not before") {
  cdi::oci::Spec spec;
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  CHECK(editor.process_user().uid == 0);
  CHECK_FALSE(editor.has_id_mappings());
  CHECK(spec == cdi::oci::Spec{});

  CHECK(editor.env().size() == 0);
  CHECK(spec.process);
  CHECK_FALSE(spec.linux_);
  CHECK(editor.devices().size() == 0);
  CHECK(spec.linux_);
  CHECK_FALSE(spec.linux_->resources);
  CHECK(editor.device_rules().size() == 0);
  CHECK(spec.linux_->resources);
  CHECK_FALSE(spec.hooks);
  CHECK(editor.hooks(cdi::oci::HookPoint::poststop).size() == 0);
  CHECK(spec.hooks);
}

TEST_CASE("Parts that are there are kept") {
  cdi::oci::Spec spec{.process = cdi::oci::Process{.user = {.uid = 5, .gid = 6}, .args = {"sh"}},
                      .linux_ = cdi::oci::Linux{.namespaces = {{.type = "user", .path = ""}}}};
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  CHECK(editor.process_user().uid == 5);
  CHECK(editor.process_user().gid == 6);
  editor.env().append(std::string_view{"A=1"});
  editor.devices().append(cdi::oci::LinuxDeviceView{.path = "/d", .type = "p"});
  CHECK(spec.process->args.size() == 1);
  CHECK(spec.linux_->namespaces.size() == 1);
}

TEST_CASE("Ids are mapped only in a user namespace with mappings of users and groups") {
  cdi::oci::Spec spec{.linux_ = cdi::oci::Linux{.uid_mappings = {{.size = 9}}}};
  spec.linux_->gid_mappings = {{.size = 9}};
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  CHECK_FALSE(editor.has_id_mappings());
  spec.linux_->namespaces = {{.type = "mount", .path = ""}, {.type = "pid", .path = "/user"}};
  CHECK_FALSE(editor.has_id_mappings());
  spec.linux_->namespaces.push_back({.type = "user", .path = ""});
  CHECK(editor.has_id_mappings());
  spec.linux_->uid_mappings.clear();
  CHECK_FALSE(editor.has_id_mappings());
  spec.linux_->uid_mappings = {{.size = 9}};
  spec.linux_->gid_mappings.clear();
  CHECK_FALSE(editor.has_id_mappings());
}

TEST_CASE("A record assigned to a place leaves nothing of the one before") {
  cdi::oci::Spec spec{
      .mounts = {{.destination = "/c",
                  .type = "t",
                  .source = "/s",
                  .options = {"o"},
                  .uid_mappings = {{}}}},
      .linux_ = cdi::oci::Linux{
          .devices = {{.path = "/d", .type = "c", .major = 1, .file_mode = 6, .uid = 1}}}};
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  editor.mounts().assign(0, cdi::oci::MountView{.destination = "/e"});
  editor.devices().assign(0, cdi::oci::LinuxDeviceView{.path = "/e", .type = "p"});
  CHECK(spec.mounts[0] == cdi::oci::Mount{.destination = "/e"});
  CHECK(spec.linux_->devices[0] == cdi::oci::LinuxDevice{.path = "/e", .type = "p"});
}

TEST_CASE("Lists know the keys of their items") {
  cdi::oci::Spec spec{.process = cdi::oci::Process{.env = {"A=1=2", "B", "=C", ""}},
                      .mounts = {{.destination = "/c"}},
                      .linux_ = cdi::oci::Linux{.devices = {{.path = "/d"}}}};
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  CHECK(editor.env().key(0) == "A");
  CHECK(editor.env().key(1) == "B");
  CHECK(editor.env().key(2) == "");
  CHECK(editor.env().key(3) == "");
  CHECK(editor.mounts().key(0) == "/c");
  CHECK(editor.devices().key(0) == "/d");
}

TEST_CASE("A view of an OCI spec is edited without copying text") {
  const cdi::ContainerEdits edits{.env = {"A=1"},
                                  .mounts = {{.host_path = "/h", .container_path = "/c"}}};
  cdi::oci::SpecView view;
  REQUIRE(edits.apply(view));
  CHECK(view.process->env[0].data() == edits.env[0].data());
  CHECK(view.mounts[0].source == "/h");
}

TEST_CASE("A record is added with all its members, also those that edits do not have") {
  const cdi::oci::Hook hook{.path = "/h", .extra = {{"x", {cdi::ValueKind::number, "1"}}}};
  const cdi::oci::Mount mounts[] = {
      {.destination = "/a", .uid_mappings = {{.container_id = 1, .host_id = 2, .size = 3}}},
      {.destination = "/b", .gid_mappings = {{.container_id = 4, .host_id = 5, .size = 6}}},
      {.destination = "/c", .extra = {{"x", {cdi::ValueKind::number, "1"}}}}};
  cdi::oci::Spec spec;
  cdi::SpecEditor<cdi::oci::Spec> editor{spec};
  for (const auto& mount : mounts) {
    editor.mounts().append(cdi::copy_as<cdi::oci::MountView>(mount));
    CHECK(spec.mounts.back() == mount);
  }
  editor.hooks(cdi::oci::HookPoint::poststop).append(cdi::copy_as<cdi::oci::HookView>(hook));
  CHECK(spec.hooks->poststop.front() == hook);
}
