// Runs one operation in the function `measured`, for tests/build/instructions_test.py, which counts
// its instructions: `instructions OPERATION FOLDER`, after `instructions make FOLDER`, which writes
// specs into the folder. The input is the same in each run, and no file of the host is read.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/inject_json.hpp>
#include <cdi/nlohmann.hpp>

#include "nvidia_spec.hpp"
#include "scale_data.hpp"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> device{"vendor.example.com/gpu=0"};

/// An operation, ready to run more than once. Its result is whether it succeeded.
using Operation = std::function<bool()>;

Operation parse(cdi::Format format) {
  const auto text = scale_text(nvidia_spec(), format);
  return [=] {
    return cdi::parse_spec(text, "spec", format).has_value();
  };
}

/// What parsing is followed by: the values of the document as a spec, and the check of its rules.
Operation read_and_validate() {
  const auto document = std::make_shared<const cdi::Result<cdi::Document>>(
      cdi::parse_json(scale_text(nvidia_spec())));
  return [=] {
    const auto spec = cdi::read<cdi::Spec>(**document);
    return spec && cdi::validate(*spec);
  };
}

/// Finds each of 10,000 devices.
Operation look_up() {
  const cdi::Registry registry{scale_specs(10'000)};
  return [=, names = registry.devices()] {
    std::size_t found = 0;
    for (const auto& name : names) found += registry.find(name).device != nullptr ? 1 : 0;
    return found == 10'000;
  };
}

/// Replaces one of 100 specs of a registry, which has 100 devices.
Operation replace_spec() {
  auto specs = scale_specs(10'000);
  const cdi::Registry before{specs};
  specs[50] = std::make_shared<const cdi::LoadedSpec>(*specs[50]);
  return [=] {
    return cdi::Registry{specs, {}, {}, &before}.errors().empty();
  };
}

Operation check_names() {
  const std::vector<std::string> names{"vendor.com/class=dev", "intel.com/vf=0000:3b:02.1",
                                       "nvidia.com/gpu=GPU-8b0bda51-9f2f-4d3c-8b4f-0c6a0b6b1f6a",
                                       "vendor.com/class=bad*name"};
  return [=] {
    std::size_t valid = 0;
    for (std::size_t i = 0; i < 4000; ++i) valid += cdi::parse_name(names[i % 4]) ? 1 : 0;
    return valid == 3000;
  };
}

/// Injects into a target. The first run, which does not count, has one of its own.
template <class Target>
Operation inject(const Target& target) {
  const cdi::Registry registry{{std::make_shared<const cdi::LoadedSpec>(
      cdi::LoadedSpec{.spec = nvidia_spec(), .path = "spec.json"})}};
  return [=, targets = std::vector<Target>(2, target), i = std::size_t{0}]() mutable {
    return registry.inject(targets[i++], device).has_value();
  };
}

Operation inject_text(const std::string& config, const std::string& dir) {
  const cdi::CacheOptions manual{.freshness = cdi::Freshness::manual};
  const auto cache = std::make_shared<cdi::Cache>(std::vector{dir}, manual);
  return [=] {
    auto text = config;
    return cdi::inject_json(text, device, *cache).has_value();
  };
}

Operation check_unchanged(const std::string& dir) {
  const auto cache = std::make_shared<cdi::Cache>(std::vector{dir});
  return [=] {
    return cache->registry()->devices().size() == 40;
  };
}

/// Not in the same process as the operations, because a cache reads new files again.
Operation make(const fs::path& folder) {
  return [=] {
    for (const auto* dir : {"one", "ten"}) fs::create_directory(folder / dir);
    write_in_place(folder / "one" / "spec.json", scale_text(nvidia_spec()));
    return write_scale_data(folder / "ten", 10, 4) != 0;
  };
}

Operation operation(std::string_view name, const std::string& folder) {
  const auto config = text_of_file(CDI_BENCH_POD);
  if (name == "make") return make(folder);
  if (name == "parse_json_spec") return parse(cdi::Format::json);
  if (name == "parse_yaml_spec") return parse(cdi::Format::yaml);
  if (name == "read_and_validate") return read_and_validate();
  if (name == "look_up") return look_up();
  if (name == "replace_spec") return replace_spec();
  if (name == "check_names") return check_names();
  if (name == "inject_oci_spec") return inject(*cdi::read_json<cdi::oci::Spec>(config));
  if (name == "inject_ordered_json") return inject(nlohmann::ordered_json::parse(config));
  if (name == "inject_json_text") return inject_text(config, folder + "/one");
  if (name == "check_unchanged") return check_unchanged(folder + "/ten");
  return [] {
    return false;
  };
}

}  // namespace

extern "C" __attribute__((noinline)) bool measured(const Operation& run) {
  return run();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto run = operation(argv[1], argv[2]);
  // The first run makes what is made once.
  if (run() && measured(run)) return 0;
  std::fprintf(stderr, "%s failed\n", argv[1]);
  return 1;
}
