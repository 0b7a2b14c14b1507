// The files of NVIDIA's driver on made-up hosts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendors/nvidia_files.hpp"

#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include "driver_host.hpp"

namespace {

using namespace driver_host;

Found find_files(const DriverHost& host, const std::string& driver_version = version) {
  std::vector<prepare::Problem> warnings;
  auto found = sorted(prepare::nvidia::driver_files(host.tree(), driver_version, warnings));
  found.warnings = texts_of(warnings);
  return found;
}

}  // namespace

TEST_CASE("a version that is none") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put(multiarch + "/libcuda.so.");
  host.put("/lib/firmware/nvidia/gsp_a.bin");
  host.put("/lib/firmware/gsp_b.bin");
  for (const auto* text : {"", ".", "..", "1", "../..", "570.195.03/..", "a.b", "1..2"}) {
    CAPTURE(text);
    const auto found = find_files(host, text);
    CHECK(found.order.empty());
    CHECK(found.warnings == Warnings{"the version of the loaded driver is unknown: containers "
                                     "get none of its libraries"});
  }
}

TEST_CASE("programs are in /usr/bin, wherever the host has them") {
  const DriverHost host;
  host.put_program("/usr/bin/nvidia-smi");
  host.put_program("/usr/local/bin/nvidia-smi");
  host.put_program("/usr/local/bin/nvidia-cuda-mps-control");
  host.put_program("/usr/bin/nvidia-xconfig");
  host.put("/usr/bin/nvidia-debugdump");  // it is not executable
  host.make("/usr/bin/nvidia-imex");
  host.put_program("/usr/bin/nvidia-settings");
  const auto found = find_files(host);
  CHECK(found.order == Paths{"/usr/bin/nvidia-cuda-mps-control", "/usr/bin/nvidia-smi",
                             "/usr/bin/nvidia-xconfig"});
  CHECK(found.of_kind(Kind::program) == found.order);
  CHECK(found.host_path(found.order[0]) == "/usr/local/bin/nvidia-cuda-mps-control");
  CHECK(found.host_path(found.order[1]) == "/usr/bin/nvidia-smi");
  CHECK(found.files.at(found.order[0]).profiles == prepare::compute);
  CHECK(found.files.at(found.order[1]).profiles == prepare::all_profiles);
  CHECK(found.files.at(found.order[2]).profiles == prepare::graphics);
}

TEST_CASE("a program is the file to which /etc/alternatives leads, as on Debian") {
  const DriverHost host;
  const auto smi = "/etc/alternatives/nvidia--nvidia-smi";
  host.put_program("/usr/lib/nvidia/current/nvidia-smi");
  host.link(smi, "/usr/lib/nvidia/current/nvidia-smi");
  host.link("/usr/bin/nvidia-smi", smi);
  CHECK(find_files(host).host_path("/usr/bin/nvidia-smi") == "/usr/lib/nvidia/current/nvidia-smi");
}

TEST_CASE("the libraries, and what the driver has besides them, are sorted by path") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  host.put_program("/usr/bin/nvidia-smi");
  host.put("/etc/OpenCL/vendors/nvidia.icd");
  const auto found = find_files(host);
  CHECK(found.order == Paths{"/etc/OpenCL/vendors/nvidia.icd", "/usr/bin/nvidia-smi",
                             multiarch + "/libcuda.so." + version});
  CHECK(found.of_kind(Kind::library) == Paths{found.order[2]});
  CHECK(found.links(found.order[2]) == Links{multiarch + "/libcuda.so.1"});
  CHECK(found.warnings.empty());
}

