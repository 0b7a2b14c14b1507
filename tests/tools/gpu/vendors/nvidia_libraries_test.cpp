// The libraries of NVIDIA's driver on made-up hosts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendors/nvidia_libraries.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "../../../support/ld_cache_bytes.hpp"
#include "driver_host.hpp"

namespace {

using namespace driver_host;

Found find_libraries(const DriverHost& host) {
  std::vector<prepare::Problem> warnings;
  auto found =
      sorted(prepare::sorted_files(prepare::nvidia::libraries(host.tree(), version, warnings, {})));
  found.warnings = texts_of(warnings);
  return found;
}

/// An ld.so.cache of libraries of this machine, by SONAME.
std::string native_cache(const std::vector<std::pair<std::string, std::string>>& libraries) {
  std::vector<CachedLibrary> rows;
  for (const auto& [soname, path] : libraries) {
    rows.push_back({prepare::nvidia::native_library, soname, path});
  }
  return ld_cache_bytes(rows);
}

}  // namespace

TEST_CASE("libraries of the loaded driver, at their own paths, with the links that lead to them") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  host.link(multiarch + "/libcuda.so", "libcuda.so.1");  // one link after the other
  host.put_library(multiarch, "libnvidia-glcore");
  host.put_library(multiarch, "libGLX_nvidia", {"libGLX_nvidia.so.0", "libGLX_indirect.so.0"});
  host.put_library(multiarch, "libnvidia-allocator", {"libnvidia-allocator.so.1"});
  host.link(multiarch + "/gbm/nvidia-drm_gbm.so", "../libnvidia-allocator.so.1");
  host.put_library(multiarch + "/vdpau", "libvdpau_nvidia", {"libvdpau_nvidia.so.1"});
  host.put(multiarch + "/libfoo.so.1.2.3");
  host.link(multiarch + "/libfoo.so.1", "libfoo.so.1.2.3");
  const auto found = find_libraries(host);
  CHECK(found.warnings == Warnings{});
  CHECK(found.order == Paths{multiarch + "/libGLX_nvidia.so." + version,
                             multiarch + "/libcuda.so." + version,
                             multiarch + "/libnvidia-allocator.so." + version,
                             multiarch + "/libnvidia-glcore.so." + version,
                             multiarch + "/vdpau/libvdpau_nvidia.so." + version});
  CHECK(found.links(found.order[0]) ==
        Links{multiarch + "/libGLX_indirect.so.0", multiarch + "/libGLX_nvidia.so.0"});
  CHECK(found.links(found.order[1]) ==
        Links{multiarch + "/libcuda.so", multiarch + "/libcuda.so.1"});
  CHECK(found.links(found.order[2]) ==
        Links{multiarch + "/gbm/nvidia-drm_gbm.so", multiarch + "/libnvidia-allocator.so.1"});
  CHECK(found.links(found.order[3]).empty());
  CHECK(found.links(found.order[4]) == Links{multiarch + "/vdpau/libvdpau_nvidia.so.1"});
}

TEST_CASE("profiles") {
  const std::pair<const char*, prepare::Profiles> expected[] = {
      {"libcudadebugger", prepare::compute},
      {"libnvidia-nvvm", prepare::compute},
      {"libnvidia-opencl", prepare::compute},
      {"libnvidia-ptxjitcompiler", prepare::compute},
      {"libGLX_nvidia", prepare::graphics},
      {"libnvidia-rtcore", prepare::graphics},
      {"libnvoptix", prepare::graphics},
      {"libnvcuvid", prepare::video},
      {"libnvidia-opticalflow", prepare::video},
      {"libvdpau_nvidia", prepare::video},
      {"libcuda", prepare::compute | prepare::video},
      {"libnvidia-gpucomp", prepare::compute | prepare::graphics},
      {"libnvidia-ml", prepare::all_profiles},
      {"libnvidia-yet-unknown", prepare::all_profiles},
  };
  const DriverHost host;
  for (const auto& row : expected) host.put_library(multiarch, row.first);
  const auto found = find_libraries(host);
  for (const auto& row : expected) {
    CAPTURE(row.first);
    const auto path = multiarch + "/" + row.first + ".so." + version;
    REQUIRE(found.files.contains(path));
    CHECK(found.files.at(path).profiles == row.second);
  }
}

