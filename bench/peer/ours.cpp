// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Our side of run.sh: `ours make DIR FILES DEVICES` writes the specs that both sides read, and
// `ours measure DIR CHANGES` prints what main.go prints, a name and a number on each line.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../scale_data.hpp"

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "ours: %s\n", what.c_str());
  std::exit(1);
}

template <class Work>
double microseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const char* name, double number) {
  std::printf("%s %.3f\n", name, number);
}

/// A line of /proc/self/status.
double kilobytes(const std::string& name) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::strtod(line.c_str() + name.size() + 1, nullptr);
  }
  return 0;
}

/// Renames the first device of a file, replaces the file, and gives the new name.
std::string change_one(const std::string& dir, int file) {
  const auto path = scale_path(dir, file);
  auto text = text_of_file(path);
  const auto at = text.find("\"name\":\"") + 8;
  const std::string_view name = std::string_view{text}.substr(at, 4) == "new0" ? "dev0" : "new0";
  write_by_rename(path, text.replace(at, 4, name));
  return cdi::qualified_name(scale_kind(file), name);
}

/// What one lookup takes, over all names in a scattered order.
double nanoseconds_per_name(const cdi::Registry& registry, const std::vector<std::string>& names,
                            bool there) {
  std::size_t found = 0;
  const auto time = microseconds([&] {
    for (const auto& name : names) {
      if (registry.find(name).device != nullptr) ++found;
    }
  });
  if (found != (there ? names.size() : 0)) fail("not the devices asked for");
  return time * 1000 / static_cast<double>(names.size());
}

/// In a scattered order, one after the other in memory.
std::vector<std::string> scattered(std::vector<std::string> names) {
  std::shuffle(names.begin(), names.end(), std::mt19937{4});
  return {names.begin(), names.end()};
}

void measure_freshness(cdi::Cache& cache, const std::string& dir, int changes) {
  constexpr int unchanged_calls = 51;
  std::vector<double> times;
  for (int i = 0; i < unchanged_calls; ++i) {
    times.push_back(microseconds([&] { cache.registry(); }));
  }
  print("unchanged_us", median(std::move(times)));
  times.clear();
  for (int file = 0; file < changes; ++file) {
    const auto name = change_one(dir, file);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    times.push_back(microseconds([&] { cache.registry(); }));
    if (cache.registry()->find(name).device == nullptr) fail("the change was not seen: " + name);
  }
  print("one_changed_us", median(std::move(times)));
}

void measure(const std::string& dir, int changes) {
  cdi::Cache cache{{dir}};
  print("load_us", microseconds([&] { cache.registry(); }));
  print("peak_kB", kilobytes("VmHWM"));
  print("resident_kB", kilobytes("VmRSS"));
  if (changes > 0) measure_freshness(cache, dir, changes);

  const auto registry = cache.registry();
  auto names = scattered(registry->devices());
  print("hit_ns", nanoseconds_per_name(*registry, names, true));
  for (auto& name : names) name.back() = 'x';
  print("miss_ns", nanoseconds_per_name(*registry, names, false));
  print("devices", static_cast<double>(names.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() == 4 && words[0] == "make") {
    std::printf("%zu\n", write_scale_data(words[1], std::stoi(words[2]), std::stoi(words[3])));
  } else if (words.size() == 3 && words[0] == "measure") {
    measure(words[1], std::stoi(words[2]));
  } else {
    fail("usage: ours make DIR FILES DEVICES | ours measure DIR CHANGES");
  }
}
