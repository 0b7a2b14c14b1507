// Asks NVIDIA's management library for properties of GPUs, in another process.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/json.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>

#include "../../kit/host/child_process.hpp"
#include "../model/fault.hpp"
#include "../model/gpu.hpp"
#include "nvidia.hpp"
#include "nvml_library.hpp"

// These are the MIG mode, the UUIDs and sizes of MIG instances, and the UUIDs of GPUs that no
// process has opened yet. The library may crash or hang, so another process calls it: a second copy
// of this program, which has no threads there.

namespace prepare {

/// How NVML is called.
struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";
  std::chrono::milliseconds deadline{5000};
};

namespace nvml {

inline cdi::Error failure(cdi::Errc code, std::string_view message) {
  return {.code = code, .message = fmt::format("NVML: {}", message)};
}

/// Why a child process ended without an answer.
inline cdi::Error ended_early(std::optional<int> status) {
  if (!status || !WIFSIGNALED(*status)) {
    return failure(cdi::Errc::host, "the process that called it ended without an answer");
  }
  const int number = WTERMSIG(*status);
  return failure(cdi::Errc::host, fmt::format("signal {} ended the process that called it: {}",
                                              number, ::strsignal(number)));
}

}  // namespace nvml

/// The GPUs of this machine, from NVML. Fails if there is no library or driver, if the library
/// crashes, and with `Errc::timeout` if it does not answer within the deadline. Each call after a
/// timeout may leave another process that cannot be killed.
///
/// Only for programs whose `main` begins with `answer_nvml`. NVML may load the kernel driver and
/// create nodes in /dev.
inline cdi::Result<std::vector<NvmlGpu>> ask_nvml(const NvmlOptions& options = {}) {
  const std::string self = "/proc/self/exe";  // this file, even after it was replaced
  const auto output = tools::ask_program(
      options.deadline,
      {.path = self, .arguments = {"nvml", std::string{nvml::to_answer}, options.library}});
  if (!output) {
    auto error = output.error();
    const bool cannot_start = error.code == cdi::Errc::host;
    error.message.insert(0, cannot_start ? "NVML: " + self + ": " : "NVML: ");
    return error;
  }
  auto answer = cdi::read_json<nvml::Answer>(output->text);
  if (!answer) return nvml::ended_early(output->status);
  if (!answer->error.empty()) return nvml::failure(cdi::Errc::host, answer->error);
  return std::move(answer->gpus);
}

namespace nvml {

/// Adds UUIDs and sizes to the MIG instances of a GPU.
inline void add_instances(Gpu& gpu, const std::vector<NvmlInstance>& known) {
  for (auto& share : gpu.partitions) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& instance) {
      return share.suffix == fmt::format(":gi{}:ci{}", instance.gi, instance.ci);
    });
    if (same == known.end()) continue;
    if (share.size.empty()) share.size = same->size;
    auto& names = share.aliases;
    const bool is_name = same->uuid.starts_with("MIG-") && cdi::is_device_name(same->uuid);
    const bool is_new = std::find(names.begin(), names.end(), same->uuid) == names.end();
    if (is_name && is_new) names.push_back(same->uuid);
  }
}

/// Leaves out a GPU in MIG mode without instances, on which no program can compute. In /proc, it
/// looks like a GPU that is not in MIG mode.
inline void leave_out_mig(Gpu& gpu, const NvmlGpu& known) {
  if (!known.is_mig || !gpu.partitions.empty() || gpu.whole.left_out) return;
  gpu.mode = "MIG";
  gpu.whole.left_out =
      Problem{Fault::no_compute_instance, "it is in MIG mode, and no instance of it is found"};
}

}  // namespace nvml

/// Adds the properties that NVML reports to the GPUs at the same PCI addresses. Known properties do
/// not change. A UUID that is not valid as a device name is left out, for example "MIG-GPU-.../1/0"
/// from drivers before 470.
inline void add_nvml(Inventory& found, const std::vector<NvmlGpu>& known) {
  for (auto& gpu : found.gpus) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& other) {
      return other.pci_address == gpu.pci_address;
    });
    if (same == known.end()) continue;
    const auto uuid = nvidia::known_uuid(same->uuid);
    if (!gpu.id.empty() && !uuid.empty() && gpu.id != uuid) continue;  // from another machine
    if (gpu.id.empty()) gpu.id = uuid;
    if (gpu.model.empty()) gpu.model = same->model;
    nvml::add_instances(gpu, same->instances);
    nvml::leave_out_mig(gpu, *same);
  }
  drop_shared_ids(found, "UUID");
}

}  // namespace prepare