TEST_CASE("libraries with versions of their own") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put(multiarch + "/libnvidia-egl-gbm.so.1.1.2");
  host.link(multiarch + "/libnvidia-egl-gbm.so.1", "libnvidia-egl-gbm.so.1.1.2");
  host.put(multiarch + "/libnvidia-egl-wayland2.so.1.0.0");
  host.put(multiarch + "/libnvidia-nvvm70.so.4");
  host.put(multiarch + "/libnvidia-api.so.1");
  // Not of the driver, or not a library.
  host.put(multiarch + "/libnvidia-container.so.1.17.8");
  host.put(multiarch + "/libnvidia-egl-gbm.so.1.1.2.old");
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version,
                             multiarch + "/libnvidia-api.so.1",
                             multiarch + "/libnvidia-egl-gbm.so.1.1.2",
                             multiarch + "/libnvidia-egl-wayland2.so.1.0.0",
                             multiarch + "/libnvidia-nvvm70.so.4"});
  CHECK(found.links(found.order[2]) == Links{multiarch + "/libnvidia-egl-gbm.so.1"});
}

TEST_CASE("a library that another driver left is not of this one") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put(multiarch + "/libnvidia-compiler.so.535.216.03");
  host.link(multiarch + "/libnvidia-compiler.so", "libnvidia-compiler.so.535.216.03");
  host.put(multiarch + "/libcuda.so.535.216.03");
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.warnings == Warnings{});
}

TEST_CASE("Debian has them in two directories, joined by /etc/alternatives") {
  const DriverHost host;
  const auto current = multiarch + "/nvidia/current";
  host.put_library(current, "libcuda", {"libcuda.so.1"});
  host.put_library(current, "libGLX_nvidia", {"libGLX_nvidia.so.0"});
  host.put_library(multiarch, "libnvidia-glcore");
  const auto alternative = "/etc/alternatives/nvidia--libcuda.so.1-x86_64-linux-gnu";
  host.link(alternative, current + "/libcuda.so.1");
  host.link(multiarch + "/libcuda.so.1", alternative);
  host.link(multiarch + "/libcuda.so", "libcuda.so.1");
  host.put("/usr/lib/nvidia/current/nvidia_drv.so");
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{"/usr/lib/nvidia/current/nvidia_drv.so",
                             multiarch + "/libnvidia-glcore.so." + version,
                             current + "/libGLX_nvidia.so." + version,
                             current + "/libcuda.so." + version});
  CHECK(found.links(current + "/libcuda.so." + version) ==
        Links{multiarch + "/libcuda.so", multiarch + "/libcuda.so.1", current + "/libcuda.so.1"});
}

TEST_CASE("a directory to which links lead is searched too") {
  const DriverHost host;
  const std::string package = "/opt/nvidia-" + version;
  host.put_library(package, "libcuda", {"libcuda.so.1"});
  host.put_library(package, "libnvidia-ptxjitcompiler");
  host.link("/usr/lib64/libcuda.so.1", package + "/libcuda.so.1");
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{package + "/libcuda.so." + version,
                             package + "/libnvidia-ptxjitcompiler.so." + version});
  CHECK(found.links(found.order[0]) == Links{package + "/libcuda.so.1", "/usr/lib64/libcuda.so.1"});
}

TEST_CASE("merged /usr: each library is there once") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  host.link("/lib", "usr/lib");
  host.put("/etc/ld.so.cache",
           native_cache({{"libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1"}}));
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.links(found.order[0]) == Links{multiarch + "/libcuda.so.1"});
}

TEST_CASE("/usr/lib64, and what 32-bit programs use in /usr/lib") {
  const DriverHost host;
  const std::string elf64{
      "\x7f"
      "ELF\x02 and so on"};
  const std::string elf32{
      "\x7f"
      "ELF\x01 and so on"};
  host.put("/usr/lib64/libcuda.so." + version, elf64);
  host.link("/usr/lib64/libcuda.so.1", "libcuda.so." + version);
  host.put("/usr/lib64/vdpau/libvdpau_nvidia.so." + version, elf64);
  host.put("/usr/lib/libcuda.so." + version, elf32);
  host.link("/usr/lib/libcuda.so.1", "libcuda.so." + version);
  host.put("/usr/lib/vdpau/libvdpau_nvidia.so." + version, elf32);
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{"/usr/lib64/libcuda.so." + version,
                             "/usr/lib64/vdpau/libvdpau_nvidia.so." + version});
}

TEST_CASE("libraries in /usr/lib alone, as on Arch") {
  const DriverHost host;
  host.put("/usr/lib/libcuda.so." + version,
           "\x7f"
           "ELF\x02");
  host.link("/usr/lib64", "lib");
  CHECK(find_libraries(host).order == Paths{"/usr/lib/libcuda.so." + version});
}

