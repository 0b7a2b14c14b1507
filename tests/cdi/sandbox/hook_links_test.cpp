// Links that hooks make, as mounts and device nodes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>

#include <doctest/doctest.h>

#include <cdi/nvidia/hook_class.hpp>
#include <cdi/sandbox/hook_links.hpp>
#include <cdi/sandbox/hook_way.hpp>
#include <cdi/sandbox/hookless.hpp>

#include "container_case.hpp"

namespace {

using cdi::HookWay;

/// Checks the note and the mounts of a container with one link.
void check_link(const ContainerCase& box, HookWay way, const Texts& mounts) {
  const auto made = run(box);
  const auto note = only_note(made);
  CAPTURE(note.reason);
  CHECK(note.hook_class == cdi::HookClass::symlinks);
  CHECK(note.way == way);
  CHECK(note.subject == box.plan.hooks.front().edit.args.back().substr(
                            box.plan.hooks.front().edit.args.back().find("::") + 2));
  CHECK(note.origin == box.plan.hooks.front().origin);
  CHECK_FALSE(note.reason.empty());
  CHECK_FALSE(note.reason.ends_with('.'));
  CHECK(new_mounts(box, made) == mounts);
  CHECK(made.plan.hooks.empty());
  CHECK(made.plan.device_nodes == box.plan.device_nodes);
}

}  // namespace

TEST_CASE("A link to a mounted file becomes a mount of the file, with options and type") {
  ContainerCase box;
  box.put("host/libx.so.1");
  box.mount("libx.so.1", "/lib/libx.so.1").options = {"ro", "nosuid", "bind"};
  box.add_link("libx.so.1::/lib/libx.so", "v/c=d");
  check_link(box, HookWay::mounts, {"/lib/libx.so <- host/libx.so.1"});
  auto made = run(box);
  CHECK(made.plan.mounts.back().edit.options == Texts{"ro", "nosuid", "bind"});
  CHECK(made.plan.mounts.back().origin.name == "v/c=d");
  box.plan.mounts.front().edit.options = {"ro"};
  box.plan.mounts.front().edit.type = "bind";
  made = run(box);
  CHECK(made.plan.mounts.back().edit.options == Texts{"ro"});
  CHECK(made.plan.mounts.back().edit.type == "bind");
}

TEST_CASE("The target of a link is absolute, or relative to the link's directory") {
  for (const auto* link :
       {"/lib/libx.so.1::/opt/a/b/l", "../../../lib/libx.so.1::/opt/a/b/l",
        "../../../../../lib/./libx.so.1::/opt/a/b/l", "../b/../../../lib//libx.so.1::/opt/a/b/l"}) {
    CAPTURE(link);
    ContainerCase box;
    box.put("host/x");
    box.mount("x", "/lib/libx.so.1");
    box.add_link(link);
    check_link(box, HookWay::mounts, {"/opt/a/b/l <- host/x"});
  }
}

TEST_CASE("A link to a file in a mounted directory becomes a mount of that file") {
  ContainerCase box;
  box.put("host/lib/sub/x");
  box.mount("lib", "/drv");
  box.add_link("/drv/sub/x::/lib/x");
  check_link(box, HookWay::mounts, {"/lib/x <- host/lib/sub/x"});
  box.plan.hooks.clear();
  box.add_link("/drv/sub::/lib/sub");
  check_link(box, HookWay::mounts, {"/lib/sub <- host/lib/sub"});
}

TEST_CASE("A chain of links leads to its last target, in any order") {
  ContainerCase box;
  box.put("host/x");
  box.mount("x", "/lib/libx.so.1.2");
  box.add_hook({"create-symlinks", "--link", "libx.so.1::/lib/libx.so", "--link",
                "libx.so.1.2::/lib/libx.so.1", "--link", "../lib/libx.so::/usr/l"});
  const auto made = run(box);
  CHECK(new_mounts(box, made) ==
        Texts{"/lib/libx.so <- host/x", "/lib/libx.so.1 <- host/x", "/usr/l <- host/x"});
  CHECK(short_notes(made) == Texts{"symlinks mounts /lib/libx.so", "symlinks mounts /lib/libx.so.1",
                                   "symlinks mounts /usr/l"});
}

