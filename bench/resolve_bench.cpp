// Looks up devices by name in a random order, among 100 to 100 000, compared with the obvious
// indexes: a map and a hash table from full names. Each lookup reads the device, as callers do.
// Also measures how long it takes to build each index.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include <benchmark/benchmark.h>

#include "scale_data.hpp"

namespace {

struct NameHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using Map = std::map<std::string, cdi::ResolvedDevice, std::less<>>;
using HashTable = std::unordered_map<std::string, cdi::ResolvedDevice, NameHash, std::equal_to<>>;

template <class Index>
Index make_index(const std::vector<std::shared_ptr<const cdi::LoadedSpec>>& specs) {
  Index index;
  for (const auto& spec : specs) {
    for (const auto& device : spec->spec.devices) {
      index.emplace(cdi::qualified_name(spec->spec.kind, device.name),
                    cdi::ResolvedDevice{spec.get(), &device});
    }
  }
  return index;
}

template <class Index>
void resolve_in(benchmark::State& state) {
  const cdi::Registry registry{scale_specs(static_cast<int>(state.range(0)))};
  const auto names = registry.devices();
  const auto index = make_index<Index>(registry.specs());
  std::size_t i = 0;
  for (auto _ : state) {
    const auto found = index.find(std::string_view{names[i]});
    benchmark::DoNotOptimize(found->second.device->container_edits.device_nodes.size());
    i = (i + 7919) % names.size();
  }
}
BENCHMARK(resolve_in<Map>)->Arg(100)->Arg(10'000)->Arg(100'000);
BENCHMARK(resolve_in<HashTable>)->Arg(100)->Arg(10'000)->Arg(100'000);

void resolve_in_registry(benchmark::State& state) {
  const cdi::Registry registry{scale_specs(static_cast<int>(state.range(0)))};
  const auto names = registry.devices();
  std::size_t i = 0;
  for (auto _ : state) {
    const auto found = registry.find(names[i]);
    benchmark::DoNotOptimize(found.device->container_edits.device_nodes.size());
    i = (i + 7919) % names.size();
  }
}
BENCHMARK(resolve_in_registry)->Arg(100)->Arg(10'000)->Arg(100'000);

template <class Index>
void build(benchmark::State& state) {
  const auto specs = scale_specs(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(make_index<Index>(specs));
}
BENCHMARK(build<HashTable>)->Arg(100)->Arg(10'000)->Arg(100'000);

void build_registry(benchmark::State& state) {
  const auto specs = scale_specs(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(cdi::Registry{specs});
}
BENCHMARK(build_registry)->Arg(100)->Arg(10'000)->Arg(100'000);

}  // namespace

BENCHMARK_MAIN();
