// `size`: vCPUs and memory of the VM that Kata boots for a pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "answer.hpp"

// kata-containers 7c6ba40, with static_sandbox_resource_mgmt. runtime-go: pkg/oci/utils.go;
// runtime-rs: crates/resource/src/cpu_mem/initial_size.rs, and the values in its Makefile.

namespace pod {

/// The options of `size`.
struct SizeOptions {
  std::string formula{};  // rfc, runtime-go or runtime-rs
  std::string profile = "qemu";
  std::string engine = "containerd";  // or crio
  bool static_cpu_manager = false;
  bool verbose = false;
};

/// The default sizes of a Kata configuration, in vCPUs and MiB.
struct Profile {
  std::string_view name;
  float vcpus;  // default_vcpus
  std::int64_t memory;
  float overhead_vcpus;  // of runtime-rs
  std::int64_t overhead_memory;
};

/// runtime-rs, Makefile: DEFVCPUS, DEFMEMSZ, and the overheads of each hypervisor. `tee` is SNP and
/// TDX, `se` is IBM Secure Execution.
inline constexpr std::array<Profile, 6> profiles{{
    {"qemu", 1, 2048, 0.2F, 32},
    {"tee", 1, 2048, 0.4F, 128},
    {"se", 1, 2048, 0.4F, 768},
    {"nvidia", 1, 8192, 0.5F, 512},
    {"nvidia-cpu", 1, 2048, 0.2F, 128},
    {"remote", 1, 2048, 0, 0},
}};

/// The size of the VM, from a sandbox's annotations or from a pod.
Answer answer_size(const cdi::Document& input, const SizeOptions& options);

}  // namespace pod
