// Injects devices of an NVIDIA-sized spec into the config.json of a Kubernetes pod: one, eight, and
// the device `all`. Also measures, by itself, the copy of the config that each round makes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <benchmark/benchmark.h>

#include <cdi/nlohmann.hpp>

#include "files.hpp"
#include "nvidia_spec.hpp"

namespace {

using Names = std::vector<std::string>;

Names eight() {
  Names names;
  for (int i = 0; i < 8; ++i) names.push_back("vendor.example.com/gpu=" + std::to_string(i));
  return names;
}

template <class Target>
Target config() {
  const auto text = text_of_file(CDI_BENCH_POD);
  if constexpr (std::is_same_v<Target, cdi::oci::Spec>) {
    return *cdi::read_json<Target>(text);
  } else {
    return Target::parse(text);
  }
}

template <class Target>
void copy_alone(benchmark::State& state) {
  const auto before = config<Target>();
  for (auto _ : state) {
    auto target = before;
    benchmark::DoNotOptimize(target);
  }
}

template <class Target>
void inject(benchmark::State& state, const Names& names) {
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(
      cdi::LoadedSpec{.spec = nvidia_spec(), .path = "spec.json"})}};
  const auto before = config<Target>();
  for (auto _ : state) {
    auto target = before;
    if (!registry.inject(target, names)) state.SkipWithError("injection failed");
    benchmark::DoNotOptimize(target);
  }
}

template <class Target>
void add(const std::string& name) {
  const auto copy = "copy_alone/" + name, into = "inject/" + name;
  const Names one{"vendor.example.com/gpu=0"}, all{"vendor.example.com/gpu=all"};
  benchmark::RegisterBenchmark(copy.c_str(), copy_alone<Target>);
  benchmark::RegisterBenchmark((into + "/one").c_str(), inject<Target>, one);
  benchmark::RegisterBenchmark((into + "/eight").c_str(), inject<Target>, eight());
  benchmark::RegisterBenchmark((into + "/all").c_str(), inject<Target>, all);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add<cdi::oci::Spec>("oci::Spec");
  add<nlohmann::json>("json");
  add<nlohmann::ordered_json>("ordered_json");
  benchmark::RunSpecifiedBenchmarks();
}
