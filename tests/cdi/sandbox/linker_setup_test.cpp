// Tests for include/cdi/sandbox/linker_setup.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/sandbox/container_files.hpp>
#include <cdi/sandbox/linker_setup.hpp>

#include "container_case.hpp"

namespace {

using cdi::detail::LinkerSetup;

cdi::Result<LinkerSetup> open_places(const cdi::HooklessOptions& options) {
  return LinkerSetup::open(options.image_root, options.state_dir);
}

/// A container whose linkers should find the libraries in /drv, and what they need for this.
struct LinkerCase : ContainerCase {
  cdi::Result<cdi::detail::LinkerChanges> try_make() const {
    const auto setup = LinkerSetup::open(options.image_root, options.state_dir, mounts);
    REQUIRE_MESSAGE(setup, (setup ? "" : to_string(setup.error())));
    const cdi::detail::ContainerFiles files{plan};
    cdi::detail::DriverLibraries libraries{files};
    for (const auto& folder : wishes.folders) libraries.add_folder(folder);
    return setup->make(wishes, files, libraries.all());
  }
  cdi::detail::LinkerChanges make() const {
    auto made = try_make();
    REQUIRE_MESSAGE(made, (made ? "" : to_string(made.error())));
    return *std::move(made);
  }
  /// The steps, as `WAY SUBJECT: REASON`.
  Texts steps() const {
    Texts out;
    for (const auto& step : make().steps) {
      out.push_back(std::string{hook_way_name(step.way)} + " " + step.subject + ": " + step.reason);
    }
    return out;
  }
  /// The text of the only generated file, which must be mounted at `path`.
  std::string generated(std::string_view path) const {
    const auto made = make();
    REQUIRE(made.files.size() == 1);
    CHECK(made.files.front().path == path);
    CHECK(made.files.front().host.starts_with(options.state_dir + "/cdi-"));
    CHECK(made.variable_folders.empty());
    return get_file(made.files.front().host);
  }
  /// Checks that only LD_LIBRARY_PATH is used, for this reason.
  void check_variable(const std::string& reason, const Texts& folders = {"/drv"}) const {
    CHECK(steps() == Texts{"variable LD_LIBRARY_PATH: " + reason});
    CHECK(make().variable_folders == folders);
    CHECK(make().files.empty());
  }

  cdi::detail::LinkerWishes wishes{.folders = {"/drv"}};
  std::vector<cdi::Mount> mounts{};  // of the container
};

const std::string cache_step =
    "linker-cache /etc/ld.so.cache: the image has glibc's linker, which finds libraries by this "
    "file";
const std::string path_step =
    "linker-path /etc/ld-musl-x86_64.path: the image has musl's linker, which reads its "
    "directories from this file";

/// A library of the image whose driver version has 580 as its major number.
constexpr const char* compat_name = "image/compat/libcuda.so.580.1";

}  // namespace

TEST_CASE("A list of directories has no empty one, which would be the working directory") {
  using cdi::detail::folder_list;
  CHECK(folder_list({}, "/old:/x", ':') == "/old:/x");
  CHECK(folder_list({"/a", "/b", "/a"}, "/b:/old", ':') == "/a:/b:/old");
  CHECK(folder_list({"/a"}, "", ':') == "/a");
  CHECK(folder_list({"/a"}, "/a", ':') == "/a");
}

TEST_CASE("No directories need no change of a linker") {
  LinkerCase box;
  box.wishes.folders.clear();
  CHECK(box.steps().empty());
  box.use_glibc();
  CHECK(box.steps().empty());
  CHECK(box.make().files.empty());
  CHECK(box.make().variable_folders.empty());
}

TEST_CASE("LD_LIBRARY_PATH is used without an image, a known linker or a state directory") {
  LinkerCase box;
  box.wishes.folders = {"/drv", "/b", "/drv"};
  const Texts folders{"/drv", "/b"};
  box.check_variable("the image has no linker of glibc or musl in /lib or /lib64", folders);
  box.use_glibc();
  box.options.state_dir.clear();
  box.check_variable("no directory for generated files is given", folders);
  box.options.image_root.clear();
  box.check_variable("the image is unknown", folders);
}

