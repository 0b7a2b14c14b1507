// The files of Windows' GPU drivers on made-up hosts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/vendors/wsl.hpp"

#include <string>

#include <doctest/doctest.h>

#include "driver_host.hpp"

namespace {

using namespace driver_host;

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