TEST_CASE("A loop of links ends, and leads nowhere") {
  ContainerCase box;
  box.add_hook({"create-symlinks", "--link", "b::/a", "--link", "a::/b", "--link", "c::/c",
                "--link", "a::/to-loop"});
  const auto made = run(box);
  CHECK(new_mounts(box, made).empty());
  CHECK(short_notes(made) == Texts{"symlinks nothing /a", "symlinks nothing /b",
                                   "symlinks nothing /c", "symlinks nothing /to-loop"});
  box.options.image_root.clear();
  CHECK(run(box).notes.front().way == HookWay::lost);
}

TEST_CASE("Of two links with one path, the later one counts") {
  ContainerCase box;
  for (const auto* name : {"old", "new"}) {
    box.put("host/" + std::string{name});
    box.mount(name, "/" + std::string{name});
  }
  box.add_link("old::/l", "first");
  box.add_link("new::/l", "second");
  box.add_link("l::/chain", "third");
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/l <- host/new", "/chain <- host/new"});
  CHECK(short_notes(made) ==
        Texts{"symlinks nothing /l", "symlinks mounts /l", "symlinks mounts /chain"});
  CHECK(made.notes[0].origin.name == "first");
  CHECK(made.notes[1].origin.name == "second");
}

TEST_CASE("A link that two hooks make is mounted once") {
  ContainerCase box;
  box.put("host/x");
  box.mount("x", "/x");
  box.add_link("x::/l");
  box.add_link("x::/l");
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/l <- host/x"});
  CHECK(short_notes(made) == Texts{"symlinks mounts /l", "symlinks nothing /l"});
}

TEST_CASE("A link to a device node becomes a node with the same numbers") {
  ContainerCase box;
  box.add_node("/dev/dri/card1", 0640, 5);
  box.add_hook({"create-symlinks", "--link", "../card1::/dev/dri/by-path/pci-card", "--link",
                "dri/by-path/pci-card::/dev/gpu"});
  const auto made = run(box);
  REQUIRE(made.plan.device_nodes.size() == 3);
  auto expected = box.plan.device_nodes.front().edit;
  expected.path = "/dev/dri/by-path/pci-card";
  CHECK(made.plan.device_nodes[1].edit == expected);
  expected.path = "/dev/gpu";
  CHECK(made.plan.device_nodes[2].edit == expected);
  CHECK(made.plan.device_nodes[1].origin.name == "hook");
  CHECK(made.plan.mounts.empty());
  CHECK(short_notes(made) ==
        Texts{"symlinks mounts /dev/dri/by-path/pci-card", "symlinks mounts /dev/gpu"});
}

TEST_CASE("No node is made where a node or a mount is") {
  ContainerCase box;
  box.add_node("/dev/a");
  box.add_node("/dev/b", 0600, 1);
  box.add_link("a::/dev/b");
  check_link(box, HookWay::nothing, {});
  box.plan.hooks.clear();
  box.put("host/dri/file");
  box.mount("dri", "/dev/dri");
  box.add_link("../a::/dev/dri/l");
  check_link(box, HookWay::lost, {});
  box.plan.hooks.clear();
  box.add_link("../a::/dev/dri/file");
  check_link(box, HookWay::nothing, {});
}

TEST_CASE("A link to an overridden node or mount does not lead to it") {
  ContainerCase box;
  box.put("host/x");
  box.mount("x", "/x");
  box.add_node("/dev/a");
  box.plan.mounts.front().overridden = box.plan.device_nodes.front().overridden = true;
  box.add_hook({"create-symlinks", "--link", "x::/l", "--link", "a::/dev/l"});
  const auto made = run(box);
  CHECK(made.plan.mounts == box.plan.mounts);
  CHECK(made.plan.device_nodes == box.plan.device_nodes);
  CHECK(short_notes(made) == Texts{"symlinks nothing /l", "symlinks nothing /dev/l"});
}

