// The memory that caches and registries hold, for each device and for each byte of spec text, and
// how long they take to make. run.sh compares times and peaks with other implementations.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <memory>
#include <new>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "scale_data.hpp"

namespace {

// The size of the heap: whole blocks, including the word that malloc puts before each.
std::atomic<std::size_t> held_bytes{0};
std::atomic<std::size_t> max_held{0};

std::size_t block_size(void* block) {
  return malloc_usable_size(block) + sizeof(std::size_t);
}

}  // namespace

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc{};
  const auto held = held_bytes += block_size(block);
  if (held > max_held) max_held = held;
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

/// The growth of the heap since construction.
class HeldMemory {
 public:
  HeldMemory() { max_held = before_; }

  /// Reports it for each device and for each byte of spec text.
  void report(benchmark::State& state, std::size_t text, std::size_t devices) const {
    const auto held = static_cast<double>(held_bytes - before_);
    const auto max = static_cast<double>(max_held - before_);
    state.counters["text_per_device"] = static_cast<double>(text) / static_cast<double>(devices);
    state.counters["held_per_device"] = held / static_cast<double>(devices);
    state.counters["held_per_text"] = held / static_cast<double>(text);
    state.counters["peak_per_text"] = max / static_cast<double>(text);
  }

 private:
  std::size_t before_ = held_bytes;
};

/// A temporary directory of specs.
class SpecFiles {
 public:
  SpecFiles(int files, int devices) {
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

 private:
  std::filesystem::path path_{};
  std::size_t bytes_ = 0;
};

/// A cache of 1000 files; the argument is the number of devices in each.
void thousand_files(benchmark::State& state) {
  constexpr int files = 1000;
  const auto devices = static_cast<int>(state.range(0));
  const SpecFiles made{files, devices};
  for (auto _ : state) {
    cdi::Cache cache{made.dirs()};
    benchmark::DoNotOptimize(cache.registry());
  }
  const HeldMemory memory;
  cdi::Cache cache{made.dirs()};
  static_cast<void>(cache.registry());
  memory.report(state, made.bytes(), static_cast<std::size_t>(files * devices));
}
BENCHMARK(thousand_files)->Arg(4)->Arg(100)->Unit(benchmark::kMillisecond);

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

/// The index of a registry, and the memory that the registry and its specs hold.
void make_registry(benchmark::State& state) {
  const auto devices = static_cast<int>(state.range(0));
  const HeldMemory memory;
  const auto specs = scale_specs(devices);
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

}  // namespace

BENCHMARK_MAIN();
