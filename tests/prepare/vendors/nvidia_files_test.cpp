// The files of NVIDIA's driver on made-up hosts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/prepare/vendors/nvidia_files.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../examples/tools/prepare/vendors/wsl.hpp"
#include "../../support/temp_tree.hpp"

namespace {

using Kind = prepare::DriverFile::Kind;
using Links = std::vector<std::string>;
using Paths = std::vector<std::string>;
using Warnings = std::vector<std::string>;

const std::string version = "570.195.03";
const std::string multiarch = "/usr/lib/x86_64-linux-gnu";

/// A host whose files are made one by one.
class DriverHost {
 public:
  void put(const std::string& path, std::string_view text = "stub\n") const {
    make_parents(path);
    place_.put(path, text);
  }
  void put_program(const std::string& path) const {
    put(path);
    REQUIRE(::chmod((place_ / path).c_str(), 0755) == 0);
  }
  void put_socket(const std::string& path) const {
    make_parents(path);
    const cdi::Descriptor fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = place_ / path;
    REQUIRE(name.size() < sizeof address.sun_path);
    std::memcpy(static_cast<char*>(address.sun_path), name.c_str(), name.size());
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  void link(const std::string& path, const std::string& target) const {
    make_parents(path);
    place_.link(target.c_str(), path);
  }
  void make_dir(const std::string& path) const { make_parents(path + "/"); }

  /// A library of this version of the driver, with links beside it.
  void put_library(const std::string& directory, const std::string& stem,
                   const std::vector<std::string>& links = {}) const {
    const auto name = stem + ".so." + version;
    put(directory + "/" + name);
    for (const auto& other : links) link(directory + "/" + other, name);
  }

  std::string outside(std::string_view path) const { return place_ / path; }

  tools::HostTree tree() const {
    auto tree = tools::HostTree::open(place_.path());
    REQUIRE(tree);
    return std::move(*tree);
  }

 private:
  void make_parents(const std::string& path) const {
    for (auto slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      ::mkdir((place_ / path.substr(0, slash)).c_str(), 0755);
    }
  }

  TempTree place_{};
};

/// What is found on a host, by container path.
struct Found {
  std::map<std::string, prepare::DriverFile> files{};
  Paths order{};
  Warnings warnings{};

