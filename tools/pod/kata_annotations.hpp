// Kata's annotations for the size and type of a VM.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_KATA_ANNOTATIONS_HPP
#define CDI_TOOLS_POD_KATA_ANNOTATIONS_HPP

#include <string_view>

namespace pod {

inline constexpr std::string_view vcpus_annotation =
    "io.katacontainers.config.hypervisor.default_vcpus";
inline constexpr std::string_view memory_annotation =
    "io.katacontainers.config.hypervisor.default_memory";  // in MiB
inline constexpr std::string_view gpus_annotation =
    "io.katacontainers.config.hypervisor.default_gpus";
inline constexpr std::string_view instance_annotation =
    "io.katacontainers.config.hypervisor.machine_type";  // for peer pods: the instance type

}  // namespace pod

#endif  // CDI_TOOLS_POD_KATA_ANNOTATIONS_HPP
