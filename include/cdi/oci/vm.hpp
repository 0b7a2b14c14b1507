// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_VM_HPP
#define CDI_OCI_VM_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config-vm.md.

namespace cdi::inline CDI_ABI::oci {

/// The program that runs the virtual machine.
template <class S>
struct BasicVmHypervisor {
  StringOf<S> path{};
  ListOf<S, StringOf<S>> parameters{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVmHypervisor&, const BasicVmHypervisor&) = default;

  static constexpr auto fields() {
    using Self = BasicVmHypervisor;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"parameters", &Self::parameters},
    };
  }
};

/// The kernel that the virtual machine boots.
template <class S>
struct BasicVmKernel {
  StringOf<S> path{};
  ListOf<S, StringOf<S>> parameters{};
  StringOf<S> initrd{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVmKernel&, const BasicVmKernel&) = default;

  static constexpr auto fields() {
    using Self = BasicVmKernel;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"parameters", &Self::parameters},
        Field{"initrd", &Self::initrd},
    };
  }
};

/// The root file system of the virtual machine.
template <class S>
struct BasicVmImage {
  StringOf<S> path{};
  StringOf<S> format{};  // "raw", "qcow2", "vdi", "vmdk" or "vhd"
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVmImage&, const BasicVmImage&) = default;

  static constexpr auto fields() {
    using Self = BasicVmImage;
    return std::tuple{
        Field{"path", &Self::path, required},
        Field{"format", &Self::format, required},
    };
  }
};

/// Pages of the host's memory that the virtual machine may reach, by frame number.
template <class S>
struct BasicVmIoMem {
  std::optional<std::uint64_t> first_gfn{};  // in the guest; `first_mfn` when absent
  std::uint64_t first_mfn = 0;
  std::uint64_t nr_mfns = 0;
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVmIoMem&, const BasicVmIoMem&) = default;

  static constexpr auto fields() {
    using Self = BasicVmIoMem;
    return std::tuple{
        Field{"firstGFN", &Self::first_gfn},
        Field{"firstMFN", &Self::first_mfn, required},
        Field{"nrMFNs", &Self::nr_mfns, required},
    };
  }
};

/// The hardware of the virtual machine.
template <class S>
struct BasicVmHwConfig {
  StringOf<S> device_tree{};
  std::optional<std::uint32_t> vcpus{};
  std::optional<std::uint64_t> memory{};  // bytes
  ListOf<S, StringOf<S>> dtdevs{};
  ListOf<S, BasicVmIoMem<S>> iomems{};
  ListOf<S, std::uint32_t> irqs{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVmHwConfig&, const BasicVmHwConfig&) = default;

  static constexpr auto fields() {
    using Self = BasicVmHwConfig;
    return std::tuple{
        Field{"deviceTree", &Self::device_tree}, Field{"vcpus", &Self::vcpus},
        Field{"memory", &Self::memory},          Field{"dtdevs", &Self::dtdevs},
        Field{"iomems", &Self::iomems},          Field{"irqs", &Self::irqs},
    };
  }
};

/// The part of an OCI spec for containers in virtual machines.
template <class S>
struct BasicVm {
  std::optional<BasicVmHypervisor<S>> hypervisor{};
  BasicVmKernel<S> kernel{};
  std::optional<BasicVmImage<S>> image{};
  std::optional<BasicVmHwConfig<S>> hw_config{};
  ExtraOf<S> extra{};

  friend bool operator==(const BasicVm&, const BasicVm&) = default;

  static constexpr auto fields() {
    using Self = BasicVm;
    return std::tuple{
        Field{"hypervisor", &Self::hypervisor},
        Field{"kernel", &Self::kernel, required},
        Field{"image", &Self::image},
        Field{"hwConfig", &Self::hw_config},
    };
  }
};

using VmHypervisor = BasicVmHypervisor<Owning>;
using VmKernel = BasicVmKernel<Owning>;
using VmImage = BasicVmImage<Owning>;
using VmIoMem = BasicVmIoMem<Owning>;
using VmHwConfig = BasicVmHwConfig<Owning>;
using Vm = BasicVm<Owning>;

static_assert(detail::initialisers_used<VmHypervisor, VmKernel, VmImage, VmIoMem, VmHwConfig, Vm>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_VM_HPP
