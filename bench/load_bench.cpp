// The steps from the text of an NVIDIA-sized spec to a valid spec: the document, the spec that is
// read from it, the check of its rules; then all of them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <benchmark/benchmark.h>

#include "nvidia_spec.hpp"
#include "scale_data.hpp"

namespace {

template <cdi::Format format>
const std::string& text() {
  static const auto made = scale_text(nvidia_spec(), format);
  return made;
}

void json_to_document(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cdi::parse_json(text<cdi::Format::json>()));
}
BENCHMARK(json_to_document);

void yaml_to_document(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cdi::parse_yaml(text<cdi::Format::yaml>()));
}
BENCHMARK(yaml_to_document);

void document_to_spec(benchmark::State& state) {
  const auto document = cdi::parse_json(text<cdi::Format::json>());
  for (auto _ : state) benchmark::DoNotOptimize(cdi::read<cdi::Spec>(*document));
}
BENCHMARK(document_to_spec);

void validate(benchmark::State& state) {
  const auto spec = nvidia_spec();
  for (auto _ : state) benchmark::DoNotOptimize(cdi::validate(spec));
}
BENCHMARK(validate);

template <cdi::Format format>
void all_steps(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(cdi::parse_spec(text<format>(), "spec", format));
}
BENCHMARK(all_steps<cdi::Format::json>);
BENCHMARK(all_steps<cdi::Format::yaml>);

}  // namespace

BENCHMARK_MAIN();
