// Tests for include/cdi/sandbox/container_files.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/plan/plan.hpp>
#include <cdi/sandbox/container_files.hpp>

#include "../../support/elf_bytes.hpp"
#include "../../support/opened.hpp"
#include "../../support/temp_tree.hpp"

namespace {

using cdi::detail::ContainerFiles;
using cdi::detail::DriverLibraries;

cdi::Mount bind_mount(const std::string& host, const std::string& path) {
  cdi::Mount mount{.host_path = host, .container_path = path};
  mount.options = {"ro", "bind"};
  return mount;
}

ContainerFiles files_with(const std::vector<cdi::Mount>& mounts) {
  cdi::Plan plan;
  for (const auto& mount : mounts) plan.mounts.push_back({mount, {}});
  return ContainerFiles{plan};
}

/// The file on the host of a path; `(mount)` follows if the path itself is mounted.
std::string host_of(const ContainerFiles& files, std::string_view path) {
  const auto found = files.find(path);
  if (!found) return "none";
  CHECK(found->mount != nullptr);
  return found->host + (found->is_mount ? " (mount)" : "");
}

std::string with_soname(const char* soname) {
  return elf_bytes({.soname = soname});
}

/// The libraries of some directories, as `link <- path (host name)`.
std::vector<std::string> libraries_of(const ContainerFiles& files,
                                      const std::vector<std::string>& folders) {
  DriverLibraries libraries{files};
  for (const auto& folder : folders) libraries.add_folder(folder);
  std::vector<std::string> out;
  for (const auto* const one : libraries.all()) {
    CHECK(libraries.find(one->link) != nullptr);
    CHECK(one->mount != nullptr);
    out.push_back(one->link + " <- " + one->path + (one->is_mount ? "" : " in a folder"));
  }
  return out;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("A path leads into a bind mount without the option bind, but not into a file system") {
  for (const auto* const type : {"", "none", "bind", "rbind", "tmpfs"}) {
    CAPTURE(type);
    cdi::Plan plan;
    plan.mounts = {{{.host_path = "/h", .container_path = "/c", .type = type}, {}}};
    CHECK(cdi::detail::ContainerFiles{plan}.find("/c/a").has_value() ==
          (type != std::string_view{"tmpfs"}));
  }
}

TEST_CASE("A path leads to the file of the innermost mount over it") {
  const auto files =
      files_with({bind_mount("/host/lib", "/usr/lib"), bind_mount("/host/x", "/usr/lib/sub/x.so"),
                  bind_mount("/host/deep", "//usr/lib/./sub/deep/")});
  CHECK(host_of(files, "/usr/lib") == "/host/lib (mount)");
  CHECK(host_of(files, "/usr/lib/a/b") == "/host/lib/a/b");
  CHECK(host_of(files, "/usr/lib/sub/x.so") == "/host/x (mount)");
  CHECK(host_of(files, "/usr/lib/sub/x.so/y") == "/host/x/y");
  CHECK(host_of(files, "/usr/lib/sub/x.so.1") == "/host/lib/sub/x.so.1");
  CHECK(host_of(files, "/usr/lib/sub/deep") == "/host/deep (mount)");
  CHECK(host_of(files, "/usr/lib/sub/deep/z") == "/host/deep/z");
  for (const auto* path : {"/", "/usr", "/usr/lib64", "/usr/libx/a"}) {
    CAPTURE(path);
    CHECK(host_of(files, path) == "none");
  }
}

TEST_CASE("A mount of the root is over all paths") {
  const auto files = files_with({bind_mount("/host", "/")});
  CHECK(host_of(files, "/") == "/host (mount)");
  CHECK(host_of(files, "/usr/lib") == "/host/usr/lib");
}

TEST_CASE("Other mounts hide the files of the mounts around them") {
  cdi::Mount tmpfs{.host_path = "tmpfs", .container_path = "/usr/lib/run"};
  tmpfs.type = "tmpfs";
  const auto files = files_with(
      {bind_mount("/host/lib", "/usr/lib"), tmpfs, bind_mount("/host/f", "/usr/lib/run/f")});
  CHECK(host_of(files, "/usr/lib/run") == "none");
  CHECK(host_of(files, "/usr/lib/run/g") == "none");
  CHECK(host_of(files, "/usr/lib/run/f") == "/host/f (mount)");
  CHECK(host_of(files, "/usr/lib/running") == "/host/lib/running");
}

TEST_CASE("Mounts that a later mount replaces do not count") {
  cdi::Plan plan;
  plan.mounts.push_back({bind_mount("/early", "/a"), {}, true});
  plan.mounts.push_back({bind_mount("/late", "/a"), {}});
  plan.mounts.push_back({bind_mount("/gone", "/b"), {}, true});
  ContainerFiles files{plan};
  CHECK(host_of(files, "/a") == "/late (mount)");
  CHECK(host_of(files, "/b") == "none");
  files.add(bind_mount("/last", "/a"));
  CHECK(host_of(files, "/a") == "/last (mount)");
  CHECK(host_of(files, "a") == "none");
}

TEST_CASE("Single libraries are found by their SONAME, or by their name without one") {
  const TempTree host;
  host.put("x", with_soname("libx.so.1"));
  host.put("none", elf_bytes({.soname = std::nullopt}));
  host.put("text", "not a library");
  const auto files = files_with(
      {bind_mount(host / "x", "/lib/libx.so.1.2"), bind_mount(host / "none", "/lib/libnone.so"),
       bind_mount(host / "text", "/lib/libtext.so"), bind_mount(host / "x", "/lib/x.so"),
       bind_mount(host / "x", "/lib/sub/libx.so.1.2"),
       bind_mount(host / "x", "/lib64/libx.so.1.2")});
  CHECK(libraries_of(files, {"/lib"}) ==
        Lines{"/lib/libnone.so <- /lib/libnone.so", "/lib/libx.so.1 <- /lib/libx.so.1.2"});
  CHECK(libraries_of(files, {"/lib64", "/lib/sub", "/lib64"}) ==
        Lines{"/lib64/libx.so.1 <- /lib64/libx.so.1.2",
              "/lib/sub/libx.so.1 <- /lib/sub/libx.so.1.2"});
  CHECK(libraries_of(files, {"/none", "/"}).empty());
}

TEST_CASE("Of two versions with one SONAME, the newer one is found, in any order") {
  const TempTree host;
  host.put("x", with_soname("libx.so.1"));
  const auto found = [&](const char* one, const char* other) {
    return libraries_of(files_with({bind_mount(host / "x", one), bind_mount(host / "x", other)}),
                        {"/lib"});
  };
  CHECK(found("/lib/libx.so.9", "/lib/libx.so.10") == Lines{"/lib/libx.so.1 <- /lib/libx.so.10"});
  CHECK(found("/lib/libx.so.570.86", "/lib/libx.so.570.133") ==
        Lines{"/lib/libx.so.1 <- /lib/libx.so.570.133"});
}

TEST_CASE("Libraries of two machines with one SONAME are both found") {
  const TempTree host;
  host.put("wide", elf_bytes({.soname = "libx.so.1"}));
  host.put("narrow", elf_bytes({.wide = false, .machine = 3, .soname = "libx.so.1"}));
  const auto files = files_with(
      {bind_mount(host / "wide", "/lib/libx.so.2"), bind_mount(host / "narrow", "/lib/libx.so.3")});
  DriverLibraries libraries{files};
  libraries.add_folder("/lib");
  const auto all = libraries.all();
  REQUIRE(all.size() == 2);
  CHECK(all[0]->kind == 0x0303);
  CHECK(all[0]->host == host / "wide");
  CHECK(all[1]->kind == 0x0003);
  CHECK(all[1]->host == host / "narrow");
}

TEST_CASE("The libraries of a mounted directory are found, except those that mounts hide") {
  const TempTree host;
  host.make_dir("lib");
  for (const auto* name : {"libx.so.1.1", "libx.so.1.2", "other"}) {
    host.put("lib/" + std::string{name}, with_soname("libx.so.1"));
  }
  host.put("lib/liby.so.2", with_soname("liby.so.2"));
  host.link("libx.so.1.2", "lib/libx.so.1");
  host.link("missing", "lib/libdangling.so");
  host.put("y", with_soname("libother.so.7"));
  const auto mount = bind_mount(host / "lib", "/opt/lib");
  CHECK(libraries_of(files_with({mount}), {"/opt/lib"}) ==
        Lines{"/opt/lib/libx.so.1 <- /opt/lib/libx.so.1.2 in a folder",
              "/opt/lib/liby.so.2 <- /opt/lib/liby.so.2 in a folder"});
  CHECK(libraries_of(files_with({mount, bind_mount(host / "y", "/opt/lib/liby.so.2")}),
                     {"/opt/lib"}) ==
        Lines{"/opt/lib/libother.so.7 <- /opt/lib/liby.so.2",
              "/opt/lib/libx.so.1 <- /opt/lib/libx.so.1.2 in a folder"});
  CHECK(libraries_of(files_with({bind_mount(host.path(), "/opt")}), {"/opt/lib"}).size() == 2);
  CHECK(libraries_of(files_with({bind_mount(host / "lib", "/")}), {"/"}) ==
        Lines{"/libx.so.1 <- /libx.so.1.2 in a folder", "/liby.so.2 <- /liby.so.2 in a folder"});
}

TEST_CASE("FIFOs and devices in the place of libraries are not opened") {
  const TempTree host;
  REQUIRE(::mkfifo((host / "libfifo.so").c_str(), 0666) == 0);
  static_cast<void>(::mknod((host / "libnode.so").c_str(), S_IFCHR | 0666, 0x103));
  host.link("libfifo.so", "libto-fifo.so");
  host.make_dir("libfolder.so");
  host.put("libx.so", with_soname("libx.so"));
  const Lines only_x{"/d/libx.so <- /d/libx.so in a folder"};
  Opened opened{host.path()};
  CHECK(libraries_of(files_with({bind_mount(host.path(), "/d")}), {"/d"}) == only_x);
  CHECK(libraries_of(files_with({bind_mount(host / "libfifo.so", "/l/libfifo.so"),
                                 bind_mount(host / "libfolder.so", "/l/libfolder.so"),
                                 bind_mount(host / "libnode.so", "/l/libnode.so"),
                                 bind_mount("/dev/null", "/l/libnull.so")}),
                     {"/l", "/l/libfolder.so"})
            .empty());
  for (const auto& name : opened.take()) {
    CAPTURE(name);
    CHECK((name == "" || name == "libx.so" || name == "libfolder.so"));
  }
}

TEST_CASE("Damaged, unreadable and missing libraries are left out") {
  const TempTree host;
  REQUIRE(::chmod(host.path().c_str(), 0755) == 0);
  host.put("libcut.so", with_soname("libcut.so.1").substr(0, 100));
  host.put("libempty.so", "");
  host.put("libbad.so", elf_bytes({.soname = "a/b"}));
  host.put("libsecret.so", with_soname("libsecret.so.1"));
  REQUIRE(::chmod((host / "libsecret.so").c_str(), 0) == 0);
  std::vector<cdi::Mount> mounts{bind_mount(host / "libmissing.so", "/l/libmissing.so"),
                                 bind_mount(host.path(), "/d"), bind_mount(host / "missing", "/m")};
  for (const auto* name : {"libcut.so", "libempty.so", "libbad.so", "libsecret.so"}) {
    mounts.push_back(bind_mount(host / name, "/l/" + std::string{name}));
  }
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  CHECK(libraries_of(files_with(mounts), {"/l", "/d", "/m"}).empty());
}

TEST_CASE("A library is found by its whole path only") {
  const TempTree host;
  host.put("x", with_soname("libx.so.1"));
  const auto files = files_with({bind_mount(host / "x", "/lib/libx.so.1.2")});
  DriverLibraries libraries{files};
  CHECK(libraries.find("/lib/libx.so.1") == nullptr);
  libraries.add_folder("/lib");
  const auto* const found = libraries.find("/lib/libx.so.1");
  REQUIRE(found != nullptr);
  CHECK(found->host == host / "x");
  CHECK(found->kind == 0x0303);
  CHECK(found->mount->options == std::vector<std::string>{"ro", "bind"});
  for (const auto* path : {"/lib/libx.so.1.2", "/lib/libx.so", "/lib/libx.so.10", "/lib", ""}) {
    CAPTURE(path);
    CHECK(libraries.find(path) == nullptr);
  }
}

TEST_CASE("Names that ldconfig takes for libraries are libraries") {
  for (const auto* name : {"libx.so", "libx.so.1", "ld-linux.so.2", "libx.so-old", "lib.so"}) {
    CAPTURE(name);
    CHECK(cdi::detail::is_library_name(name));
  }
  for (const auto* name : {"x.so", "libx.a", "libx.s", "ldx.so", "libx", ""}) {
    CAPTURE(name);
    CHECK_FALSE(cdi::detail::is_library_name(name));
  }
}
