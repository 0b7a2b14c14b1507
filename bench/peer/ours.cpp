// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Our side of run.sh: `ours make DIR` writes the files that all sides read, and `ours measure DIR`
// prints the measurements that go/main.go and rust/main.rs print, a name and a number on each line.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../node.hpp"
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

/// Renames the first device of a file, replaces the file, and returns the new name.
std::string change_one(const std::string& dir, int file) {
  const auto path = scale_path(dir, file);
  auto text = text_of_file(path);
  const auto at = text.find("\"name\":\"") + 8;
  const std::string_view name = std::string_view{text}.substr(at, 4) == "new0" ? "dev0" : "new0";
  write_by_rename(path, text.replace(at, 4, name));
  return cdi::qualified_name(scale_kind(file), name);
}

/// The time of one lookup: the mean over all names in a random order, 20 times.
double nanoseconds_per_name(const cdi::Registry& registry, const std::vector<std::string>& names,
                            bool there) {
  const auto lookups = 20 * names.size();
  std::size_t found = 0;
  const auto time = microseconds([&] {
    for (std::size_t i = 0; i < lookups; ++i) {
      if (registry.find(names[i % names.size()]).device != nullptr) ++found;
    }
  });
  if (found != (there ? lookups : 0)) fail("lookup found a wrong number of devices");
  return time * 1000 / static_cast<double>(lookups);
}

/// The names in a random order, contiguous in memory.
std::vector<std::string> scattered(std::vector<std::string> names) {
  std::shuffle(names.begin(), names.end(), std::mt19937{4});
  return {names.begin(), names.end()};
}

/// The median time of `repeats` calls of `work(i)`.
template <class Work>
double median_time(std::size_t repeats, Work work) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) times.push_back(microseconds([&] { work(i); }));
  return median(std::move(times));
}

void measure_reading(const std::string& dir) {
  for (const std::string format : {"yaml", "json"}) {
    const auto path = dir + "/" + format + "/gpu." + format;
    const auto time = median_time(21, [&](std::size_t) {
      if (!cdi::read_spec_file(path)) fail("cannot read " + path);
    });
    print(("read_" + format + "_us").c_str(), time);
  }
}

template <class Copies, class Work>
void measure_injection(const char* name, Copies copies, Work work) {
  print(name, median_time(copies.size(), [&](std::size_t i) {
          if (!work(copies[i])) fail("injection failed");
        }));
}

void measure_injections(const std::string& dir) {
  constexpr std::size_t repeats = 201;
  cdi::Cache cache{{dir + "/json"}};
  const auto registry = cache.registry();
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back("vendor.example.com/gpu=gpu-" + std::to_string(i));
  const auto text = text_of_file(dir + "/pod.json");
  const auto model = cdi::read_json<cdi::oci::Spec>(text);
  if (!model) fail(to_string(model.error()));

  measure_injection("inject_us", std::vector<cdi::oci::Spec>(repeats, *model),
                    [&](auto& spec) { return registry->inject(spec, names).has_value(); });
  const std::vector<std::string> texts(repeats, text);
  measure_injection("config_us", texts, [&](const std::string& config) {
    auto spec = cdi::read_json<cdi::oci::Spec>(config);
    return spec && registry->inject(*spec, names) && cdi::write_json(*spec, -1);
  });
  measure_injection("config_json_us", texts, [&](const std::string& config) {
    auto spec = nlohmann::json::parse(config);
    return registry->inject(spec, names) && !spec.dump().empty();
  });
}

void measure_names() {
  constexpr std::size_t rounds = 20'000;
  for (const bool good : {true, false}) {
    const std::vector<std::string> names{"vendor.com/class=dev",
                                         "nvidia.com/gpu=GPU-8b0bda51-9f2f-4d3c-8b4f-0c6a0b6b1f6a",
                                         "intel.com/vf=0000:3b:02.1"};
    std::vector<std::string> texts = names;
    for (auto& text : texts) text += good ? "" : "*";
    std::size_t parsed = 0;
    const auto time = microseconds([&] {
      for (std::size_t i = 0; i < rounds; ++i) {
        for (const auto& text : texts) parsed += cdi::parse_name(text).has_value() ? 1 : 0;
      }
    });
    if (parsed != (good ? rounds * texts.size() : 0)) fail("a wrong number of names was accepted");
    print(good ? "name_ns" : "bad_name_ns",
          time * 1000 / static_cast<double>(rounds * texts.size()));
  }
}

void measure_freshness(cdi::Cache& cache, const std::string& dir) {
  print("unchanged_us", median_time(51, [&](std::size_t) { cache.registry(); }));
  std::vector<double> times;
  for (int file = 0; file < 5; ++file) {
    const auto name = change_one(dir, file);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    times.push_back(microseconds([&] { cache.registry(); }));
    if (cache.registry()->find(name).device == nullptr) fail("the change was not seen: " + name);
  }
  print("one_changed_us", median(std::move(times)));
}

void measure_directory(const std::string& dir) {
  cdi::Cache cache{{dir}};
  print("load_us", microseconds([&] { cache.registry(); }));
  print("peak_kB", kilobytes("VmHWM"));
  print("resident_kB", kilobytes("VmRSS"));
  measure_freshness(cache, dir);

  const auto registry = cache.registry();
  auto names = scattered(registry->devices());
  print("hit_ns", nanoseconds_per_name(*registry, names, true));
  for (auto& name : names) name.back() = 'x';
  print("miss_ns", nanoseconds_per_name(*registry, names, false));
}

/// Specs for CDI 0.5.0, the newest release that the Go peer of Debian 12 reads.
void make(const std::string& dir) {
  for (const auto* name : {"many", "json", "yaml"})
    std::filesystem::create_directory(dir + "/" + name);
  const auto many = write_scale_data(dir + "/many", 1000, 4);
  const auto gpus = cdi::lower(gpu_spec("vendor.example.com/gpu", 100), cdi::Release{0, 5, 0},
                               cdi::Losses::allow);
  if (!gpus) fail(to_string(gpus.error()));
  for (const std::string format : {"json", "yaml"}) {
    const auto path = dir + "/" + format + "/gpu." + format;
    if (const auto done = cdi::write_spec_file(path, gpus->spec); !done) {
      fail(to_string(done.error()));
    }
    std::printf("one spec, 100 devices, %s: %zu bytes\n", format.c_str(),
                static_cast<std::size_t>(std::filesystem::file_size(path)));
  }
  std::printf("1000 specs, 4 devices each, json: %zu bytes\n", many);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() == 2 && words[0] == "make") {
    make(words[1]);
  } else if (words.size() == 2 && words[0] == "measure") {
    measure_directory(words[1] + "/many");
    measure_reading(words[1]);
    measure_injections(words[1]);
    measure_names();
  } else {
    fail("usage: ours make DIR | ours measure DIR");
  }
}
