// Which kernel events are about GPUs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/model/gpu_events.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using namespace prepare;

bool concerns(std::string_view subsystem, std::string_view devpath = "/devices/x") {
  return concerns_gpus({"add", std::string{devpath}, std::string{subsystem}});
}

}  // namespace

TEST_CASE("subsystems of GPUs") {
  for (const auto name : {"drm", "pci", "accel", "kfd", "vfio", "vfio-dev", "habanalabs", "nvidia",
                          "nvidia-caps-imex-channels"}) {
    CAPTURE(name);
    CHECK(concerns(name));
  }
  for (const auto name : {"", "block", "net", "mem", "drm_dp_aux_dev", "pci_bus", "pcix", "vfiox",
                          "nvidiafb", "platform", "tty", "DRM"}) {
    CAPTURE(name);
    CHECK_FALSE(concerns(name));
  }
}

TEST_CASE("modules of GPU drivers by whole words") {
  for (const auto name : {"nvidia", "nvidia_uvm", "nvidia_current", "nvidia_current_drm", "nouveau",
                          "amdgpu", "xe", "xe_vfio_pci", "i915", "vfio", "vfio_pci",
                          "vfio_iommu_type1", "nvgrace_gpu_vfio_pci", "habanalabs", "intel_vpu"}) {
    CAPTURE(name);
    CHECK(concerns("module", std::string{"/module/"} + name));
  }
  for (const auto name : {"nvidiafb", "xen_gntdev", "xenfs", "xe2", "i9150", "i2c_nvidia_gpu",
                          "snd_hda_intel", "vfiox", "nvi", "", "ext4"}) {
    CAPTURE(name);
    CHECK_FALSE(concerns("module", std::string{"/module/"} + name));
  }
}

TEST_CASE("of what is miscellaneous, the nodes that go with GPUs") {
  CHECK(concerns("misc", "/devices/virtual/misc/vfio"));
  CHECK(concerns("misc", "/devices/virtual/misc/iommu"));
  CHECK(concerns("misc", "/devices/virtual/misc/dxg"));
  CHECK(concerns("misc", "/devices/virtual/misc/nvidia-fs"));
  CHECK_FALSE(concerns("misc", "/devices/virtual/misc/fuse"));
  CHECK_FALSE(concerns("misc", "/devices/virtual/vfio/misc"));
}
