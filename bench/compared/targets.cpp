// Injection into the targets of examples/editors/, and by a call of the C library, for run.sh:
// `targets DATA`. With protobuf where oci.pb.h can be included.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/cache.hpp>
#include <cdi/cdi.h>
#include <cdi/json.hpp>
#include <cdi/oci/spec.hpp>

#include "../../examples/editors/c_spec.h"
#include "../../examples/editors/c_spec_editor.hpp"
#if __has_include("oci.pb.h")
#include "../../examples/editors/protobuf_editor.hpp"
#endif
#include "../scale_data.hpp"
#include "measure.hpp"

namespace {

constexpr const char* device = "vendor.example.com/gpu=0";

/// The variables and mounts of a config, as edits: they fill a target of any type.
cdi::ContainerEdits parts_of(const cdi::oci::Spec& config) {
  cdi::ContainerEdits out;
  out.env = config.process->env;
  for (const auto& mount : config.mounts) {
    out.mounts.push_back({.host_path = mount.source,
                          .container_path = mount.destination,
                          .options = mount.options,
                          .type = mount.type});
  }
  return out;
}

/// Measures one injection into each of 201 targets.
template <class Target>
void measure_injection(const char* row, const cdi::ContainerEdits& parts,
                       const cdi::Registry& registry) {
  std::vector<Target> targets(201);
  std::vector<double> times;
  for (auto& target : targets) {
    if (!parts.apply(target)) fail("the config cannot be made");
  }
  for (auto& target : targets) {
    times.push_back(microseconds([&] {
      if (!registry.inject(target, {device})) fail("injection failed");
    }));
  }
  print(row, median(std::move(times)));
}

void measure_call(const std::string& dir, const std::string& config) {
  const char* dirs[] = {dir.c_str()};
  const std::unique_ptr<cdi_cache, decltype(&cdi_free)> cache{cdi_cache_open(dirs, 1, nullptr),
                                                              cdi_free};
  print("text_c", median_time([&] {
          const char* edited =
              cdi_cache_inject_json(cache.get(), config.c_str(), &device, 1, nullptr);
          if (edited == nullptr) fail("injection failed");
          cdi_free(edited);
        }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: targets DATA");
  const std::string data = argv[1];
  const auto dir = data + "/60kB.json";
  const auto text = text_of_file(data + "/pod.json");
  const auto config = cdi::read_json<cdi::oci::Spec>(text);
  if (!config) fail(to_string(config.error()));
  const auto parts = parts_of(*config);
  const auto registry = cdi::Cache{{dir}}.registry();
  measure_injection<runtime_spec_schema_config_schema>("inject_c_structs", parts, *registry);
#if __has_include("oci.pb.h")
  measure_injection<::grpc::Spec>("inject_protobuf", parts, *registry);
#endif
  measure_call(dir, text);
}
