// Calls NVIDIA's management library, in a process of its own.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "nvml_library.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <optional>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/json.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/host/child_process.hpp"
#include "../model/pci.hpp"

namespace prepare::nvml {

namespace {

struct PciInfo {
  char legacy_bus_id[16] = {};
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t pci_id = 0;
  std::uint32_t subsystem_id = 0;
  char bus_id[32] = {};  // "00000000:17:00.0"
};

struct Memory {
  std::uint64_t total = 0;  // bytes
  std::uint64_t free = 0;
  std::uint64_t used = 0;
};

constexpr int success = 0;

constexpr std::uint32_t no_attach = 2;  // leaves other GPUs asleep

std::string size_of(const Library& library, Handle gpu, Handle instance) {
  auto size = size_in_name(library.text("nvmlDeviceGetName", instance));
  if (!size.empty()) return size;
  Attributes parts;
  Memory memory;
  if (library.call("nvmlDeviceGetAttributes_v2", instance, &parts) != success) return {};
  if (library.call("nvmlDeviceGetMemoryInfo", gpu, &memory) != success) return {};
  return size_of_parts(parts, memory.total);
}

/// The MIG instances of a GPU.
std::vector<NvmlInstance> instances_of(const Library& library, Handle gpu) {
  std::vector<NvmlInstance> found;
  std::uint32_t count = 0;
  if (library.call("nvmlDeviceGetMaxMigDeviceCount", gpu, &count) != success) return found;
  for (std::uint32_t i = 0; i < std::min(count, max); ++i) {
    Handle handle = nullptr;
    NvmlInstance instance;
    if (library.call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, i, &handle) != success ||
        library.call("nvmlDeviceGetGpuInstanceId", handle, &instance.gi) != success ||
        library.call("nvmlDeviceGetComputeInstanceId", handle, &instance.ci) != success) {
      continue;  // most slots are empty
    }
    instance.uuid = library.text("nvmlDeviceGetUUID", handle);
    instance.size = size_of(library, gpu, handle);
    found.push_back(std::move(instance));
  }
  return found;
}

/// The GPU with an index; nullopt if NVML cannot identify it, for example after it fell off the
/// bus.
std::optional<NvmlGpu> gpu_at(const Library& library, std::uint32_t index) {
  Handle handle = nullptr;
  PciInfo pci;
  if (library.call("nvmlDeviceGetHandleByIndex_v2", index, &handle) != success) return {};
  if (library.call("nvmlDeviceGetPciInfo_v3", handle, &pci) != success) return {};
  auto address = our_address({&pci.bus_id[0], ::strnlen(&pci.bus_id[0], sizeof pci.bus_id)});
  if (address.empty()) return {};
  return NvmlGpu{.pci_address = std::move(address),
                 .uuid = library.text("nvmlDeviceGetUUID", handle),
                 .model = library.text("nvmlDeviceGetName", handle),
                 .is_mig = is_mig(library, handle),
                 .instances = instances_of(library, handle)};
}

}  // namespace

std::string Library::text(const char* function, Handle device) const {
  char buffer[96] = {};
  const std::uint32_t size = sizeof buffer;
  if (call(function, device, &buffer[0], size) != success) return {};
  return plain({&buffer[0], ::strnlen(&buffer[0], size)});
}

std::string Library::meaning(int code) const {
  using Function = const char* (*)(int);
  const auto entry = reinterpret_cast<Function>(::dlsym(handle_, "nvmlErrorString"));
  const char* const words = entry != nullptr ? entry(code) : nullptr;
  return fmt::format("{} (NVML error {})", words != nullptr ? plain(words) : "", code);
}

std::string Library::plain(std::string_view text) {
  return tools::is_plain(text) ? std::string{text} : std::string{};
}

std::string our_address(std::string text) {
  for (auto& c : text) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto parts = parse_pci_address(text);
  if (!parts) return {};
  const auto [domain, bus, device, function] = *parts;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

std::string size_in_name(std::string_view name) {
  constexpr std::string_view mark = " MIG ";
  const auto at = name.rfind(mark);
  return at == std::string_view::npos ? ""
                                      : std::string{tools::trim(name.substr(at + mark.size()))};
}

std::string size_of_parts(const Attributes& parts, std::uint64_t gpu_memory) {
  const auto gpu_mib = gpu_memory >> 20;
  if (parts.gpu_slices == 0 || parts.compute_slices == 0) return {};
  if (parts.memory_mib == 0 || parts.memory_mib > gpu_mib) return {};
  const auto eighths = (8 * parts.memory_mib + gpu_mib - 1) / gpu_mib;
  if (parts.ofa_engines != 0 && eighths < 8) return {};
  const auto gpu_gib = (gpu_mib + 1023) / 1024;
  const auto size = fmt::format("{}g.{}gb", parts.gpu_slices, (eighths * gpu_gib + 4) / 8);
  if (parts.compute_slices == parts.gpu_slices) return size;
  return fmt::format("{}c.{}", parts.compute_slices, size);
}

bool is_mig(const Library& library, Handle gpu) {
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  return library.call("nvmlDeviceGetMigMode", gpu, &current, &pending) == success && current == 1;
}

Answer ask(const std::string& name) {
  const Library library{name};
  if (!library) return {.error = tools::printable(::dlerror())};  // which has the library's path
  if (!library.has("nvmlInit_v2")) return {.error = tools::printable(name) + " has no nvmlInit_v2"};
  int code = library.call("nvmlInitWithFlags", no_attach);
  if (code != success) code = library.call("nvmlInit_v2");
  std::uint32_t count = 0;
  if (code == success) code = library.call("nvmlDeviceGetCount_v2", &count);
  if (code != success) return {.error = library.meaning(code)};
  Answer answer;
  for (std::uint32_t i = 0; i < std::min(count, max); ++i) {
    if (auto gpu = gpu_at(library, i)) answer.gpus.push_back(std::move(*gpu));
  }
  return answer;
}

}  // namespace prepare::nvml

namespace prepare {

void answer_nvml(int argc, char** argv) noexcept {
  if (argc != 3 || argv[1] != nvml::to_answer) return;
  tools::child::remove_handlers();  // of libraries of this program, such as a sanitizer
  // The library, and programs that it starts, must not write into the answer.
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto text = cdi::write_json(nvml::ask(argv[2]), -1);
  std::string_view rest = text ? std::string_view{*text} : "";
  while (!rest.empty()) {
    const auto written = ::write(output, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) break;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  ::_exit(0);  // not `exit`, which would run handlers of the library
}

}  // namespace prepare
