// Plans in which nothing needs a hook: libraries, modes, files, and unknown hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/nvidia/hook_class.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/hookless.hpp>
#include <cdi/targets/config_json.hpp>

#include "container_case.hpp"

namespace {

using cdi::HookWay;

/// The values of LD_LIBRARY_PATH in a plan, with `-` before those that are overridden.
Texts library_paths(const cdi::Plan& plan) {
  Texts out;
  for (const auto& [text, origin, overridden] : plan.env) {
    if (!text.starts_with("LD_LIBRARY_PATH=")) continue;
    out.push_back((overridden ? "-" : "") + text.substr(16));
  }
  return out;
}

}  // namespace

// --- libraries ---

TEST_CASE("Each library is mounted under its SONAME, and listed in the cache") {
  ContainerCase box;
  box.use_glibc();
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  box.mount_library("/drv/libnone.so", nullptr);
  box.mount_library("/other/libx.so.5", "libx.so.1");
  box.add_hook({"update-ldcache", "--folder", "/drv"}, "v/c=d");
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/drv/libcuda.so.1 <- host/libcuda.so.570.1",
                                       "/etc/ld.so.cache <- state/ld.so.cache"});
  CHECK(short_notes(made) == Texts{"ldcache linker-cache /etc/ld.so.cache"});
  CHECK(only_note(made).origin.name == "v/c=d");
  CHECK(made.plan.mounts.back().edit.options == Texts{"ro", "nosuid", "nodev", "bind"});
  CHECK(cached_libraries(get_file(made.plan.mounts.back().edit.host_path)) ==
        Texts{"libc.so.6 => /lib/libc.so.6", "libcuda.so.1 => /drv/libcuda.so.1",
              "libnone.so => /drv/libnone.so"});
  CHECK(library_paths(made.plan).empty());
}

TEST_CASE("Of two versions with one SONAME, the newer one gets the name") {
  ContainerCase box;
  box.use_glibc();
  box.mount_library("/drv/libx.so.9", "libx.so.1");
  box.mount_library("/drv/libx.so.10", "libx.so.1");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  CHECK(new_mounts(box, run(box)).front() == "/drv/libx.so.1 <- host/libx.so.10");
}

TEST_CASE("A SONAME that a link of a hook makes is mounted once") {
  ContainerCase box;
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  box.add_link("libx.so.5::/drv/libx.so.1");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  CHECK(new_mounts(box, run(box)) == Texts{"/drv/libx.so.1 <- host/libx.so.5"});
}

TEST_CASE("Libraries that are damaged, unreadable or no files change nothing") {
  ContainerCase box;
  box.use_glibc();
  box.put("host/libbad.so", "\177ELF");
  REQUIRE(::mkfifo((box.tree / "host/libfifo.so").c_str(), 0666) == 0);
  box.mount("libbad.so", "/drv/libbad.so");
  box.mount("libfifo.so", "/drv/libfifo.so");
  box.mount("libmissing.so", "/drv/libmissing.so");
  box.mount("", "/all");
  box.mount("libzero.so", "/drv/libzero.so").host_path = "/dev/zero";
  box.add_hook({"update-ldcache", "--folder", "/drv", "--folder", "/all"});
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/etc/ld.so.cache <- state/ld.so.cache"});
}

TEST_CASE("A library without the file of its SONAME in a mounted directory is in the cache") {
  ContainerCase box;
  box.use_glibc();
  box.put_library("host/drv/libx.so.5", "libx.so.1");
  box.put_library("host/drv/liby.so.5", "liby.so.1");
  box.tree.link("liby.so.5", "host/drv/liby.so.1");
  box.mount("drv", "/drv");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  CHECK(short_notes(run(box)) == Texts{"ldcache linker-cache /etc/ld.so.cache"});
  CHECK(new_mounts(box, run(box)) == Texts{"/etc/ld.so.cache <- state/ld.so.cache"});
  box.use_musl();
  CHECK(short_notes(run(box)) == Texts{"ldcache lost /drv/libx.so.1",
                                       "ldcache linker-path /etc/ld-musl-x86_64.path",
                                       "ldcache linker-cache /etc/ld.so.cache"});
  box.options.state_dir.clear();
  CHECK(short_notes(run(box)) ==
        Texts{"ldcache lost /drv/libx.so.1", "ldcache variable LD_LIBRARY_PATH"});
}

