// The faults of GPUs, as a table of codes and remedies.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "../../kit/cdi_specs/lost_files.hpp"

// This program uses the `Fault`, and other programs use its code; texts are only for people.

namespace prepare {

/// A reason to leave out a GPU, or to warn about it.
enum class Fault : std::uint8_t {
  bound_to_nouveau,
  bound_to_no_driver,
  bound_to_other_driver,
  driver_silent,
  excluded_by_driver,
  no_device_minor,
  no_major,
  nvidia_node,
  nvidiactl_node,
  uvm_node,
  uvm_tools_node,
  modeset_node,
  uvm_module,
  modeset_module,
  fabric_node,
  no_compute_instance,
  mig_access,
  mig_node,
  virtual_functions,
  no_kfd_topology,
  kfd_node,
  partitioning_unreadable,
  no_render_node,
  no_accel_node,
  udev_node,
  iommu_group,
  vfio_node,
  dxg_node,
  shared_id,
  nvml_of_other_host,
  nvml_failed,
  unknown_driver_version,
  no_libcuda,
  other_libraries,
  integrated_gpu,
  vendor_node,
  vendor_path,
  vendor_name,
  vendor_health,
};

/// How long a fault lasts.
enum class Persistence : std::uint8_t {
  passing,   // a driver or udev may still be at work
  lasting,   // until an administrator changes the host
  intended,  // lasting, and probably configured by an administrator
};

/// A row of the table.
struct FaultMeaning {
  Fault fault;
  std::string_view code;  // stable, for programs
  Persistence persistence;
  std::string_view remedy;           // all of it, or the words before a command of cdi-prepare
  std::string_view after_command{};  // the words after the command that makes missing nodes
};

inline constexpr std::string_view let_udev_create_nodes =
    "Let udev create the nodes (udevadm trigger); in a container, mount the host's /dev.";

/// All faults, in the order of `Fault`.
inline constexpr FaultMeaning fault_meanings[] = {
    {Fault::bound_to_nouveau, "bound-to-nouveau", Persistence::lasting,
     "Blacklist nouveau in /etc/modprobe.d (blacklist nouveau; options nouveau modeset=0), rebuild "
     "the initramfs and reboot."},
    {Fault::bound_to_no_driver, "bound-to-no-driver", Persistence::lasting,
     "Load its driver (modprobe nvidia, amdgpu, xe, i915 or habanalabs); journalctl -k shows why "
     "the driver did not bind."},
    {Fault::bound_to_other_driver, "bound-to-other-driver", Persistence::intended,
     "If this is not intended, bind it to its vendor's driver."},
    {Fault::driver_silent, "driver-silent", Persistence::passing,
     "See journalctl -k (NVRM, Xid) for the cause; reset the GPU (nvidia-smi -r) or reboot."},
    {Fault::excluded_by_driver, "excluded-by-driver", Persistence::intended,
     "If this is not intended, remove it from the option NVreg_ExcludedGpus "
     "of the module nvidia."},
    {Fault::no_device_minor, "no-device-minor", Persistence::passing,
     "See what the driver reports about it in journalctl -k (NVRM)."},
    {Fault::no_major, "no-major", Persistence::passing,
     "Load the module of the node: modprobe nvidia, nvidia-uvm or nvidia-modeset."},
    {Fault::nvidia_node, "nvidia-node", Persistence::passing, "If it is missing, create it: ",
     ", or nvidia-modprobe -c N for /dev/nvidiaN. At boot, nvidia-persistenced creates it."},
    {Fault::nvidiactl_node, "nvidiactl-node", Persistence::passing,
     "If they are missing, create the nodes: ",
     ", or nvidia-modprobe -c 255; nvidia-modprobe -u -c 0. At boot, nvidia-persistenced creates "
     "the first."},
    {Fault::uvm_node, "uvm-node", Persistence::passing,
     "Create the nodes: nvidia-modprobe -u -c 0."},
    {Fault::uvm_tools_node, "uvm-tools-node", Persistence::passing,
     "Create the nodes: nvidia-modprobe -u -c 0."},
    {Fault::modeset_node, "modeset-node", Persistence::passing,
     "Create the node: nvidia-modprobe -m."},
    {Fault::uvm_module, "uvm-module", Persistence::passing,
     "Load the module: modprobe nvidia-uvm. CUDA needs it."},
    {Fault::modeset_module, "modeset-module", Persistence::passing,
     "Load the module: modprobe nvidia-modeset. Containers that use graphics need it."},
    {Fault::fabric_node, "fabric-node", Persistence::passing,
     "Create it again. For an NVSwitch: nvidia-modprobe -s -c MINOR (255 for nvidia-nvswitchctl). "
     "For an IMEX channel: rm NODE; mknod -m 666 NODE c MAJOR MINOR."},
    {Fault::no_compute_instance, "no-compute-instance", Persistence::passing,
     "Create GPU instances (nvidia-smi mig -cgi) and compute instances (nvidia-smi mig -cci), or "
     "disable MIG mode."},
    {Fault::mig_access, "mig-access", Persistence::passing,
     "See what the driver reports about it in journalctl -k (NVRM)."},
    {Fault::mig_node, "mig-node", Persistence::passing,
     "Create the nodes of MIG instances: nvidia-modprobe -f FILE for each file named access under "
     "/proc/driver/nvidia/capabilities."},
    {Fault::virtual_functions, "virtual-functions", Persistence::intended,
     "If this is not intended, write 0 to its sriov_numvfs in sysfs."},
    {Fault::no_kfd_topology, "no-kfd-topology", Persistence::passing,
     "See journalctl -k (kfd) for why amdgpu does not compute on it."},
    {Fault::kfd_node, "kfd-node", Persistence::passing,
     "Load amdgpu; its kernel must be built with HSA_AMD."},
    {Fault::partitioning_unreadable, "partitioning-unreadable", Persistence::passing,
     "Try again after the GPU is reset or partitioned."},
    {Fault::no_render_node, "no-render-node", Persistence::passing, let_udev_create_nodes},
    {Fault::no_accel_node, "no-accel-node", Persistence::passing, let_udev_create_nodes},
    {Fault::udev_node, "udev-node", Persistence::passing, let_udev_create_nodes},
    {Fault::iommu_group, "iommu-group", Persistence::lasting,
     "Bind each function of the group to vfio-pci, or return the GPU to its own driver."},
    {Fault::vfio_node, "vfio-node", Persistence::passing,
     "Load vfio-pci, and let udev create the nodes: udevadm trigger."},
    {Fault::dxg_node, "dxg-node", Persistence::passing,
     "In a container, mount the host's /dev; otherwise restart WSL: wsl --shutdown."},
    {Fault::shared_id, "shared-id", Persistence::lasting,
     "Use the PCI addresses as names, and report this to the vendor of the GPUs."},
    {Fault::nvml_of_other_host, "nvml-of-other-host", Persistence::lasting,
     "Run cdi-prepare on that host, or select a library with --nvml-library."},
    {Fault::nvml_failed, "nvml-failed", Persistence::passing,
     "Run nvidia-smi, which uses the same library, and see what it reports."},
    {Fault::unknown_driver_version, "unknown-driver-version", Persistence::lasting,
     "Reload the module nvidia: its version is in /sys/module/nvidia/version."},
    {Fault::no_libcuda, "no-libcuda", Persistence::lasting, tools::libraries_remedy},
    {Fault::other_libraries, "other-libraries", Persistence::passing, tools::libraries_remedy},
    {Fault::integrated_gpu, "integrated-gpu", Persistence::intended,
     "This is intended. Both GPUs need their libraries: remove none of them."},
    {Fault::vendor_node, "vendor-node", Persistence::passing,
     "Load the driver of the device, and let udev create its nodes (udevadm trigger); or correct "
     "the vendor file."},
    {Fault::vendor_path, "vendor-path", Persistence::passing,
     "Install what the vendor file names. If containers work without it, set optional = true for "
     "it "
     "in the vendor file."},
    {Fault::vendor_name, "vendor-name", Persistence::passing,
     "See which attributes the device has in sysfs, and correct the vendor file."},
    {Fault::vendor_health, "vendor-health", Persistence::passing,
     "See what the driver reports about the device in journalctl -k; reset it with the vendor's "
     "tools."},
};

constexpr const FaultMeaning& meaning_of(Fault fault) {
  return fault_meanings[static_cast<std::size_t>(fault)];
}

/// The remedy for a fault. `make_nodes` is the command that makes the missing nodes of this host.
inline std::string remedy_for(Fault fault, std::string_view make_nodes) {
  const auto& row = meaning_of(fault);
  std::string out{row.remedy};
  if (!row.after_command.empty()) out.append(make_nodes).append(row.after_command);
  return out;
}

static_assert(std::all_of(std::begin(fault_meanings), std::end(fault_meanings),
                          [](const FaultMeaning& row) { return &row == &meaning_of(row.fault); }),
              "the rows are in the order of the enumeration");

/// A fault on a host, with a text for people.
struct Problem {
  Fault fault{};
  std::string text{};
  std::string node{};  // the path of the device node that is at fault, if it may be made

  std::string_view code() const { return meaning_of(fault).code; }
  bool is_lasting() const { return meaning_of(fault).persistence != Persistence::passing; }
};

}  // namespace prepare