  Paths of_kind(Kind kind) const {
    Paths paths;
    for (const auto& path : order) {
      if (files.at(path).kind == kind) paths.push_back(path);
    }
    return paths;
  }
  Links links(const std::string& path) const {
    REQUIRE(files.contains(path));
    return files.at(path).links;
  }
  std::string host_path(const std::string& path) const {
    REQUIRE(files.contains(path));
    return files.at(path).host_path;
  }
};

/// Sorts what was found, which has no path twice and, of libraries, their own paths only.
Found sorted(std::vector<prepare::DriverFile> files) {
  Found found;
  std::set<std::string> paths;
  for (auto& file : files) {
    CAPTURE(file.container_path);
    CHECK(paths.insert(file.container_path).second);
    for (const auto& link : file.links) CHECK(paths.insert(link).second);
    CHECK(std::is_sorted(file.links.begin(), file.links.end()));
    if (file.kind == Kind::library) CHECK(file.host_path == file.container_path);
    found.order.push_back(file.container_path);
    found.files.emplace(file.container_path, std::move(file));
  }
  CHECK(std::is_sorted(found.order.begin(), found.order.end()));
  return found;
}

Found find(const DriverHost& host, const std::string& driver_version = version) {
  std::vector<prepare::Problem> warnings;
  auto found = sorted(prepare::nvidia::driver_files(host.tree(), driver_version, warnings));
  for (auto& warning : warnings) found.warnings.push_back(std::move(warning.text));
  return found;
}

void append_word(std::string& bytes, std::uint32_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// An ld.so.cache of libraries of this machine, by SONAME.
std::string cache_of(const std::vector<std::pair<std::string, std::string>>& libraries) {
  std::string rows;
  std::string strings;
  const auto place = [&](const std::string& text) {
    append_word(rows, static_cast<std::uint32_t>(48 + 24 * libraries.size() + strings.size()));
    strings.append(text).append(1, '\0');
  };
  for (const auto& library : libraries) {
    append_word(rows, prepare::native_library);
    place(library.first);
    place(library.second);
    rows.append(12, '\0');
  }
  std::string cache{"glibc-ld.so.cache1.1"};
  append_word(cache, static_cast<std::uint32_t>(libraries.size()));
  return cache.append(24, '\0') + rows + strings;
}

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
  const auto found = find(host);
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
  const auto found = find(host);
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
  const auto found = find(host);
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
  const auto found = find(host);
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
  const auto smi = "/etc/alternatives/nvidia--nvidia-smi";
  host.put_program("/usr/lib/nvidia/current/nvidia-smi");
  host.put("/usr/lib/nvidia/current/nvidia_drv.so");
  host.link(smi, "/usr/lib/nvidia/current/nvidia-smi");
  host.link("/usr/bin/nvidia-smi", smi);
  const auto found = find(host);
  CHECK(found.of_kind(Kind::library) == Paths{"/usr/lib/nvidia/current/nvidia_drv.so",
                                              multiarch + "/libnvidia-glcore.so." + version,
                                              current + "/libGLX_nvidia.so." + version,
                                              current + "/libcuda.so." + version});
  CHECK(found.links(current + "/libcuda.so." + version) ==
        Links{multiarch + "/libcuda.so", multiarch + "/libcuda.so.1", current + "/libcuda.so.1"});
  CHECK(found.host_path("/usr/bin/nvidia-smi") == "/usr/lib/nvidia/current/nvidia-smi");
}

TEST_CASE("a directory to which links lead is searched too") {
  const DriverHost host;
  const std::string package = "/opt/nvidia-" + version;
  host.put_library(package, "libcuda", {"libcuda.so.1"});
  host.put_library(package, "libnvidia-ptxjitcompiler");
  host.link("/usr/lib64/libcuda.so.1", package + "/libcuda.so.1");
  const auto found = find(host);
  CHECK(found.order == Paths{package + "/libcuda.so." + version,
                             package + "/libnvidia-ptxjitcompiler.so." + version});
  CHECK(found.links(found.order[0]) == Links{package + "/libcuda.so.1", "/usr/lib64/libcuda.so.1"});
}

TEST_CASE("merged /usr: each library is there once") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  host.link("/lib", "usr/lib");
  host.put("/etc/ld.so.cache", cache_of({{"libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1"}}));
  const auto found = find(host);
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
  const auto found = find(host);
  CHECK(found.order == Paths{"/usr/lib64/libcuda.so." + version,
                             "/usr/lib64/vdpau/libvdpau_nvidia.so." + version});
}

TEST_CASE("libraries in /usr/lib alone, as on Arch") {
  const DriverHost host;
  host.put("/usr/lib/libcuda.so." + version,
           "\x7f"
           "ELF\x02");
  host.link("/usr/lib64", "lib");
  CHECK(find(host).order == Paths{"/usr/lib/libcuda.so." + version});
}

TEST_CASE("ld.so.cache leads to other directories") {
  const DriverHost host;
  host.put_library("/opt/driver/lib64", "libcuda", {"libcuda.so.1"});
  host.put_library("/opt/driver/lib64", "libnvidia-glcore");
  host.put_library("/opt/driver/lib64/vdpau", "libvdpau_nvidia");
  host.put("/opt/other/libz.so." + version);
  host.put("/etc/ld.so.cache", cache_of({{"libcuda.so.1", "/opt/driver/lib64/libcuda.so.1"},
                                         {"libz.so.1", "/opt/other/libz.so.1"}}));
  const auto found = find(host);
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
    host.put("/etc/ld.so.cache", cache_of({{"libcuda.so.1", path}, {"libcuda.so.1", path}}));
    CHECK(find(host).links(path) == Links{"/opt/lib/libcuda.so.1"});
  }
  SUBCASE("not where another file exists") {
    host.put("/opt/lib/libcuda.so.1");
    host.put("/etc/ld.so.cache", cache_of({{"libcuda.so.1", path}}));
    CHECK(find(host).links(path).empty());
  }
  SUBCASE("not when it is not a file name") {
    host.put("/etc/ld.so.cache",
             cache_of({{"libcuda.so.1/../../x", path}, {"libcuda.so.\n", path}}));
    CHECK(find(host).links(path).empty());
  }
}

TEST_CASE("an ld.so.cache that is damaged, or speaks of what is not there, does no harm") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1"});
  SUBCASE("damaged") {
    host.put("/etc/ld.so.cache", "glibc-ld.so.cache1.1\xff\xff\xff\xff");
  }
  SUBCASE("directory") {
    host.make_dir("/etc/ld.so.cache");
  }
  SUBCASE("stale") {
    host.put("/etc/ld.so.cache", cache_of({{"libcuda.so.1", "/none/libcuda.so.1"},
                                           {"libcuda.so.1", multiarch + "/none"},
                                           {"libcuda.so.1", "relative"},
                                           {"libcuda.so.1", "/"}}));
  }
  const auto found = find(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.links(found.order[0]) == Links{multiarch + "/libcuda.so.1"});
}