TEST_CASE("Two hooks for libraries make one change, which both note") {
  ContainerCase box;
  box.use_glibc();
  box.mount_library("/a/libx.so.5", "libx.so.1");
  box.mount_library("/b/liby.so.5", "liby.so.1");
  box.add_hook({"create-soname-symlinks", "--folder", "/a"}, "first");
  box.add_hook({"update-ldcache", "--folder", "/a", "--folder", "/b"}, "second");
  const auto made = run(box);
  CHECK(new_mounts(box, made).size() == 3);
  CHECK(short_notes(made) ==
        Texts{"ldcache linker-cache /etc/ld.so.cache", "ldcache linker-cache /etc/ld.so.cache"});
  CHECK(made.notes[0].origin.name == "first");
  CHECK(made.notes[1].origin.name == "second");
}

TEST_CASE("A SONAME that cannot be made is noted once, by the first hook of its directory") {
  ContainerCase box;
  box.options.image_root.clear();
  for (const auto* name : {"a", "b"}) {
    box.put_library("host/" + std::string{name} + "/lib" + name + ".so.5",
                    ("lib" + std::string{name} + ".so.1").c_str());
    box.mount(name, "/" + std::string{name});
  }
  box.add_hook({"update-ldcache", "--folder", "/a"}, "first");
  box.add_hook({"update-ldcache", "--folder", "/a"}, "second");
  box.add_hook({"update-ldcache", "--folder", "/a", "--folder", "/b"}, "third");
  box.add_hook({"update-ldcache", "--folder", "/b"}, "fourth");
  Texts lost;
  for (const auto& note : run(box).notes) {
    if (note.way == HookWay::lost) lost.push_back(note.origin.name + ": " + note.subject);
  }
  CHECK(lost == Texts{"first: /a/liba.so.1", "third: /b/libb.so.1"});
}

TEST_CASE("Each hook names the libraries of its directories") {
  ContainerCase box;
  box.mount_library("/a/libx.so.5", "libx.so.1");
  box.mount_library("/b/liby.so.5", "liby.so.1");
  box.add_hook({"update-ldcache", "--folder", "/a"}, "first");
  box.add_hook({"update-ldcache", "--folder", "/b"}, "second");
  Texts named;
  for (const auto& [mount, origin, overridden] : run(box).plan.mounts) {
    if (origin.name != "mounts") named.push_back(origin.name + ": " + mount.container_path);
  }
  CHECK(named == Texts{"first: /a/libx.so.1", "second: /b/liby.so.1"});
}

TEST_CASE("A hook for libraries without a directory needs nothing") {
  ContainerCase box;
  box.use_glibc();
  box.add_hook({"update-ldcache"});
  const auto made = run(box);
  CHECK(short_notes(made) == Texts{"ldcache nothing "});
  CHECK(new_mounts(box, made).empty());
  CHECK(only_note(made).reason == "this container needs nothing from this hook");
}

TEST_CASE("musl's linker gets a path file") {
  ContainerCase box;
  box.use_musl();
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  const auto made = run(box);
  CHECK(short_notes(made) == Texts{"ldcache linker-path /etc/ld-musl-x86_64.path"});
  CHECK(new_mounts(box, made) == Texts{"/drv/libx.so.1 <- host/libx.so.5",
                                       "/etc/ld-musl-x86_64.path <- state/ld-musl.path"});
}

