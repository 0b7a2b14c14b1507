// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Injects four devices of one CDI spec into an OCI spec. Also measures, by itself, the copy of the
// OCI spec that each round makes.

#include <benchmark/benchmark.h>

#include "node.hpp"

namespace {

constexpr std::string_view names[] = {
    "vendor0.example.com/gpu=gpu-0", "vendor0.example.com/gpu=gpu-1",
    "vendor0.example.com/gpu=gpu-2", "vendor0.example.com/gpu=gpu-3"};

template <class OciSpec>
OciSpec container() {
  OciSpec spec{};
  const cdi::ContainerEdits edits{.env = {"PATH=/bin", "HOME=/root"},
                                  .mounts = {{.host_path = "proc", .container_path = "/proc"},
                                             {.host_path = "tmpfs", .container_path = "/dev"}}};
  static_cast<void>(edits.apply(spec));
  return spec;
}

template <>
nlohmann::ordered_json container() {
  auto model = container<cdi::oci::Spec>();
  return cdi::to_json_value(model);
}

template <class OciSpec>
void copy_alone(benchmark::State& state) {
  const auto before = container<OciSpec>();
  for (auto _ : state) {
    auto target = before;
    benchmark::DoNotOptimize(target);
  }
}

template <class OciSpec>
void inject(benchmark::State& state) {
  const auto registry = gpu_registry(100);
  const auto before = container<OciSpec>();
  for (auto _ : state) {
    auto target = before;
    if (!registry.inject(target, names)) state.SkipWithError("injection failed");
    benchmark::DoNotOptimize(target);
  }
}

BENCHMARK(copy_alone<cdi::oci::Spec>);
BENCHMARK(inject<cdi::oci::Spec>);
BENCHMARK(copy_alone<nlohmann::ordered_json>);
BENCHMARK(inject<nlohmann::ordered_json>);

}  // namespace

BENCHMARK_MAIN();