TEST_CASE("a link that leads out of the root is none") {
  const DriverHost host;
  const DriverHost other;
  other.put_library("/lib", "libcuda");
  host.put_library(multiarch, "libnvidia-ml");
  host.link(multiarch + "/libcuda.so.1", other.outside("lib/libcuda.so." + version));
  host.link(multiarch + "/libcuda.so." + version,
            "../../../../../../.." + other.outside("lib/libcuda.so." + version));
  const auto found = find(host);
  CHECK(found.order == Paths{multiarch + "/libnvidia-ml.so." + version});
  CHECK(found.warnings ==
        Warnings{"libcuda.so." + version + " is not on the host: containers cannot use CUDA"});
}

TEST_CASE("names that no spec can hold are left out") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda", {"libcuda.so.1", "libcuda\xff.so", "libcuda.so\n"});
  host.put_library(multiarch, "libnvidia-\xff");
  const auto found = find(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version});
  CHECK(found.links(found.order[0]) == Links{multiarch + "/libcuda.so.1"});
}

TEST_CASE("no libraries at all") {
  const DriverHost host;
  const auto found = find(host);
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
  const auto found = find(host);
  CHECK(found.order.empty());
  CHECK(found.warnings ==
        Warnings{
            "the loaded driver is " + version +
            ", but the libraries on the host are version 575.57.08: containers get none of them; "
            "restart the host if the driver was upgraded"});
}

