// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Reads the text of a spec of 40 devices: the document only, and the validated spec. For
// comparison, nlohmann parses the same JSON into its own tree.

#include <benchmark/benchmark.h>

#include "node.hpp"

namespace {

const std::string& json_text() {
  static const std::string text = *cdi::write_json(gpu_spec("vendor.com/gpu", 40));
  return text;
}

const std::string& yaml_text() {
  static const std::string text = *cdi::write_yaml(gpu_spec("vendor.com/gpu", 40));
  return text;
}

void json_tree_of_nlohmann(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(nlohmann::json::parse(json_text()));
}
BENCHMARK(json_tree_of_nlohmann);

void json_to_document(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cdi::parse_json(json_text()));
}
BENCHMARK(json_to_document);

void json_to_valid_spec(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(cdi::parse_spec(json_text(), "v.json", cdi::Format::json));
  }
}
BENCHMARK(json_to_valid_spec);

void yaml_to_document(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cdi::parse_yaml(yaml_text()));
}
BENCHMARK(yaml_to_document);

void yaml_to_valid_spec(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(cdi::parse_spec(yaml_text(), "v.yaml", cdi::Format::yaml));
  }
}
BENCHMARK(yaml_to_valid_spec);

}  // namespace

BENCHMARK_MAIN();
