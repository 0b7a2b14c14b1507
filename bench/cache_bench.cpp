// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// A cache of 1000 files, queried again after no change and after one file changed, compared with
// reading every file again. Then many devices: lookup among up to a million, and the memory held
// for each byte of spec text. bench/peer compares with the Go implementation.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "scale_data.hpp"

namespace {

// The size of the heap: whole blocks, including the word that malloc puts before each.
std::atomic<std::size_t> held_bytes{0};
std::atomic<std::size_t> most_held{0};
std::atomic<std::size_t> allocations{0};

std::size_t block_size(void* block) {
  return malloc_usable_size(block) + sizeof(std::size_t);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc{};
  const auto held = held_bytes += block_size(block);
  if (held > most_held) most_held = held;
  ++allocations;
  return block;
}

void operator delete(void* block) noexcept {
  if (block != nullptr) held_bytes -= block_size(block);
  std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}

namespace {

using Clock = std::chrono::steady_clock;

/// The growth of the heap since construction.
class HeldMemory {
 public:
  HeldMemory() { most_held = before_; }

  /// Reports it for each device and for each byte of spec text.
  void report(benchmark::State& state, std::size_t text, std::size_t devices) const {
    const auto held = static_cast<double>(held_bytes - before_);
    const auto most = static_cast<double>(most_held - before_);
    state.counters["text_per_device"] = static_cast<double>(text) / static_cast<double>(devices);
    state.counters["held_per_device"] = held / static_cast<double>(devices);
    state.counters["held_per_text"] = held / static_cast<double>(text);
    state.counters["peak_per_text"] = most / static_cast<double>(text);
  }

 private:
  std::size_t before_ = held_bytes;
};

/// A temporary directory of specs.
class SpecFiles {
 public:
  SpecFiles(int files, int devices) : count_{files} {
    auto name = (std::filesystem::temp_directory_path() / "cdi-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::bad_alloc{};
    path_ = name;
    bytes_ = write_scale_data(path_, files, devices);
  }
  SpecFiles(const SpecFiles&) = delete;
  SpecFiles& operator=(const SpecFiles&) = delete;
  ~SpecFiles() { std::filesystem::remove_all(path_); }

  std::vector<std::string> dirs() const { return {path_.string()}; }
  std::size_t bytes() const { return bytes_; }

  /// Rewrites a file, a different one each time, so that its first device gets another name.
  /// Returns the new qualified name.
  template <class Write>
  std::string change_one(Write write) {
    const int file = changes_++ % count_;
    const auto path = scale_path(path_, file);
    const auto text = text_of_file(path);
    const bool renamed = text.find("\"new0\"") != std::string::npos;
    if (renamed) {
      write(path, scale_text(scale_spec(file, devices_of(text))));
      return scale_kind(file) + "=dev0";
    }
    write(path, with_first_device_renamed(text));
    return scale_kind(file) + "=new0";
  }

 private:
  static int devices_of(const std::string& text) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find("\"name\":", at)) != std::string::npos; ++at) ++found;
    return found;
  }

  std::filesystem::path path_{};
  std::size_t bytes_ = 0;
  int count_;
  int changes_ = 0;
};

/// The spec files for the arguments of a benchmark, number of files and devices in each; made once.
SpecFiles& files_of(const benchmark::State& state) {
  static std::map<std::pair<int, int>, std::unique_ptr<SpecFiles>> made;
  const std::pair arguments{static_cast<int>(state.range(0)), static_cast<int>(state.range(1))};
  auto& files = made[arguments];
  if (!files) files = std::make_unique<SpecFiles>(arguments.first, arguments.second);
  return *files;
}

std::size_t devices_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0) * state.range(1));
}

void load(benchmark::State& state) {
  const auto& files = files_of(state);
  for (auto _ : state) {
    cdi::Cache cache{files.dirs()};
    benchmark::DoNotOptimize(cache.registry());
  }
  const HeldMemory memory;
  cdi::Cache cache{files.dirs()};
  static_cast<void>(cache.registry());
  memory.report(state, files.bytes(), devices_of(state));
}

void unchanged(benchmark::State& state) {
  cdi::Cache cache{files_of(state).dirs()};
  static_cast<void>(cache.registry());
  for (auto _ : state) benchmark::DoNotOptimize(cache.registry());
}

void everything_again(benchmark::State& state) {
  const auto dirs = files_of(state).dirs();
  for (auto _ : state) benchmark::DoNotOptimize(cdi::scan_spec_dirs(dirs));
}

/// One file changes between two calls; the time of the change is not counted.
template <class Write>
void one_changed(benchmark::State& state, Write write) {
  auto& files = files_of(state);
  cdi::Cache cache{files.dirs()};
  static_cast<void>(cache.registry());
  for (auto _ : state) {
    const auto name = files.change_one(write);
    // Longer than a tick of the file system's clock, so that each call sees one new file.
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    const auto start = Clock::now();
    const auto registry = cache.registry();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    if (registry->find(name).device == nullptr) state.SkipWithError("the change was not seen");
  }
}