TEST_CASE("LD_LIBRARY_PATH begins with the directories, and keeps the last value before") {
  ContainerCase box;
  box.options = {};
  box.add_hook({"update-ldcache", "--folder", "/drv", "--folder=/b"}, "v/c=d");
  CHECK(library_paths(run(box).plan) == Texts{"/drv:/b"});
  CHECK(run(box).plan.env.front().origin.name == "v/c=d");
  box.options.environment = {"LD_LIBRARY_PATH=/no", "LD_LIBRARY_PATH=/own:/x",
                             "XLD_LIBRARY_PATH=", "LD_LIBRARY_PATHS=/y"};
  CHECK(library_paths(run(box).plan) == Texts{"/drv:/b:/own:/x"});
  box.plan.env = {{"LD_LIBRARY_PATH=/early", {}, true}, {"A=b", {}}, {"LD_LIBRARY_PATH=/late", {}}};
  const auto made = run(box);
  CHECK(library_paths(made.plan) == Texts{"-/early", "-/late", "/drv:/b:/late"});
  CHECK_FALSE(made.plan.env[1].overridden);
  CHECK(short_notes(made) == Texts{"ldcache variable LD_LIBRARY_PATH"});
  for (const auto* empty : {"LD_LIBRARY_PATH=", "LD_LIBRARY_PATH"}) {
    box.plan.env = {{empty, {}}};
    box.options.environment.clear();
    CHECK(library_paths(run(box).plan).back() == "/drv:/b");
  }
}

// --- CUDA's compatibility library ---

TEST_CASE("A newer CUDA library of the image is used, and a hook says so") {
  ContainerCase box;
  box.use_glibc();
  box.put_library("image/usr/local/cuda/compat/libcuda.so.580.1", "libcuda.so.1");
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  box.add_hook({"enable-cuda-compat", "--host-driver-version=570.1"}, "first");
  box.add_hook({"update-ldcache", "--folder", "/drv"}, "second");
  const auto made = run(box);
  CHECK(short_notes(made) == Texts{"cuda-compat linker-cache /usr/local/cuda/compat",
                                   "ldcache linker-cache /etc/ld.so.cache"});
  CHECK(made.notes[0].reason ==
        "the image's CUDA compatibility library is newer than the driver of the host, and works "
        "with this driver");
  CHECK(new_mounts(box, made) == Texts{"/etc/ld.so.cache <- state/ld.so.cache",
                                       "/drv/libcuda.so.1 <- host/libcuda.so.570.1"});
  CHECK(cached_libraries(get_file(made.plan.mounts[1].edit.host_path)).back() ==
        "libcuda.so.1 => /usr/local/cuda/compat/libcuda.so.580.1");
  box.plan.hooks.pop_back();
  CHECK(new_mounts(box, run(box)) == Texts{"/etc/ld.so.cache <- state/ld.so.cache"});
}

TEST_CASE("A CUDA library of the image that is not newer is not used") {
  ContainerCase box;
  box.use_glibc();
  box.put_library("image/new/libcuda.so.580.1", "libcuda.so.1");
  box.add_hook({"enable-cuda-compat", "--host-driver-version=570.1"});
  CHECK(short_notes(run(box)) == Texts{"cuda-compat nothing /usr/local/cuda/compat"});
  CHECK(new_mounts(box, run(box)).empty());
  box.add_hook(
      {"enable-cuda-compat", "--host-driver-version=570.1", "--cuda-compat-container-root=/new"});
  CHECK(short_notes(run(box)) ==
        Texts{"cuda-compat nothing /usr/local/cuda/compat", "cuda-compat linker-cache /new"});
  box.options.image_root.clear();
  CHECK(short_notes(run(box)) ==
        Texts{"cuda-compat nothing /usr/local/cuda/compat", "cuda-compat nothing /new"});
  CHECK(run(box).plan.env.empty());
  box.plan.hooks.clear();
  box.add_hook({"enable-cuda-compat"});  // does nothing without a version
  CHECK(short_notes(run(box)) == Texts{"cuda-compat nothing "});
}

// --- modes, files and settings ---

