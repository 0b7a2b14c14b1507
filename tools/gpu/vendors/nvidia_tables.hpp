// The file names of NVIDIA's driver, and the places of these files on hosts and in containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string_view>
#include <utility>

#include "../model/profile.hpp"

namespace prepare::nvidia {

/// The profiles that need a library, by its name up to ".so". Libraries not listed are for all
/// profiles.
inline constexpr std::pair<std::string_view, Profiles> library_profiles[] = {
    {"libEGL_nvidia", graphics},
    {"libGLESv1_CM_nvidia", graphics},
    {"libGLESv2_nvidia", graphics},
    {"libGLX_nvidia", graphics},
    {"libcuda", compute | video},  // video coding uses CUDA
    {"libcudadebugger", compute},
    {"libglxserver_nvidia", graphics},
    {"libnvcuvid", video},
    {"libnvidia-allocator", compute | graphics},
    {"libnvidia-cbl", graphics},
    {"libnvidia-compiler", compute},
    {"libnvidia-egl-gbm", graphics},
    {"libnvidia-egl-wayland", graphics},
    {"libnvidia-egl-wayland2", graphics},
    {"libnvidia-egl-xcb", graphics},
    {"libnvidia-egl-xlib", graphics},
    {"libnvidia-eglcore", graphics},
    {"libnvidia-encode", video},
    {"libnvidia-fatbinaryloader", compute},
    {"libnvidia-fbc", graphics},
    {"libnvidia-glcore", graphics},
    {"libnvidia-glsi", graphics},
    {"libnvidia-glvkspirv", graphics},
    {"libnvidia-gpucomp", compute | graphics},
    {"libnvidia-gtk2", graphics},
    {"libnvidia-gtk3", graphics},
    {"libnvidia-ifr", graphics},
    {"libnvidia-ngx", graphics},
    {"libnvidia-nvvm", compute},
    {"libnvidia-nvvm70", compute},
    {"libnvidia-opencl", compute},
    {"libnvidia-opticalflow", video},
    {"libnvidia-pkcs11", compute},
    {"libnvidia-pkcs11-openssl3", compute},
    {"libnvidia-present", graphics},
    {"libnvidia-ptxjitcompiler", compute},
    {"libnvidia-rtcore", graphics},
    {"libnvidia-tileiras", compute},
    {"libnvidia-tls", graphics},
    {"libnvidia-vksc-core", graphics},
    {"libnvidia-vulkan-producer", graphics},
    {"libnvidia-wayland-client", graphics},
    {"libnvoptix", graphics},
    {"libvdpau_nvidia", video},
    {"nvidia_drv", graphics},
};

/// Libraries with their own version numbers.
inline constexpr std::string_view own_versions[] = {
    "libnvidia-api",     "libnvidia-egl-gbm",  "libnvidia-egl-wayland", "libnvidia-egl-wayland2",
    "libnvidia-egl-xcb", "libnvidia-egl-xlib", "libnvidia-nvvm70",
};

/// Library directories for hosts without ld.so.cache, such as musl hosts.
inline constexpr std::string_view usual_directories[] = {
    "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib",
    "/lib64",     "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu",     "/lib",
};

/// Subdirectories with more libraries.
inline constexpr std::string_view subdirectories[] = {
    "gbm", "nvidia", "nvidia/current",       "nvidia/xorg",
    "tls", "vdpau",  "xorg/modules/drivers", "xorg/modules/extensions",
};

/// Driver programs, which containers find in /usr/bin.
inline constexpr std::pair<std::string_view, Profiles> programs[] = {
    {"nvidia-cuda-mps-control", compute}, {"nvidia-cuda-mps-server", compute},
    {"nvidia-debugdump", all_profiles},   {"nvidia-imex", compute},
    {"nvidia-imex-ctl", compute},         {"nvidia-persistenced", all_profiles},
    {"nvidia-smi", all_profiles},         {"nvidia-xconfig", graphics},
};

/// The directories with these programs on hosts.
inline constexpr std::string_view program_directories[] = {
    "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin"};

/// The sockets of daemons, under /run.
inline constexpr std::pair<std::string_view, Profiles> sockets[] = {
    {"nvidia-fabricmanager/socket", compute}, {"nvidia-persistenced/socket", all_profiles}};

/// A configuration file, and its directory in containers.
struct Configuration {
  std::string_view name{};
  std::string_view container_directory{};
  Profiles profiles{};
};

inline constexpr Configuration configurations[] = {
    {"OpenCL/vendors/nvidia.icd", "/etc", compute},
    {"X11/xorg.conf.d/10-nvidia.conf", "/usr/share", graphics},
    {"X11/xorg.conf.d/nvidia-drm-outputclass.conf", "/usr/share", graphics},
    {"egl/egl_external_platform.d/09_nvidia_wayland2.json", "/usr/share", graphics},
    {"egl/egl_external_platform.d/10_nvidia_wayland.json", "/usr/share", graphics},
    {"egl/egl_external_platform.d/15_nvidia_gbm.json", "/usr/share", graphics},
    {"egl/egl_external_platform.d/20_nvidia_xcb.json", "/usr/share", graphics},
    {"egl/egl_external_platform.d/20_nvidia_xlib.json", "/usr/share", graphics},
    {"glvnd/egl_vendor.d/10_nvidia.json", "/usr/share", graphics},
    {"nvidia/nvoptix.bin", "/usr/share", graphics},
    {"vulkan/icd.d/nvidia_icd.aarch64.json", "/etc", graphics},
    {"vulkan/icd.d/nvidia_icd.json", "/etc", graphics},
    {"vulkan/icd.d/nvidia_icd.x86_64.json", "/etc", graphics},
    {"vulkan/icd.d/nvidia_layers.json", "/etc", graphics},
    {"vulkan/implicit_layer.d/nvidia_layers.json", "/etc", graphics},
};

/// The directories with these files on hosts.
inline constexpr std::string_view configuration_directories[] = {"/etc", "/usr/local/share",
                                                                 "/usr/share"};

}  // namespace prepare::nvidia
