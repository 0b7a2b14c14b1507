// What a survey adds to the GPUs of NVIDIA's driver from NVML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/survey/survey.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace prepare;

namespace {

/// The inventories of a host with one GPU whose id is unknown, at the place of a fake one.
std::vector<Inventory> one_gpu() {
  Inventory found{.kind = "nvidia.com/gpu", .driver_version = "570.195.03"};
  found.gpus.push_back({.pci_address = "0000:17:00.0"});
  return {found};
}

SurveyOptions options_with(const char* library) {
  ::setenv("FAKE_NVML", "", 1);
  SurveyOptions options;
  options.root = "/nowhere";
  options.nvml_library = library;
  return options;
}

}  // namespace

TEST_CASE("only a loaded driver of NVIDIA is asked") {
  NvmlMemory memory;
  auto kinds = one_gpu();
  kinds[0].kind = "amd.com/gpu";
  ask_nvml(kinds, options_with(CDI_FAKE_NVML), memory);
  kinds[0].kind = "nvidia.com/gpu";
  kinds[0].driver_version.clear();
  ask_nvml(kinds, options_with(CDI_FAKE_NVML), memory);
  CHECK(memory.gpus.empty());
  CHECK(kinds[0].warnings.empty());
}

TEST_CASE("NVML of this host is not asked about another one") {
  NvmlMemory memory;
  auto kinds = one_gpu();
  ask_nvml(kinds, options_with(""), memory);
  REQUIRE(kinds[0].warnings.size() == 1);
  CHECK(kinds[0].warnings[0].fault == Fault::nvml_of_other_host);
}

TEST_CASE("the last answer is used when NVML fails later") {
  NvmlMemory memory;
  auto kinds = one_gpu();
  ask_nvml(kinds, options_with(CDI_FAKE_NVML), memory);
  CHECK(kinds[0].warnings.empty());
  CHECK_FALSE(memory.gpus.empty());
  const auto known = memory.gpus.size();
  ask_nvml(kinds, options_with(CDI_FAKE_NVML_EMPTY), memory);
  REQUIRE(kinds[0].warnings.size() == 1);
  CHECK(kinds[0].warnings[0].fault == Fault::nvml_failed);
  CHECK(memory.gpus.size() == known);
  CHECK_FALSE(memory.has_hung);
}

TEST_CASE("NVML that has hung is not asked again") {
  NvmlMemory memory{.fault = "it hangs", .has_hung = true};
  auto kinds = one_gpu();
  ask_nvml(kinds, options_with(CDI_FAKE_NVML), memory);
  REQUIRE(kinds[0].warnings.size() == 1);
  CHECK(kinds[0].warnings[0].text == "it hangs");
  CHECK(memory.gpus.empty());
}