TEST_CASE("glibc finds the libraries in a cache beside the image's") {
  LinkerCase box;
  box.use_glibc();
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  box.mount_library("/drv/libnone.so", nullptr);
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  CHECK(box.steps() == Texts{cache_step});
  CHECK(cached_libraries(box.generated("/etc/ld.so.cache")) ==
        Texts{"libc.so.6 => /lib/libc.so.6", "libcuda.so.1 => /drv/libcuda.so.1",
              "libnone.so => /drv/libnone.so", "libx.so.1 => /drv/libx.so.1"});
}

TEST_CASE("glibc without a cache gets one with the libraries of the devices") {
  LinkerCase box;
  box.use_glibc(false);
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  CHECK(box.steps() == Texts{cache_step});
  CHECK(cached_libraries(box.generated("/etc/ld.so.cache")) ==
        Texts{"libx.so.1 => /drv/libx.so.1"});
}

TEST_CASE("A library of a machine without a kind is not in the cache") {
  LinkerCase box;
  box.use_glibc(false);
  box.put("host/libx.so", elf_bytes({.machine = 0, .soname = "libx.so.1"}));
  box.mount("libx.so", "/drv/libx.so");
  CHECK(cached_libraries(box.generated("/etc/ld.so.cache")).empty());
}

TEST_CASE("Libraries in a mounted directory are cached by the path that exists") {
  LinkerCase box;
  box.use_glibc(false);
  box.put_library("host/lib/libx.so.5", "libx.so.1");
  box.put_library("host/lib/liby.so.5", "liby.so.1");
  box.tree.link("liby.so.5", "host/lib/liby.so.1");
  box.mount("lib", "/drv");
  box.mount_library("/drv/libz.so.5", "libz.so.1");
  CHECK(cached_libraries(box.generated("/etc/ld.so.cache")) ==
        Texts{"libx.so.1 => /drv/libx.so.5", "liby.so.1 => /drv/liby.so.1",
              "libz.so.1 => /drv/libz.so.5"});
}

TEST_CASE("A cache that is damaged or not readable is not used") {
  LinkerCase box;
  box.use_glibc(false);
  box.put("image/etc/ld.so.cache", "glibc-ld.so.cache1.1 cut");
  box.check_variable("the image's ld.so.cache is damaged or of another machine");
  const auto path = box.tree / "image/etc/ld.so.cache";
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
  box.check_variable("the image's ld.so.cache cannot be read");
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  box.check_variable("the image's ld.so.cache cannot be read");
}

TEST_CASE("musl gets a path file with its default directories, or the image's") {
  LinkerCase box;
  box.use_musl();
  box.wishes.folders = {"/drv", "/b"};
  CHECK(box.steps() == Texts{path_step});
  CHECK(box.generated("/etc/ld-musl-x86_64.path") == "/drv\n/b\n/lib:/usr/local/lib:/usr/lib\n");
  box.put("image/etc/ld-musl-x86_64.path", "/own\n");
  CHECK(box.generated("/etc/ld-musl-x86_64.path") == "/drv\n/b\n/own\n");
  box.put("image/etc/ld-musl-x86_64.path", "");  // musl then has no directory at all
  CHECK(box.generated("/etc/ld-musl-x86_64.path") == "/drv\n/b\n");
}

TEST_CASE("A path file that is not a readable text is not used") {
  LinkerCase box;
  box.use_musl();
  box.put("image/etc/ld-musl-x86_64.path/file");
  box.check_variable("the image's /etc/ld-musl-x86_64.path is not read");
}

TEST_CASE("Of the files that a config mounts, only generated ones are read") {
  LinkerCase box;
  box.use_musl();
  const std::string path = "/etc/ld-musl-x86_64.path";
  box.put("host/secret", "secret");
  const auto generated = box.make().files.front().host;
  const auto other = box.options.state_dir + "/notes";
  box.put("state/notes", "secret");
  box.put("host" + generated.substr(generated.rfind('/')), "secret");
  for (const auto& source : {box.tree / "host/secret", other,
                             box.tree / ("host" + generated.substr(generated.rfind('/')))}) {
    CAPTURE(source);
    box.mounts = {{.host_path = source, .container_path = path, .type = "bind"}};
    CHECK(box.make().files.empty());
    CHECK(box.make().variable_folders == Texts{"/drv"});
  }
  box.mounts.front().host_path = generated;
  box.wishes.folders = {"/more"};
  CHECK(box.generated(path) == "/more\n/drv\n/lib:/usr/local/lib:/usr/lib\n");
}

