// A fake of NVIDIA's management library.
// SPDX-License-Identifier: Apache-2.0 OR MIT

// A library with the functions of NVML that cdi-prepare calls, for nvml_test.cpp. It shows two
// GPUs, the first in MIG mode. The variable FAKE_NVML chooses how it misbehaves. FAKE_NVML_OLD
// leaves out what older libraries lack, FAKE_NVML_EMPTY everything.

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#ifndef FAKE_NVML_EMPTY

extern "C" {
std::mutex fake_nvml_lock;  // held by whoever starts the library
}

namespace {

enum Code { success = 0, not_supported = 3, not_found = 6, lost = 15 };

struct Device {
  const char* bus_id = "";
  const char* uuid = "";
  const char* name = "";
  unsigned gi = 0;
  unsigned ci = 0;
  std::vector<Device*> instances = {};  // by index; none in an empty place
};

struct PciInfo {
  char busIdLegacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pciDeviceId;
  unsigned pciSubSystemId;
  char busId[32];
};

struct Attributes {
  unsigned multiprocessorCount;
  unsigned sharedCopyEngineCount;
  unsigned sharedDecoderCount;
  unsigned sharedEncoderCount;
  unsigned sharedJpegCount;
  unsigned sharedOfaCount;
  unsigned gpuInstanceSliceCount;
  unsigned computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

Device named{.uuid = "MIG-8c3d5a7e-1111-5222-9333-444455556666",
             .name = "NVIDIA A100 80GB PCIe MIG 1g.10gb",
             .gi = 7};
Device unnamed{.uuid = "MIG-9d4e6b8f-1111-5222-9333-444455556666",
               .name = "NVIDIA A100 80GB PCIe",
               .gi = 2,
               .ci = 1};
Device gpus[] = {{.bus_id = "00000000:17:00.0",
                  .uuid = "GPU-5f2a1c0e-3b7d-4c55-9f0a-8e1d2b3c4a51",
                  .name = "NVIDIA A100 80GB PCIe",
                  .instances = {nullptr, &named, nullptr, &unnamed}},
                 {.bus_id = "0001000A:CA:1F.0",
                  .uuid = "GPU-0b7e4d7f-5c1a-4a0e-8b3c-2d1f6e5a9c72",
                  .name = "NVIDIA L4"}};

bool mode_is(std::string_view name) {
  const char* const mode = std::getenv("FAKE_NVML");
  return mode != nullptr && mode == name;
}

/// Says where it is to the test that reads this FIFO, and stays there.
[[noreturn]] void hang() {
  if (const char* const fifo = std::getenv("FAKE_NVML_FIFO")) ::close(::open(fifo, O_WRONLY));
  for (;;) ::pause();
}

/// The open descriptors: "0 1 2 3 ".
std::string descriptors() {
  DIR* const directory = ::opendir("/proc/self/fd");
  std::vector<std::string> names;
  while (const auto* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.' && std::atoi(entry->d_name) != ::dirfd(directory)) {
      names.emplace_back(entry->d_name);
    }
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) text.append(name).append(" ");
  return text;
}

int start() {
  const std::lock_guard lock{fake_nvml_lock};
  if (mode_is("noise")) {
    std::puts("noise by stdio");
    std::fflush(stdout);
    static_cast<void>(!::write(STDOUT_FILENO, "noise\n", 6));
    static_cast<void>(!::write(STDERR_FILENO, "noise\n", 6));
  }
  if (mode_is("hang in init")) hang();
  if (mode_is("crash")) std::raise(SIGSEGV);
  if (mode_is("leave")) ::_exit(0);
  if (mode_is("error 9")) return 9;
  if (mode_is("error 18")) return 18;
  return success;
}

int put(std::string_view text, char* buffer, unsigned size) {
  if (text.size() >= size) return 7;  // too small
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return mode_is("flags only") ? 999 : start();
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = mode_is("endless") ? ~0U : 2;
  return success;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  *device = &gpus[mode_is("endless") ? 0 : index];
  return mode_is("first is lost") && index == 0 ? lost : success;
}

int nvmlDeviceGetPciInfo_v3(Device* device, PciInfo* info) {
  if (mode_is("odd text")) {
    std::memset(&info->busId[0], 'f', sizeof info->busId);
    return success;
  }
  const int code = put(device->bus_id, &info->busId[0], sizeof info->busId);
  return mode_is("second has no address") && device == &gpus[1] ? 999 : code;
}

int nvmlDeviceGetUUID(Device* device, char* buffer, unsigned size) {
  if (mode_is("hang in a device")) hang();
  if (mode_is("UUID is lost")) return lost;
  return put(device->uuid, buffer, size);
}

int nvmlDeviceGetName(Device* device, char* buffer, unsigned size) {
  if (mode_is("descriptors")) return put(descriptors(), buffer, size);
  if (mode_is("control characters")) return put("a\x1b[31mb", buffer, size);
  if (mode_is("no end")) {
    std::memset(buffer, 'x', size);
    return success;
  }
  return put(device->name, buffer, size);
}

#ifndef FAKE_NVML_OLD

const char* nvmlErrorString(int code) {
  return code == 9 ? "Driver Not Loaded" : code == 18 ? "Driver/library version mismatch" : "?";
}

int nvmlInitWithFlags(unsigned flags) {
  if (mode_is("no flags")) return 2;
  return flags == 2 ? start() : 2;
}

int nvmlDeviceGetMigMode(Device* device, unsigned* current, unsigned* pending) {
  *current = device->instances.empty() ? 0 : 1;
  *pending = 1 - *current;
  return success;
}

int nvmlDeviceGetMaxMigDeviceCount(Device* device, unsigned* count) {
  *count = static_cast<unsigned>(device->instances.size());
  if (mode_is("endless")) *count = ~0U;
  return *count != 0 ? success : not_supported;
}

int nvmlDeviceGetMigDeviceHandleByIndex(Device* device, unsigned index, Device** instance) {
  *instance = mode_is("endless") ? &named : device->instances.at(index);
  return *instance != nullptr ? success : not_found;
}

int nvmlDeviceGetGpuInstanceId(Device* instance, unsigned* id) {
  *id = instance->gi;
  return success;
}

int nvmlDeviceGetComputeInstanceId(Device* instance, unsigned* id) {
  *id = instance->ci;
  return success;
}

int nvmlDeviceGetAttributes_v2(Device*, Attributes* attributes) {
  *attributes = {.multiprocessorCount = 28,
                 .sharedCopyEngineCount = 3,
                 .sharedDecoderCount = 2,
                 .sharedEncoderCount = 0,
                 .sharedJpegCount = 0,
                 .sharedOfaCount = 0,
                 .gpuInstanceSliceCount = 3,
                 .computeInstanceSliceCount = 1,
                 .memorySizeMB = 40192};
  return success;
}

int nvmlDeviceGetMemoryInfo(Device*, Memory* memory) {
  *memory = {.total = 81920ULL << 20, .free = 0, .used = 0};
  return success;
}

#endif  // FAKE_NVML_OLD

}  // extern "C"

#endif  // FAKE_NVML_EMPTY