void one_replaced(benchmark::State& state) {
  one_changed(state, write_by_rename);
}

void one_rewritten_in_place(benchmark::State& state) {
  one_changed(state, write_in_place);
}

void thousand_files(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({1000, 4})->Args({1000, 100})->Unit(benchmark::kMicrosecond);
}
BENCHMARK(load)->Apply(thousand_files);
BENCHMARK(everything_again)->Apply(thousand_files);
BENCHMARK(unchanged)->Apply(thousand_files);
BENCHMARK(one_replaced)->Apply(thousand_files)->UseManualTime()->Iterations(40);
BENCHMARK(one_rewritten_in_place)->Apply(thousand_files)->UseManualTime()->Iterations(40);

/// One file of 10 000 devices.
template <cdi::Format format>
void one_big_file(benchmark::State& state) {
  constexpr int devices = 10'000;
  const auto text = scale_text(scale_spec(0, devices), format);
  const auto read = [&] {
    auto loaded = cdi::parse_spec(text, "big", format);
    if (!loaded) state.SkipWithError("not a valid spec");
    return std::make_shared<const cdi::LoadedSpec>(std::move(*loaded));
  };
  for (auto _ : state) benchmark::DoNotOptimize(read());
  const HeldMemory memory;
  const cdi::Registry registry{{read()}};
  memory.report(state, text.size(), devices);
}
BENCHMARK(one_big_file<cdi::Format::json>)->Unit(benchmark::kMillisecond);
BENCHMARK(one_big_file<cdi::Format::yaml>)->Unit(benchmark::kMillisecond);

using Specs = std::vector<std::shared_ptr<const cdi::LoadedSpec>>;

Specs specs_in_memory(int devices) {
  constexpr int in_each = 100;
  Specs specs;
  for (int i = 0; i < devices / in_each; ++i) {
    auto path = scale_path("/var/run/cdi", i).string();
    specs.push_back(std::make_shared<const cdi::LoadedSpec>(
        cdi::LoadedSpec{.spec = scale_spec(i, in_each), .path = std::move(path)}));
  }
  return specs;
}

/// The index of a registry, and the memory that the registry and its specs hold.
void make_registry(benchmark::State& state) {
  const auto devices = static_cast<int>(state.range(0));
  const HeldMemory memory;
  const auto specs = specs_in_memory(devices);
  for (auto _ : state) {
    cdi::Registry registry{specs};
    state.PauseTiming();  // does not count the cost of freeing it
    benchmark::DoNotOptimize(std::exchange(registry, {}));
    state.ResumeTiming();
  }
  const cdi::Registry registry{specs};
  std::size_t text = 0;
  for (const auto& one : specs) text += scale_text(one->spec).size();
  memory.report(state, text, static_cast<std::size_t>(devices));
}
BENCHMARK(make_registry)->Arg(100)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

/// Names in a random order, but contiguous in memory, so that lookups wait for the index alone.
std::vector<std::string> scattered(std::vector<std::string> names) {
  std::shuffle(names.begin(), names.end(), std::mt19937{4});  // the same order in every run
  return {names.begin(), names.end()};
}

void look_up(benchmark::State& state, const cdi::Registry& registry,
             const std::vector<std::string>& names, bool there) {
  std::size_t i = 0;
  std::size_t found = 0;
  const std::size_t allocated = allocations;
  for (auto _ : state) {
    if (registry.find(names[i]).device != nullptr) ++found;
    i = i + 1 < names.size() ? i + 1 : 0;
  }
  const std::size_t newly_allocated = allocations - allocated;
  state.counters["allocations"] = static_cast<double>(newly_allocated);
  const auto wanted = there ? static_cast<std::size_t>(state.iterations()) : 0;
  if (found != wanted) state.SkipWithError("lookup found a wrong number of devices");
}

/// A registry with the number of devices that the argument gives; made once.
const cdi::Registry& registry_of(const benchmark::State& state) {
  static std::map<int, cdi::Registry> made;
  const auto devices = static_cast<int>(state.range(0));
  const auto at = made.find(devices);
  if (at != made.end()) return at->second;
  return made.emplace(devices, cdi::Registry{specs_in_memory(devices)}).first->second;
}

void look_up_hit(benchmark::State& state) {
  const auto& registry = registry_of(state);
  look_up(state, registry, scattered(registry.devices()), true);
}

/// A device that a known kind does not have.
void look_up_miss(benchmark::State& state) {
  const auto& registry = registry_of(state);
  auto names = scattered(registry.devices());
  for (auto& name : names) name.back() = 'x';
  look_up(state, registry, names, false);
}
BENCHMARK(look_up_hit)->Arg(100)->Arg(10'000)->Arg(1'000'000);
BENCHMARK(look_up_miss)->Arg(100)->Arg(10'000)->Arg(1'000'000);

}  // namespace

BENCHMARK_MAIN();