TEST_CASE("Of the caches that a config mounts, only generated ones are read") {
  LinkerCase box;
  box.use_glibc();
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  box.put("host/cache", get_file(box.tree / "image/etc/ld.so.cache"));
  box.mounts = {
      {.host_path = box.tree / "host/cache", .container_path = "/etc/ld.so.cache", .type = "bind"}};
  CHECK(box.make().files.empty());
  CHECK(box.make().variable_folders == Texts{"/drv"});
}

TEST_CASE("Each linker of an image with several finds the libraries") {
  LinkerCase box;
  box.use_glibc();
  box.use_musl();
  box.put("image/lib/ld-musl-i386.so.1");
  const auto made = box.make();
  CHECK(box.steps() ==
        Texts{"linker-path /etc/ld-musl-i386.path: the image has musl's linker, which reads its "
              "directories from this file",
              path_step, cache_step});
  REQUIRE(made.files.size() == 3);
  CHECK(made.files[0].path == "/etc/ld-musl-i386.path");
  CHECK(made.files[1].path == "/etc/ld-musl-x86_64.path");
  CHECK(made.files[0].host == made.files[1].host);  // the same text
  CHECK(made.files[2].path == "/etc/ld.so.cache");
  box.put("image/etc/ld.so.cache", "damaged");
  CHECK(box.make().steps.size() == 3);
  CHECK(box.make().steps.back().way == cdi::HookWay::variable);
  CHECK(box.make().files.size() == 2);
  CHECK(box.make().variable_folders == Texts{"/drv"});
}

TEST_CASE("Nothing is mounted in a root that is read-only, unless the file exists") {
  LinkerCase box;
  box.use_glibc(false);
  box.put("image/etc/passwd");
  for (const auto* name : {"image", "image/etc"})
    REQUIRE(::chmod((box.tree / name).c_str(), 0755) == 0);
  if (::geteuid() == 0) REQUIRE(::chown((box.tree / "state").c_str(), 65534, 65534) == 0);
  {
    const UnprivilegedUser unprivileged;
    if (!unprivileged || ::access(box.tree.path().c_str(), X_OK) != 0) return;
    box.check_variable("no mount point can be made in the image for /etc/ld.so.cache");
  }
  box.use_musl();
  box.use_glibc();
  const UnprivilegedUser unprivileged;
  CHECK(box.steps() ==
        Texts{"variable LD_LIBRARY_PATH: no mount point can be made in the image for "
              "/etc/ld-musl-x86_64.path",
              cache_step});
}

TEST_CASE("A file is not generated for a path over which the devices have a mount") {
  LinkerCase box;
  box.use_glibc();
  box.put("host/etc/hosts");
  box.mount("etc", "/etc");
  box.check_variable("the devices have a mount over /etc/ld.so.cache");
  box.plan.mounts.clear();
  box.mount("etc/hosts", "/etc/ld.so.cache");
  box.check_variable("the devices have a mount over /etc/ld.so.cache");
  box.plan.mounts.front().edit.container_path = "/etc/hosts";
  CHECK(box.steps() == Texts{cache_step});
}

TEST_CASE("A newer CUDA library of the image comes first, for all linkers") {
  LinkerCase box;
  box.use_glibc();
  box.wishes.compat = {{"/compat", "570.1", ""}};
  box.mount_library("/drv/libcuda.so.570.1", "libcuda.so.1");
  box.mount_library("/drv/libx.so.5", "libx.so.1");
  box.put_library(compat_name, "libcuda.so.1");
  box.tree.link("libcuda.so.580.1", "image/compat/libcuda.so.1");
  box.tree.link("libcuda.so.1", "image/compat/libcuda.so");
  box.wishes.names = {{"libcuda.so", "/drv/libcuda.so", 0x0303}};  // of x86-64
  box.put_library("image/compat/libptx.so.580.1", "libptx.so.1");
  box.put_library("image/compat/libnone.so", nullptr);
  box.put("image/compat/libtext.so");
  CHECK(box.make().preferred == Texts{"/compat"});
  CHECK(cached_libraries(box.generated("/etc/ld.so.cache")) ==
        Texts{"libc.so.6 => /lib/libc.so.6", "libcuda.so => /compat/libcuda.so",
              "libcuda.so.1 => /compat/libcuda.so.580.1", "libptx.so.1 => /compat/libptx.so.580.1",
              "libx.so.1 => /drv/libx.so.1"});
  box.use_musl();
  REQUIRE(box.make().files.size() == 2);
  CHECK(get_file(box.make().files[0].host) == "/compat\n/drv\n/lib:/usr/local/lib:/usr/lib\n");
  box.options.state_dir.clear();
  box.check_variable("no directory for generated files is given", {"/compat", "/drv"});
  box.wishes.folders.clear();
  box.check_variable("no directory for generated files is given", {"/compat"});
}