TEST_CASE("A mode that a file already has needs no hook") {
  ContainerCase box;
  box.put("host/x");
  box.put("image/y");
  box.tree.link("y", "image/l");
  REQUIRE(::chmod((box.tree / "host/x").c_str(), 0640) == 0);
  REQUIRE(::chmod((box.tree / "image/y").c_str(), 0604) == 0);
  box.mount("x", "/x");
  const auto way = [&](std::string_view mode, std::string_view path) {
    box.plan.hooks.clear();
    box.add_hook({"chmod", "--mode", std::string{mode}, "--path", std::string{path}});
    const auto made = run(box);
    CHECK(made.plan.mounts == box.plan.mounts);
    CHECK(only_note(made).subject == path);
    return std::string{hook_way_name(only_note(made).way)};
  };
  CHECK(way("640", "/x") == "nothing");
  CHECK(way("0644", "/x") == "lost");
  CHECK(way("4640", "/x") == "lost");
  CHECK(way("604", "/l") == "nothing");
  CHECK(way("644", "/y") == "lost");
  CHECK(way("644", "/missing") == "nothing");  // the hook skips a missing file
  box.mount("missing", "/gone");
  CHECK(way("644", "/gone") == "nothing");
  box.options.image_root.clear();
  CHECK(way("640", "/x") == "nothing");
  CHECK(way("604", "/l") == "lost");
  CHECK(way("644", "/missing") == "lost");
}

TEST_CASE("The runtime makes directories with mode 0755, and nodes with their own") {
  ContainerCase box;
  box.put("host/x");
  box.mount("x", "/drv/lib/x");
  box.add_node("/dev/dri/card0", 0660);
  box.put("image/dev/dri/.keep");
  REQUIRE(::chmod((box.tree / "image/dev/dri").c_str(), 0700) == 0);
  const auto way = [&](std::string_view mode, std::string_view path) {
    box.plan.hooks.clear();
    box.add_hook({"chmod", "--mode", std::string{mode}, "--path", std::string{path}});
    return std::string{hook_way_name(only_note(run(box)).way)};
  };
  CHECK(way("755", "/dev/dri") == "nothing");
  CHECK(way("700", "/dev/dri") == "lost");
  CHECK(way("755", "/dev/dr") == "lost");
  CHECK(way("755", "/drv") == "nothing");
  CHECK(way("711", "/drv/lib") == "lost");
  CHECK(way("660", "/dev/dri/card0") == "nothing");
  CHECK(way("666", "/dev/dri/card0") == "lost");
  REQUIRE(::mkdir((box.tree / "image/drv").c_str(), 0700) == 0);
  CHECK(way("755", "/drv") == "lost");
}

TEST_CASE("The driver's profile is a generated file that is mounted") {
  ContainerCase box;
  const std::string path = "/etc/nvidia/nvidia-application-profiles-rc.d/10-container.conf";
  box.add_node("/dev/nvidia0", 0666, 2);
  box.add_hook({"update-application-profile"}, "v/c=d");
  const auto made = run(box);
  CHECK(short_notes(made) == Texts{"profile file " + path});
  CHECK(only_note(made).origin.name == "v/c=d");
  CHECK(new_mounts(box, made) == Texts{path + " <- state/10-container.conf"});
  const auto& mount = made.plan.mounts.back().edit;
  CHECK(mount.options == Texts{"ro", "nosuid", "nodev", "bind"});
  CHECK(get_file(mount.host_path).find("\"EGLVisibleDGPUDevices\",0x4]") != std::string::npos);
  CHECK(mode_of(mount.host_path) == 0444);
  CHECK(run(box).plan == made.plan);
  box.add_hook({"update-application-profile"}, "again");
  CHECK(short_notes(run(box)) == Texts{"profile file " + path, "profile nothing " + path});
  box.plan.hooks.pop_back();
  box.options.state_dir.clear();
  CHECK(short_notes(run(box)) == Texts{"profile lost " + path});
  CHECK(run(box).plan.mounts.empty());
  box.plan.device_nodes.clear();
  CHECK(short_notes(run(box)) == Texts{"profile nothing "});
}

TEST_CASE("The driver's profile is not made in a mounted directory") {
  ContainerCase box;
  box.put("host/nvidia/file");
  box.mount("nvidia", "/etc/nvidia");
  box.add_node("/dev/nvidia0");
  box.add_hook({"update-application-profile"});
  const auto made = run(box);
  CHECK(only_note(made).way == HookWay::lost);
  CHECK(made.plan.mounts == box.plan.mounts);
}