TEST_CASE("ld.so.cache leads to other directories") {
  const DriverHost host;
  host.put_library("/opt/driver/lib64", "libcuda", {"libcuda.so.1"});
  host.put_library("/opt/driver/lib64", "libnvidia-glcore");
  host.put_library("/opt/driver/lib64/vdpau", "libvdpau_nvidia");
  host.put("/opt/other/libz.so." + version);
  host.put("/etc/ld.so.cache", native_cache({{"libcuda.so.1", "/opt/driver/lib64/libcuda.so.1"},
                                             {"libz.so.1", "/opt/other/libz.so.1"}}));
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{"/opt/driver/lib64/libcuda.so." + version,
                             "/opt/driver/lib64/libnvidia-glcore.so." + version,
                             "/opt/driver/lib64/vdpau/libvdpau_nvidia.so." + version});
  CHECK(found.links(found.order[0]) == Links{"/opt/driver/lib64/libcuda.so.1"});
}

TEST_CASE("a SONAME that ld.so.cache alone knows becomes a link") {
  // ldconfig -X writes the cache and makes no links.
  const DriverHost host;
  const auto path = "/opt/lib/libcuda.so." + version;
  host.put(path);
  SUBCASE("where nothing exists") {
    host.put("/etc/ld.so.cache", native_cache({{"libcuda.so.1", path}, {"libcuda.so.1", path}}));
    CHECK(find_libraries(host).links(path) == Links{"/opt/lib/libcuda.so.1"});
  }
  SUBCASE("not where another file exists") {
    host.put("/opt/lib/libcuda.so.1");
    host.put("/etc/ld.so.cache", native_cache({{"libcuda.so.1", path}}));
    CHECK(find_libraries(host).links(path).empty());
  }
  SUBCASE("not when it is not a file name") {
    host.put("/etc/ld.so.cache",
             native_cache({{"libcuda.so.1/../../x", path}, {"libcuda.so.\n", path}}));
    CHECK(find_libraries(host).links(path).empty());
  }
}

TEST_CASE("an ld.so.cache that is damaged, or speaks of what is not there, does no harm") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  SUBCASE("damaged") {
    host.put("/etc/ld.so.cache", "glibc-ld.so.cache1.1\xff\xff\xff\xff");
  }
  SUBCASE("directory") {
    host.make("/etc/ld.so.cache");
  }
  SUBCASE("stale") {
    host.put("/etc/ld.so.cache", native_cache({{"libcuda.so.1", "/none/libcuda.so.1"},
                                               {"libcuda.so.1", multiarch + "/none"},
                                               {"libcuda.so.1", "relative"},
                                               {"libcuda.so.1", "/"}}));
  }
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.links(found.order[0]) == Links{multiarch + "/libcuda.so.1"});
}

TEST_CASE("a link that leads out of the root is none") {
  const DriverHost host;
  const DriverHost other;
  other.put_library("/lib", "libcuda");
  host.put_library(multiarch, "libnvidia-ml");
  host.link(multiarch + "/libcuda.so.1", other / ("lib/libcuda.so." + version));
  host.link(multiarch + "/libcuda.so." + version,
            "../../../../../../.." + other / ("lib/libcuda.so." + version));
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libnvidia-ml.so." + version});
  CHECK(found.warnings ==
        Warnings{"libcuda.so." + version + " is not on the host: containers cannot use CUDA"});
}

TEST_CASE("names that no spec can hold are left out") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1", "libcuda\xff.so", "libcuda.so\n"});
  host.put_library(multiarch, "libnvidia-\xff");
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.links(found.order[0]) == Links{multiarch + "/libcuda.so.1"});
}

TEST_CASE("no libraries at all") {
  const DriverHost host;
  const auto found = find_libraries(host);
  CHECK(found.order.empty());
  CHECK(found.warnings ==
        Warnings{"libcuda.so." + version + " is not on the host: containers cannot use CUDA"});
}

TEST_CASE("a driver that was upgraded without a restart of the host") {
  const DriverHost host;
  host.put(multiarch + "/libcuda.so.575.57.08");
  host.put(multiarch + "/libnvidia-ml.so.575.57.08");
  host.put(multiarch + "/libnvidia-egl-gbm.so.1.1.2");
  host.put("/usr/lib/xorg/modules/drivers/nvidia_drv.so");
  const auto found = find_libraries(host);
  CHECK(found.order.empty());
  CHECK(found.warnings ==
        Warnings{
            "the loaded driver is " + version +
            ", but the libraries on the host are version 575.57.08: containers get none of them: "
            "if the driver was upgraded, reboot or reload the module; otherwise install the "
            "libraries with the same version as the module"});
}

TEST_CASE("the modules for X servers") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put("/usr/lib/xorg/modules/drivers/nvidia_drv.so");
  host.put_library("/usr/lib/xorg/modules/extensions", "libglxserver_nvidia",
                   {"libglxserver_nvidia.so"});
  const auto found = find_libraries(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version,
                             "/usr/lib/xorg/modules/drivers/nvidia_drv.so",
                             "/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so." + version});
  CHECK(found.files.at(found.order[1]).profiles == prepare::graphics);
  CHECK(found.links(found.order[2]) ==
        Links{"/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so"});
}