TEST_CASE("A CUDA library of the image that is not newer, or not the only one, is not used") {
  LinkerCase box;
  box.use_glibc();
  box.wishes.folders.clear();
  const auto is_used = [&](const std::string& driver) {
    box.wishes.compat = {{"/compat", driver, ""}};
    CHECK(box.make().steps.empty() == box.make().preferred.empty());
    return !box.make().preferred.empty();
  };
  CHECK_FALSE(is_used("570.1"));  // there is no such directory
  box.put("image/compat/libcuda.so", "");
  box.put("image/compat/libcuda.so.1", "");
  box.put("image/compat/libcuda.so.x", "");
  CHECK_FALSE(is_used("570.1"));
  box.put_library(compat_name, "libcuda.so.1");
  CHECK(is_used("570.1"));
  CHECK_FALSE(is_used("580.0"));
  CHECK_FALSE(is_used("590.1"));
  box.put_library("image/compat/libcuda.so.581.1", "libcuda.so.1");
  CHECK_FALSE(is_used("570.1"));
}

TEST_CASE("A CUDA library behind links of the image is used; a FIFO is not waited for") {
  LinkerCase box;
  box.use_glibc();
  box.wishes = {.compat = {{"/cuda/compat", "570.1", ""}}};
  box.put_library("image/cuda-13/compat/libcuda.so.580.1", "libcuda.so.1");
  box.tree.link("/cuda-13", "image/cuda");
  CHECK(box.make().preferred == Texts{"/cuda/compat"});
  const auto library = box.tree / "image/cuda-13/compat/libcuda.so.580.1";
  REQUIRE(::unlink(library.c_str()) == 0);
  REQUIRE(::mkfifo(library.c_str(), 0666) == 0);
  CHECK(box.make().preferred.empty());
}

TEST_CASE("Each directory with a newer CUDA library is preferred, once") {
  LinkerCase box;
  box.use_glibc();
  box.wishes.compat = {{"/compat", "570.1", ""}, {"/old", "570.1", ""}, {"/compat", "570.2", ""}};
  box.put_library(compat_name, "libcuda.so.1");
  box.put_library("image/old/libcuda.so.550.1", "libcuda.so.1");
  CHECK(box.make().preferred == Texts{"/compat"});
  box.options.image_root.clear();
  CHECK(box.make().preferred.empty());
  box.check_variable("the image is unknown");
}

TEST_CASE("Places that cannot be used are errors") {
  LinkerCase box;
  box.options.image_root = box.tree / "none";
  CHECK(open_places(box.options).error().code == cdi::Errc::system);
  box.options.image_root = box.tree / "image";
  box.options.state_dir = box.tree / "none";
  CHECK(open_places(box.options).error().code == cdi::Errc::system);
  box.options.state_dir = box.tree / "state";
  REQUIRE(::chmod(box.options.state_dir.c_str(), 0777) == 0);
  CHECK(open_places(box.options).error().code == cdi::Errc::denied);
}

TEST_CASE("A file that cannot be written is an error") {
  LinkerCase box;
  box.use_glibc();
  const UnprivilegedUser unprivileged;
  if (!unprivileged || !open_places(box.options)) return;
  if (::access(box.tree.path().c_str(), W_OK) == 0 && ::getuid() != 0) return;  // its own directory
  const auto made = box.try_make();
  REQUIRE_FALSE(made);
  CHECK(made.error().code == cdi::Errc::system);
}