TEST_CASE("The driver's settings in /proc and limits that are not set need nothing") {
  ContainerCase box;
  box.add_hook({"disable-device-node-modification"});
  box.add_hook({"apply-cuda-memory-limits", "--gpu-id", "0"});
  const auto made = run(box);
  CHECK(short_notes(made) == Texts{"proc-mask nothing ", "memory-limits nothing "});
  CHECK(made.notes[0].reason.find("cannot mount a file inside /proc") != std::string::npos);
  CHECK(made.notes[1].reason == "this container needs nothing from this hook");
  box.plan.hooks.clear();
  CHECK(made.plan == box.plan);
  box.add_hook({"apply-cuda-memory-limits", "--gpu-id", "0"});
  box.options.environment = {"NVIDIA_GPU_MEMORY_LIMIT=1G"};
  const auto failed = without_hooks(box.plan, box.options);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.ends_with("it reads the variable NVIDIA_GPU_MEMORY_LIMIT"));
}

// --- unknown hooks, and the whole ---

TEST_CASE("Unknown hooks are an error that names all, or stay in their order") {
  ContainerCase box;
  const auto add = [&](std::string_view path) {
    cdi::Hook hook{.hook_name = "createContainer", .path = std::string{path}};
    box.plan.hooks.push_back({hook, {.name = "v/c", .file = "/s.json", .line = 3}});
  };
  box.add_link("missing::/l");
  add("/usr/bin/nvidia-container-runtime-hook");
  box.add_hook({"chmod", "--mode", "9", "--path", "/x"});
  box.add_hook({"update-ldcache", "--folder", "relative"});
  add("/bin/other");
  const auto failed = without_hooks(box.plan, box.options);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == cdi::Errc::unsupported);
  CHECK(failed.error().position.file == "/s.json");
  CHECK(failed.error().position.line == 3);
  for (const auto* part : {"\"/usr/bin/nvidia-container-runtime-hook\" cannot be replaced: it inj",
                           "its mode \"9\" is not octal", "its path \"relative\" is not",
                           "\"/bin/other\" cannot be replaced: it is a program"}) {
    CAPTURE(part);
    CHECK(failed.error().message.find(part) != std::string::npos);
  }
  box.options.keep_unknown = true;
  const auto made = run(box);
  CHECK(short_notes(made) ==
        Texts{"symlinks nothing /l", "legacy kept /usr/bin/nvidia-container-runtime-hook",
              "chmod kept /usr/bin/nvidia-cdi-hook", "ldcache kept /usr/bin/nvidia-cdi-hook",
              "foreign kept /bin/other"});
  const std::vector<cdi::Planned<cdi::Hook>> kept{box.plan.hooks.begin() + 1, box.plan.hooks.end()};
  CHECK(made.plan.hooks == kept);
  CHECK(made.notes[1].origin == box.plan.hooks[1].origin);
  CHECK(made.notes[2].reason == "its mode \"9\" is not octal");
}

TEST_CASE("Nothing is written when a hook is unknown") {
  ContainerCase box;
  box.use_glibc();
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  box.add_hook({"unknown"});
  CHECK_FALSE(without_hooks(box.plan, box.options));
  CHECK(::rmdir((box.tree / "state").c_str()) == 0);
}

TEST_CASE("Places that cannot be used are errors, also without hooks") {
  ContainerCase box;
  box.options.image_root = box.tree / "none";
  CHECK(without_hooks(box.plan, box.options).error().code == cdi::Errc::system);
  box.options.image_root.clear();
  REQUIRE(::chmod(box.options.state_dir.c_str(), 0777) == 0);
  CHECK(without_hooks(box.plan, box.options).error().code == cdi::Errc::denied);
}

