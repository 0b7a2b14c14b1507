// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// A name to its device in a scattered order, among 100 to 100 000: beside it a map from whole
// names, the obvious index.

#include <map>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "node.hpp"

namespace {

void resolve_in_map(benchmark::State& state) {
  const auto registry = gpu_registry(static_cast<int>(state.range(0)));
  const auto names = registry.devices();
  std::map<std::string, cdi::ResolvedDevice, std::less<>> index;
  for (const auto& name : names) index.emplace(name, registry.find(name));
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(index.find(std::string_view{names[i]}));
    i = (i + 7919) % names.size();
  }
}
BENCHMARK(resolve_in_map)->Arg(100)->Arg(10'000)->Arg(100'000);

void resolve_in_registry(benchmark::State& state) {
  const auto registry = gpu_registry(static_cast<int>(state.range(0)));
  const auto names = registry.devices();
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(registry.find(names[i]));
    i = (i + 7919) % names.size();
  }
}
BENCHMARK(resolve_in_registry)->Arg(100)->Arg(10'000)->Arg(100'000);

}  // namespace

BENCHMARK_MAIN();