TEST_CASE("firmware of this version, from where the kernel takes it") {
  const DriverHost host;
  const auto place = "/nvidia/" + version;
  host.put("/usr/lib/firmware" + place + "/gsp_ga10x.bin");
  host.put("/usr/lib/firmware" + place + "/gsp_tu10x.bin");
  host.put("/usr/lib/firmware" + place + "/notes.bin");
  host.put("/usr/lib/firmware" + place + "/gsp_ga10x.txt");
  host.put("/usr/lib/firmware/nvidia/535.216.03/gsp_ga10x.bin");
  host.link("/lib", "usr/lib");
  SUBCASE("the usual directory") {
    const auto found = find_files(host);
    CHECK(found.order == Paths{"/lib/firmware" + place + "/gsp_ga10x.bin",
                               "/lib/firmware" + place + "/gsp_tu10x.bin"});
    CHECK(found.host_path(found.order[0]) == "/usr/lib/firmware" + place + "/gsp_ga10x.bin");
    CHECK(found.of_kind(Kind::firmware) == found.order);
  }
  SUBCASE("updates for this kernel come first") {
    host.put("/proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
    host.put("/usr/lib/firmware/updates/6.8.0-31-generic" + place + "/gsp_ga10x.bin");
    host.put("/usr/lib/firmware/updates/6.1.0" + place + "/gsp_tu10x.bin");
    CHECK(find_files(host).order ==
          Paths{"/lib/firmware" + place + "/gsp_tu10x.bin",
                "/lib/firmware/updates/6.8.0-31-generic" + place + "/gsp_ga10x.bin"});
  }
  SUBCASE("what the administrator set comes before all") {
    host.put("/sys/module/firmware_class/parameters/path", "/opt/firmware\n");
    host.put("/opt/firmware" + place + "/gsp_ga10x.bin");
    CHECK(find_files(host).order == Paths{"/lib/firmware" + place + "/gsp_tu10x.bin",
                                          "/opt/firmware" + place + "/gsp_ga10x.bin"});
  }
  SUBCASE("a kernel with an odd name") {
    host.put("/proc/sys/kernel/osrelease", "../firmware\n");
    CHECK(find_files(host).order == Paths{"/lib/firmware" + place + "/gsp_ga10x.bin",
                                          "/lib/firmware" + place + "/gsp_tu10x.bin"});
  }
}

TEST_CASE("sockets, once each") {
  const DriverHost host;
  host.put_socket("/run/nvidia-persistenced/socket");
  host.put_socket("/run/nvidia-fabricmanager/socket");
  SUBCASE("where /var/run is /run") {
    host.link("/var/run", "/run");
  }
  SUBCASE("where there is no /var/run") {}
  const auto found = find_files(host);
  CHECK(found.order ==
        Paths{"/run/nvidia-fabricmanager/socket", "/run/nvidia-persistenced/socket"});
  CHECK(found.of_kind(Kind::socket) == found.order);
}

TEST_CASE("a socket in a /var/run of its own") {
  const DriverHost host;
  host.put_socket("/var/run/nvidia-persistenced/socket");
  host.put("/run/nvidia-persistenced/socket");  // a file, not a socket
  CHECK(find_files(host).order == Paths{"/var/run/nvidia-persistenced/socket"});
}

TEST_CASE("the directory of the MPS daemon") {
  const DriverHost host;
  SUBCASE("is handed out") {
    host.make("/tmp/nvidia-mps");
    const auto found = find_files(host);
    CHECK(found.of_kind(Kind::socket) == Paths{"/tmp/nvidia-mps"});
    CHECK(found.files.at("/tmp/nvidia-mps").profiles == prepare::compute);
  }
  SUBCASE("is not a link to a place that containers could then write") {
    host.make("/etc");
    host.link("/tmp/nvidia-mps", "/etc");
    CHECK(find_files(host).order.empty());
  }
  SUBCASE("is not a file") {
    host.put("/tmp/nvidia-mps");
    CHECK(find_files(host).order.empty());
  }
  SUBCASE("does not belong to another user") {
    if (::geteuid() == 0) {  // only root can change the owner of a directory
      host.make("/tmp/nvidia-mps");
      REQUIRE(::chown((host / "tmp/nvidia-mps").c_str(), 65534, 65534) == 0);
      CHECK(find_files(host).order.empty());
    }
  }
}

TEST_CASE("settings go where most images expect them") {
  const DriverHost host;
  host.put("/usr/share/vulkan/icd.d/nvidia_icd.json");
  host.put("/etc/vulkan/implicit_layer.d/nvidia_layers.json");
  host.put("/usr/share/vulkan/implicit_layer.d/nvidia_layers.json");
  host.put("/usr/local/share/glvnd/egl_vendor.d/10_nvidia.json");
  host.put("/etc/egl/egl_external_platform.d/15_nvidia_gbm.json");
  host.put("/etc/OpenCL/vendors/nvidia.icd");
  host.put("/usr/local/share/OpenCL/vendors/nvidia.icd");
  host.put("/usr/share/nvidia/nvoptix.bin");
  host.make("/usr/share/X11/xorg.conf.d/10-nvidia.conf");  // no file
  const auto found = find_files(host);
  CHECK(found.of_kind(Kind::configuration) == found.order);
  std::map<std::string, std::string> places;
  for (const auto& [path, file] : found.files) {
    places[path] = file.host_path;
    CHECK(file.profiles ==
          (path == "/etc/OpenCL/vendors/nvidia.icd" ? prepare::compute : prepare::graphics));
  }
  CHECK(places ==
        std::map<std::string, std::string>{
            {"/etc/OpenCL/vendors/nvidia.icd", "/etc/OpenCL/vendors/nvidia.icd"},
            {"/etc/vulkan/icd.d/nvidia_icd.json", "/usr/share/vulkan/icd.d/nvidia_icd.json"},
            {"/etc/vulkan/implicit_layer.d/nvidia_layers.json",
             "/etc/vulkan/implicit_layer.d/nvidia_layers.json"},
            {"/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json",
             "/etc/egl/egl_external_platform.d/15_nvidia_gbm.json"},
            {"/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
             "/usr/local/share/glvnd/egl_vendor.d/10_nvidia.json"},
            {"/usr/share/nvidia/nvoptix.bin", "/usr/share/nvidia/nvoptix.bin"},
        });
}