namespace {

/// A container with hooks of all classes that can be replaced.
void add_all_hooks(ContainerCase& box) {
  box.use_glibc();
  box.add_node("/dev/nvidia0");
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  box.put("host/deep/file");
  box.mount("deep", "/a/b/c/d");
  box.add_link("libcuda.so.1::/drv/libcuda.so");
  box.add_link("nvidia0::/dev/gpu");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  box.add_hook({"enable-cuda-compat", "--host-driver-version=570.1"});
  box.add_hook({"chmod", "--mode", "755", "--path", "/dev"});
  box.add_hook({"disable-device-node-modification"});
  box.add_hook({"update-application-profile"});
  box.add_hook({"apply-cuda-memory-limits", "--gpu-id", "0"});
}

}  // namespace

TEST_CASE("All classes together leave no hooks, with a note for each and mounts in order") {
  ContainerCase box;
  add_all_hooks(box);
  const auto made = run(box);
  CHECK(made.plan.hooks.empty());
  CHECK(made.notes.size() == box.plan.hooks.size());
  for (std::size_t i = 1; i < made.plan.mounts.size(); ++i) {
    CHECK(cdi::detail::path_depth(made.plan.mounts[i - 1].edit.container_path) <=
          cdi::detail::path_depth(made.plan.mounts[i].edit.container_path));
  }
  cdi::ConfigJson config{.text = R"({"ociVersion": "1.1.0", "process": {"cwd": "/"}})"};
  const auto changes = made.plan.apply(config);
  REQUIRE_MESSAGE(changes, (changes ? "" : to_string(changes.error())));
  CHECK(config.text.find("hook") == std::string::npos);
  for (const auto* part : {"/drv/libcuda.so\"", "/drv/libcuda.so.1\"", "/etc/ld.so.cache\"",
                           "/dev/gpu\"", "10-container.conf\""}) {
    CAPTURE(part);
    CHECK(config.text.find(part) != std::string::npos);
  }
}

TEST_CASE("A plan without hooks stays as it is, also one that was made so") {
  ContainerCase box;
  add_all_hooks(box);
  box.add_hook({"update-ldcache", "--folder", "/later"});
  for (const bool with_state : {true, false}) {
    CAPTURE(with_state);
    if (!with_state) box.options.state_dir.clear();
    const auto once = run(box).plan;
    const auto again = without_hooks(once, box.options);
    REQUIRE(again);
    CHECK(again->plan == once);
    CHECK(again->notes.empty());
  }
}

TEST_CASE("The same container gives the same plan, and the same files") {
  ContainerCase box;
  add_all_hooks(box);
  const auto first = run(box);
  const auto second = run(box);
  CHECK(first.plan == second.plan);
  CHECK(first.notes == second.notes);
}

// --- several directories ---

TEST_CASE("Libraries of two kinds with one SONAME have a directory each in library_dir") {
  ContainerCase box;
  box.options.image_root.clear();
  box.options.library_dir = "/dev/cdi";
  box.put("host/wide", elf_bytes({.soname = "libx.so.1"}));
  box.put("host/narrow", elf_bytes({.wide = false, .machine = 3, .soname = "libx.so.1"}));
  box.mount("wide", "/l64/libx.so.2");
  box.mount("narrow", "/l32/libx.so.2");
  box.add_hook({"update-ldcache", "--folder", "/l64", "--folder", "/l32"});
  const auto made = without_hooks(box.plan, box.options);
  REQUIRE(made);
  std::map<std::string, std::string> sources;
  for (const auto& mount : made->plan.mounts) {
    sources[mount.edit.container_path] = mount.edit.host_path;
  }
  CHECK(sources["/dev/cdi/libx.so.1"] == box.tree / "host/wide");
  CHECK(sources["/dev/cdi/3/libx.so.1"] == box.tree / "host/narrow");
  CHECK(made->plan.env.back().edit == "LD_LIBRARY_PATH=/dev/cdi:/dev/cdi/3");
}

