// Our side of run.sh: `ours GROUP DATA` measures read, refresh, lookup, names or inject, and prints
// a name and a number on each line, like go/main.go and rust/main.rs do. `ours load DIR` reads a
// spec directory and exits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/nlohmann.hpp>

#include "../scale_data.hpp"
#include "measure.hpp"

namespace {

void measure_reading(const std::string& data) {
  for (const std::string size : sizes) {
    for (const std::string format : {"yaml", "json"}) {
      const auto path = data + "/" + size + "." + format + "/spec." + format;
      print("read_" + size + "_" + format, median_time([&] {
              if (!cdi::read_spec_file(path)) fail("cannot read " + path);
            }));
    }
  }
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

double time_of_one_change(cdi::Cache& cache, const std::string& dir, int files) {
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    const auto name = change_one(dir, i % files);
    std::this_thread::sleep_for(
        std::chrono::milliseconds{50});  // a file of the last 20 ms is reread
    times.push_back(microseconds([&] { cache.registry(); }));
    if (cache.registry()->find(name).device == nullptr) fail("the change was not seen: " + name);
  }
  return median(std::move(times));
}

void measure_refreshes(const std::string& data) {
  for (const int files : {1, 10, 100, 1000, 10'000}) {
    const auto count = std::to_string(files);
    const auto dir = data + "/files-" + count;
    print("load_" + count, median_time([&] { cdi::Cache{{dir}}.registry(); }));
    cdi::Cache cache{{dir}};
    cache.registry();
    print("unchanged_" + count, median_time([&] { cache.registry(); }));
    print("changed_" + count, time_of_one_change(cache, dir, files));
    cdi::Cache watched{{dir}, {.freshness = cdi::Freshness::watched}};
    watched.registry();
    print("watched_" + count, mean_time(20'000, [&] { watched.registry(); }) / 1000);
  }
}

/// The names in a random order, contiguous in memory.
std::vector<std::string> scattered(std::vector<std::string> names) {
  std::shuffle(names.begin(), names.end(), std::mt19937{4});
  return {names.begin(), names.end()};
}

/// The mean time of a lookup, over all names in turns. `find(name)` returns a device or null.
template <class Find>
double time_of_lookup(const std::vector<std::string>& names, bool there, Find find) {
  constexpr std::size_t lookups = 1'000'000;
  std::size_t found = 0;
  auto name = names.begin();
  const auto time = mean_time(lookups, [&] {
    if (find(*name) != nullptr) ++found;
    if (++name == names.end()) name = names.begin();
  });
  if (found != (there ? lookups : 0)) fail("lookup found a wrong number of devices");
  return time;
}

void measure_lookups(const std::string& data) {
  for (const std::string count : {"1", "100", "10000", "100000", "1000000"}) {
    cdi::Cache cache{{data + "/devices-" + count}};
    const auto registry = cache.registry();
    const auto find = [&](const std::string& name) {
      return registry->find(name).device;
    };
    auto names = scattered(registry->devices());
    print("hit_" + count, time_of_lookup(names, true, find));
    for (auto& name : names) name.back() = 'x';
    print("miss_" + count, time_of_lookup(names, false, find));
  }
}

template <class Check>
void measure_name(const char* row, const std::string& name, Check check) {
  print(row, mean_time(200'000, [&] {
          keep(name);
          keep(check(name));
        }));
}

void measure_names() {
  const auto valid = [](const std::string& name) {
    return cdi::parse_name(name).has_value();
  };
  measure_name("name_short", "vendor.com/class=dev", valid);
  measure_name("name_long", "nvidia.com/gpu=GPU-8b0bda51-9f2f-4d3c-8b4f-0c6a0b6b1f6a", valid);
  measure_name("name_invalid", "vendor.com/class=bad*name", valid);
  measure_name("name_reason", "vendor.com/class=bad*name", [](const std::string& name) {
    return cdi::qualified_name_error(name).message.size();
  });
}

/// Measures one injection into each of 201 copies, so that the copying does not count.
template <class Target, class Work>
void measure_injection(const char* row, const Target& before, Work work) {
  std::vector<Target> targets(201, before);
  std::vector<double> times;
  for (auto& target : targets) {
    times.push_back(microseconds([&] {
      if (!work(target)) fail("injection failed");
    }));
  }
  print(row, median(std::move(times)));
}

void measure_injections(const std::string& data) {
  cdi::Cache cache{{data + "/60kB.json"}};
  const auto registry = cache.registry();
  const std::vector<std::string> names{"vendor.example.com/gpu=0"};
  const auto inject = [&](auto& spec) {
    return registry->inject(spec, names).has_value();
  };
  const auto text = text_of_file(data + "/pod.json");
  const auto model = cdi::read_json<cdi::oci::Spec>(text);
  if (!model) fail(to_string(model.error()));

  measure_injection("inject_model", *model, inject);
  measure_injection("inject_json", nlohmann::json::parse(text), inject);
  measure_injection("inject_ordered", nlohmann::ordered_json::parse(text), inject);
  measure_injection("text_direct", text, [&](std::string& config) {
    return cdi::inject_json(config, names, cache).has_value();
  });
  measure_injection("text_model", text, [&](const std::string& config) {
    auto spec = cdi::read_json<cdi::oci::Spec>(config);
    return spec && inject(*spec) && cdi::write_json(*spec, -1);
  });
  measure_injection("text_ordered", text, [&](const std::string& config) {
    auto spec = nlohmann::ordered_json::parse(config);
    return inject(spec) && !spec.dump().empty();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: ours GROUP DATA");
  const std::string group = argv[1], data = argv[2];
  if (group == "read") measure_reading(data);
  if (group == "refresh") measure_refreshes(data);
  if (group == "lookup") measure_lookups(data);
  if (group == "names") measure_names();
  if (group == "inject") measure_injections(data);
  if (group == "load" && cdi::Cache{{data}}.registry()->devices().empty()) fail("no devices");
}