TEST_CASE("a version that is none") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put(multiarch + "/libcuda.so.");
  host.put("/lib/firmware/nvidia/gsp_a.bin");
  host.put("/lib/firmware/gsp_b.bin");
  for (const auto* text : {"", ".", "..", "1", "../..", "570.195.03/..", "a.b", "1..2"}) {
    CAPTURE(text);
    const auto found = find(host, text);
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
  host.make_dir("/usr/bin/nvidia-imex");
  host.put_program("/usr/bin/nvidia-settings");
  const auto found = find(host);
  CHECK(found.order == Paths{"/usr/bin/nvidia-cuda-mps-control", "/usr/bin/nvidia-smi",
                             "/usr/bin/nvidia-xconfig"});
  CHECK(found.of_kind(Kind::program) == found.order);
  CHECK(found.host_path(found.order[0]) == "/usr/local/bin/nvidia-cuda-mps-control");
  CHECK(found.host_path(found.order[1]) == "/usr/bin/nvidia-smi");
  CHECK(found.files.at(found.order[0]).profiles == prepare::compute);
  CHECK(found.files.at(found.order[1]).profiles == prepare::all_profiles);
  CHECK(found.files.at(found.order[2]).profiles == prepare::graphics);
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
    const auto found = find(host);
    CHECK(found.order == Paths{"/lib/firmware" + place + "/gsp_ga10x.bin",
                               "/lib/firmware" + place + "/gsp_tu10x.bin"});
    CHECK(found.host_path(found.order[0]) == "/usr/lib/firmware" + place + "/gsp_ga10x.bin");
    CHECK(found.of_kind(Kind::firmware) == found.order);
  }
  SUBCASE("updates for this kernel come first") {
    host.put("/proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
    host.put("/usr/lib/firmware/updates/6.8.0-31-generic" + place + "/gsp_ga10x.bin");
    host.put("/usr/lib/firmware/updates/6.1.0" + place + "/gsp_tu10x.bin");
    CHECK(find(host).order ==
          Paths{"/lib/firmware" + place + "/gsp_tu10x.bin",
                "/lib/firmware/updates/6.8.0-31-generic" + place + "/gsp_ga10x.bin"});
  }
  SUBCASE("what the administrator set comes before all") {
    host.put("/sys/module/firmware_class/parameters/path", "/opt/firmware\n");
    host.put("/opt/firmware" + place + "/gsp_ga10x.bin");
    CHECK(find(host).order == Paths{"/lib/firmware" + place + "/gsp_tu10x.bin",
                                    "/opt/firmware" + place + "/gsp_ga10x.bin"});
  }
  SUBCASE("a kernel with an odd name") {
    host.put("/proc/sys/kernel/osrelease", "../firmware\n");
    CHECK(find(host).order == Paths{"/lib/firmware" + place + "/gsp_ga10x.bin",
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
  const auto found = find(host);
  CHECK(found.order ==
        Paths{"/run/nvidia-fabricmanager/socket", "/run/nvidia-persistenced/socket"});
  CHECK(found.of_kind(Kind::socket) == found.order);
}

TEST_CASE("a socket in a /var/run of its own") {
  const DriverHost host;
  host.put_socket("/var/run/nvidia-persistenced/socket");
  host.put("/run/nvidia-persistenced/socket");  // a file, not a socket
  CHECK(find(host).order == Paths{"/var/run/nvidia-persistenced/socket"});
}

TEST_CASE("the directory of the MPS daemon") {
  const DriverHost host;
  SUBCASE("is handed out") {
    host.make_dir("/tmp/nvidia-mps");
    const auto found = find(host);
    CHECK(found.of_kind(Kind::socket) == Paths{"/tmp/nvidia-mps"});
    CHECK(found.files.at("/tmp/nvidia-mps").profiles == prepare::compute);
  }
  SUBCASE("is not a link to a place that containers could then write") {
    host.make_dir("/etc");
    host.link("/tmp/nvidia-mps", "/etc");
    CHECK(find(host).order.empty());
  }
  SUBCASE("is not a file") {
    host.put("/tmp/nvidia-mps");
    CHECK(find(host).order.empty());
  }
  SUBCASE("is not that of another user") {
    if (::geteuid() == 0) {  // only root can change the owner of a directory
      host.make_dir("/tmp/nvidia-mps");
      REQUIRE(::chown(host.outside("tmp/nvidia-mps").c_str(), 65534, 65534) == 0);
      CHECK(find(host).order.empty());
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
  host.make_dir("/usr/share/X11/xorg.conf.d/10-nvidia.conf");  // no file
  const auto found = find(host);
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

TEST_CASE("the modules for X servers") {
  const DriverHost host;
  host.put_library(multiarch, "libcuda");
  host.put("/usr/lib/xorg/modules/drivers/nvidia_drv.so");
  host.put_library("/usr/lib/xorg/modules/extensions", "libglxserver_nvidia",
                   {"libglxserver_nvidia.so"});
  const auto found = find(host);
  CHECK(found.order == Paths{multiarch + "/libcuda.so." + version,
                             "/usr/lib/xorg/modules/drivers/nvidia_drv.so",
                             "/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so." + version});
  CHECK(found.files.at(found.order[1]).profiles == prepare::graphics);
  CHECK(found.links(found.order[2]) ==
        Links{"/usr/lib/xorg/modules/extensions/libglxserver_nvidia.so"});
}

TEST_CASE("Windows: the libraries where it put them, and none of its own files") {
  const DriverHost host;
  const std::string common = "/usr/lib/wsl/lib";
  const std::string store = "/usr/lib/wsl/drivers/nv_dispi.inf_amd64_4c2b1e8d7f0a9c35";
  const std::string sound = "/usr/lib/wsl/drivers/sound.inf_amd64_1";
  host.put(common + "/libcuda.so.1.1");
  host.link(common + "/libcuda.so.1", "libcuda.so.1.1");
  host.put(common + "/libdxcore.so");
  host.put_program(common + "/nvidia-smi");
  host.put(store + "/libcuda_loader.so");
  host.put(store + "/nvcubins.bin");
  host.put(store + "/nvapi64.dll");
  host.put_program(store + "/nvidia-smi");
  host.put(sound + "/sound.sys");
  host.put(sound + "/tables.bin");
  const auto tree = host.tree();
  const auto found =
      sorted(prepare::wsl::driver_files(tree, prepare::wsl::library_directories(tree)));
  CHECK(found.of_kind(Kind::library) ==
        Paths{store + "/libcuda_loader.so", common + "/libcuda.so.1.1", common + "/libdxcore.so"});
  CHECK(found.of_kind(Kind::firmware) == Paths{store + "/nvcubins.bin"});
  CHECK(found.of_kind(Kind::program) == Paths{store + "/nvidia-smi", common + "/nvidia-smi"});
  CHECK(found.links(common + "/libcuda.so.1.1") == Links{common + "/libcuda.so.1"});
  CHECK(found.links(store + "/nvidia-smi") == Links{"/usr/bin/nvidia-smi"});
  CHECK(found.links(common + "/nvidia-smi").empty());
}

}  // namespace