TEST_CASE(
    "library_dir comes behind the CUDA library of the image, whatever the order of the hooks") {
  for (const bool compat_first : {true, false}) {
    CAPTURE(compat_first);
    ContainerCase box;
    box.use_glibc();
    box.options.state_dir.clear();  // so that LD_LIBRARY_PATH is used
    box.options.library_dir = "/dev/cdi";
    box.put_library("image/usr/local/cuda/compat/libcuda.so.580.1", "libcuda.so.1");
    box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
    const Texts ldcache{"update-ldcache", "--folder", "/drv"};
    if (!compat_first) box.add_hook(ldcache);
    box.add_hook({"enable-cuda-compat", "--host-driver-version=570.1"});
    if (compat_first) box.add_hook(ldcache);
    const auto made = run(box);
    CHECK(library_paths(made.plan) == Texts{"/usr/local/cuda/compat:/dev/cdi"});
    const auto mounts = new_mounts(box, made);
    const auto* const mount = "/dev/cdi/libcuda.so.1 <- host/libcuda.so.570.1";
    CHECK(std::find(mounts.begin(), mounts.end(), mount) != mounts.end());
  }
}

TEST_CASE("library_dir has the SONAMEs that a mounted directory of the host lacks") {
  ContainerCase box;
  box.options.image_root.clear();
  box.options.library_dir = "/dev/cdi";
  box.put_library("host/drv/libx.so.2", "libx.so.1");
  box.mount("drv", "/drv");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  const auto made = run(box);
  CHECK(new_mounts(box, made) == Texts{"/dev/cdi/libx.so.1 <- host/drv/libx.so.2"});
  CHECK(short_notes(made) == Texts{"ldcache variable LD_LIBRARY_PATH"});
}

TEST_CASE("LD_LIBRARY_PATH lists a directory in which only the image has libraries") {
  ContainerCase box;
  box.options.image_root.clear();
  box.options.environment = {"LD_LIBRARY_PATH=/own"};
  box.options.library_dir = "/dev/cdi";
  box.add_hook({"update-ldcache", "--folder", "/opt/mylib"});
  CHECK(library_paths(run(box).plan) == Texts{"/opt/mylib:/own"});
  box.put_library("host/drv/libx.so.2", "libx.so.1");
  box.mount("drv", "/drv");
  box.add_hook({"update-ldcache", "--folder", "/drv"});
  CHECK(library_paths(run(box).plan) == Texts{"/dev/cdi:/opt/mylib:/own"});
}

TEST_CASE("Many directories and links need no pass for each other") {
  ContainerCase box;
  Texts ldcache{"update-ldcache"};
  Texts links{"create-symlinks"};
  for (int i = 0; i < 60'000; ++i) {
    ldcache.insert(ldcache.end(), {"--folder", "/f" + std::to_string(i)});
    links.insert(links.end(), {"--link", "a::/f/lib" + std::to_string(i) + ".so"});
  }
  box.add_hook(ldcache);
  box.add_hook(links);
  box.options.image_root.clear();
  CHECK(without_hooks(box.plan, box.options));  // in a second; such passes take minutes
}

TEST_CASE("Of two libraries with one SONAME, the one of the first directory is found") {
  ContainerCase box;
  box.use_glibc();
  box.put_library("host/first", "libx.so.1");
  box.put_library("host/second", "libx.so.1");
  box.mount("second", "/a/libx.so.2");
  box.mount("first", "/z/libx.so.2");
  box.add_hook({"update-ldcache", "--folder", "/z", "--folder", "/a"});
  const auto cached = without_hooks(box.plan, box.options);
  REQUIRE(cached);
  std::string cache;
  for (const auto& mount : cached->plan.mounts) {
    if (mount.edit.container_path == "/etc/ld.so.cache") cache = get_file(mount.edit.host_path);
  }
  CHECK(cached_libraries(cache) ==
        Texts{"libc.so.6 => /lib/libc.so.6", "libx.so.1 => /z/libx.so.1"});
  box.options.image_root.clear();
  box.options.library_dir = "/dev/cdi";
  const auto made = without_hooks(box.plan, box.options);
  REQUIRE(made);
  for (const auto& mount : made->plan.mounts) {
    if (mount.edit.container_path != "/dev/cdi/libx.so.1") continue;
    CHECK(mount.edit.host_path == box.tree / "host/first");
  }
}
