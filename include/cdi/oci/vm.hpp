// OCI runtime spec 1.3.0, config-vm.md.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_OCI_VM_HPP
#define CDI_OCI_VM_HPP

#include <cstdint>
#include <optional>

#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::oci {

/// The program that runs the virtual machine. config-vm.md, "Hypervisor Object".
template <class S>
struct BasicVmHypervisor {
  StringOf<S> path{};                            ///< absolute path on the host
  ListOf<S, StringOf<S>> parameters = no_items;  ///< parameters, one per entry
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVmHypervisor&, const BasicVmHypervisor&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVmHypervisor;
    list("path", &Self::path, required);
    list("parameters", &Self::parameters);
  }
};

/// The kernel that the virtual machine boots. config-vm.md, "Kernel Object".
template <class S>
struct BasicVmKernel {
  StringOf<S> path{};                            ///< absolute path on the host
  ListOf<S, StringOf<S>> parameters = no_items;  ///< parameters, one per entry
  StringOf<S> initrd{};  ///< initial RAM disk, absolute path on the host; none when empty
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVmKernel&, const BasicVmKernel&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVmKernel;
    list("path", &Self::path, required);
    list("parameters", &Self::parameters);
    list("initrd", &Self::initrd);
  }
};

/// The virtual machine's root file system, not the container's. config-vm.md, "Image Object".
template <class S>
struct BasicVmImage {
  StringOf<S> path{};    ///< absolute path on the host
  StringOf<S> format{};  ///< "raw", "qcow2", "vdi", "vmdk" or "vhd"
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVmImage&, const BasicVmImage&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVmImage;
    list("path", &Self::path, required);
    list("format", &Self::format, required);
  }
};

/// Host I/O memory pages that the virtual machine may access, by frame number; see xl.cfg(5).
/// config-vm.md, "HWConfig Object".
template <class S>
struct BasicVmIoMem {
  std::optional<std::uint64_t> first_gfn{};  ///< first frame in the guest; `first_mfn` when absent
  std::uint64_t first_mfn = 0;               ///< first frame on the host
  std::uint64_t nr_mfns = 0;                 ///< number of frames
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVmIoMem&, const BasicVmIoMem&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVmIoMem;
    list("firstGFN", &Self::first_gfn);
    list("firstMFN", &Self::first_mfn, required);
    list("nrMFNs", &Self::nr_mfns, required);
  }
};

/// The virtual machine's hardware; see xl.cfg(5). config-vm.md, "HWConfig Object".
template <class S>
struct BasicVmHwConfig {
  StringOf<S> device_tree{};              ///< path of the guest's device tree blob; none when empty
  std::optional<std::uint32_t> vcpus{};   ///< processor count; the runtime's choice when absent
  std::optional<std::uint64_t> memory{};  ///< maximum in bytes; the runtime's choice when absent
  ListOf<S, StringOf<S>> dtdevs = no_items;  ///< nodes of the host's device tree to pass through
  ListOf<S, BasicVmIoMem<S>> iomems = no_items;  ///< host I/O memory to pass through
  ListOf<S, std::uint32_t> irqs = no_items;      ///< host interrupt numbers to pass through
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVmHwConfig&, const BasicVmHwConfig&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVmHwConfig;
    list("deviceTree", &Self::device_tree);
    list("vcpus", &Self::vcpus);
    list("memory", &Self::memory);
    list("dtdevs", &Self::dtdevs);
    list("iomems", &Self::iomems);
    list("irqs", &Self::irqs);
  }
};

/// The virtual machine part of an OCI spec: the member `vm`. config-vm.md.
template <class S>
struct BasicVm {
  std::optional<BasicVmHypervisor<S>> hypervisor{};  ///< the runtime's choice when absent
  BasicVmKernel<S> kernel{};                         ///< the kernel to boot
  std::optional<BasicVmImage<S>> image{};            ///< the root; the runtime's choice when absent
  std::optional<BasicVmHwConfig<S>> hw_config{};     ///< the runtime's choice when absent
  ExtraOf<S> extra = no_items;

  friend bool operator==(const BasicVm&, const BasicVm&) = default;

  static constexpr void fields(auto& list) {
    using Self = BasicVm;
    list("hypervisor", &Self::hypervisor);
    list("kernel", &Self::kernel, required);
    list("image", &Self::image);
    list("hwConfig", &Self::hw_config);
  }
};

using VmHypervisor = BasicVmHypervisor<Owning>;
using VmKernel = BasicVmKernel<Owning>;
using VmImage = BasicVmImage<Owning>;
using VmIoMem = BasicVmIoMem<Owning>;
using VmHwConfig = BasicVmHwConfig<Owning>;
using Vm = BasicVm<Owning>;

}  // namespace cdi::oci

#endif  // CDI_OCI_VM_HPP
