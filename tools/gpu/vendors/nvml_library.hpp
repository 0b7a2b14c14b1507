// Calls NVIDIA's management library, in a process of its own.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <vector>

namespace prepare {

/// A MIG instance as reported by NVML.
struct NvmlInstance {
  std::uint32_t gi = 0;  // the GPU instance
  std::uint32_t ci = 0;  // the compute instance in it
  std::string uuid{};
  std::string size{};  // "1g.10gb"; empty when unknown

  static constexpr void fields(auto& list) {
    list("gi", &NvmlInstance::gi);
    list("ci", &NvmlInstance::ci);
    list("uuid", &NvmlInstance::uuid);
    list("size", &NvmlInstance::size);
  }
};

/// A GPU as reported by NVML; unknown texts are empty.
struct NvmlGpu {
  std::string pci_address{};  // "0000:17:00.0"
  std::string uuid{};
  std::string model{};
  bool is_mig = false;  // in MIG mode, with or without instances
  std::vector<NvmlInstance> instances{};

  static constexpr void fields(auto& list) {
    list("pciAddress", &NvmlGpu::pci_address);
    list("uuid", &NvmlGpu::uuid);
    list("model", &NvmlGpu::model);
    list("isMig", &NvmlGpu::is_mig);
    list("instances", &NvmlGpu::instances);
  }
};

namespace nvml {

// The part of nvml.h that is used here.

using Handle = void*;

struct Attributes {
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint32_t gpu_slices = 0;
  std::uint32_t compute_slices = 0;
  std::uint64_t memory_mib = 0;
};

inline constexpr int function_not_found = 13;

/// The library, which is never closed, because the process ends first.
class Library {
 public:
  explicit Library(const std::string& name)
      : handle_{::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)} {}

  explicit operator bool() const { return handle_ != nullptr; }
  bool has(const char* function) const { return ::dlsym(handle_, function) != nullptr; }

  /// Calls a function and returns its code. The parameter types must match `arguments` exactly.
  /// Older libraries lack some functions.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const {
    const auto entry = reinterpret_cast<int (*)(Arguments...)>(::dlsym(handle_, function));
    return entry != nullptr ? entry(arguments...) : function_not_found;
  }

  /// The text that a function writes into a buffer; empty if the function fails or the text is not
  /// a single line of ASCII.
  std::string text(const char* function, Handle device) const;

  /// The meaning of a code: `Driver Not Loaded (NVML error 9)`.
  std::string meaning(int code) const;

 private:
  static std::string plain(std::string_view text);

  void* handle_;
};

/// Converts a PCI address from NVML, which has more digits and capitals, to the sysfs form; empty
/// if it is not valid.
std::string our_address(std::string text);

/// The size at the end of a MIG instance's name, "NVIDIA A100 80GB PCIe MIG 1g.10gb"; empty if
/// there is none.
std::string size_in_name(std::string_view name);

/// Computes the size of a MIG instance from its parts, as NVIDIA's tools do: memory is in eighths
/// of the GPU's memory. Empty if that would be a guess: an instance with an OFA engine but only
/// part of the GPU has one of several profiles with media extensions, such as "1g.10gb+me".
std::string size_of_parts(const Attributes& parts, std::uint64_t gpu_memory);

inline constexpr std::uint32_t max = 64;  // the limit of GPUs, and of instances of a GPU

/// Whether a GPU is in MIG mode now.
bool is_mig(const Library& library, Handle gpu);

/// The answer of the process that calls the library.
struct Answer {
  std::string error{};  // why there are no GPUs
  std::vector<NvmlGpu> gpus{};

  static constexpr void fields(auto& list) {
    list("error", &Answer::error);
    list("gpus", &Answer::gpus);
  }
};

/// Calls the library in this process.
Answer ask(const std::string& name);

/// The argument before the library's name that makes this program answer.
inline constexpr std::string_view to_answer = "answer-nvml";

}  // namespace nvml

/// In a process that `ask_nvml` has started: calls the library, prints what it says, and ends the
/// process. Returns in any other process. Must be called first in `main` of a program that calls
/// `ask_nvml`.
void answer_nvml(int argc, char** argv) noexcept;

}  // namespace prepare