TEST_CASE("A link whose target exists only by its SONAME leads to the library") {
  ContainerCase box;
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  box.add_link("libcuda.so.1::/drv/libcuda.so");
  check_link(box, HookWay::nothing, {});  // no hook makes that name
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/drv/libcuda.so <- host/libcuda.so.570.1",
                                       "/drv/libcuda.so.1 <- host/libcuda.so.570.1"});
  CHECK(short_notes(made).front() == "symlinks mounts /drv/libcuda.so");
}

TEST_CASE("A file of the image is never the source of a mount: a link to it is lost") {
  ContainerCase box;
  box.put("image/usr/lib/x");
  box.tree.link("usr/lib", "image/lib");
  box.tree.link("x", "image/usr/lib/y");
  box.add_link("/lib/y::/opt/l");
  check_link(box, HookWay::lost, {});
  box.options.state_dir.clear();
  check_link(box, HookWay::lost, {});
}

TEST_CASE("A file of the image stays if the link leads to the image or to nothing") {
  ContainerCase box;
  box.put("image/x");
  box.put("image/y");
  box.tree.link("x", "image/l");
  box.add_link("missing::/l");
  check_link(box, HookWay::nothing, {});
  box.plan.hooks.clear();
  box.add_link("x::/l");
  check_link(box, HookWay::nothing, {});
  box.plan.hooks.clear();
  box.add_link("y::/l");
  check_link(box, HookWay::lost, {});
  box.put("host/y");
  box.mount("y", "/y");
  check_link(box, HookWay::mounts, {"/l <- host/y"});
}

TEST_CASE("A link to nothing needs nothing; without an image, it may be lost") {
  ContainerCase box;
  box.tree.put("secret", "secret");
  box.tree.link("../secret", "image/out");
  box.add_link("missing::/l");
  check_link(box, HookWay::nothing, {});
  CHECK(only_note(run(box)).reason ==
        R"(its target "/missing" exists in neither image nor devices)");
  box.options.image_root.clear();
  check_link(box, HookWay::lost, {});
  CHECK(only_note(run(box)).reason.find(R"(target "/missing" is not a file of the devices, and)") !=
        std::string::npos);
  box.options.image_root = box.tree / "image";
  box.plan.hooks.clear();
  box.add_link("out::/l");
  check_link(box, HookWay::nothing, {});  // /out leads out of the image
}

TEST_CASE("A link to a mounted file that the host lacks is like one to nothing") {
  ContainerCase box;
  box.mount("missing", "/x");
  box.add_link("x::/l");
  check_link(box, HookWay::nothing, {});
}

TEST_CASE("Nothing is made in a mounted directory of the host") {
  ContainerCase box;
  box.put("host/drv/there");
  box.put("host/x");
  box.put("image/y");
  box.mount("drv", "/drv");
  box.mount("x", "/x");
  for (const auto* target : {"/x", "/y", "/missing", "there"}) {
    CAPTURE(target);
    box.plan.hooks.clear();
    box.add_link(std::string{target} + "::/drv/there");
    check_link(box, HookWay::nothing, {});
    CHECK(only_note(run(box)).reason == "the mounted directory has this file");
    box.plan.hooks.clear();
    box.add_link(std::string{target} + "::/drv/missing");
    check_link(box, HookWay::lost, {});
  }
}

TEST_CASE("A path that is already mounted stays as it is") {
  ContainerCase box;
  box.put("host/x");
  box.put("host/y");
  box.mount("x", "/x");
  box.mount("y", "/l");
  box.add_link("x::/l");
  check_link(box, HookWay::nothing, {});
  CHECK(only_note(run(box)).reason == "a file is already mounted at this path");
}
