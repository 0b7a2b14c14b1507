// Writes the files that the programs of run.sh read: make_data DIR
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <filesystem>
#include <string>

#include "../nvidia_spec.hpp"
#include "../scale_data.hpp"

namespace {

namespace fs = std::filesystem;

/// A directory with one spec, as YAML and as JSON.
void write_sized(const fs::path& data, const std::string& size, const std::string& yaml,
                 const std::string& json) {
  fs::create_directory(data / (size + ".yaml"));
  fs::create_directory(data / (size + ".json"));
  write_in_place(data / (size + ".yaml") / "spec.yaml", yaml);
  write_in_place(data / (size + ".json") / "spec.json", json);
}

void write_scaled(const fs::path& data, const std::string& size, int devices) {
  const auto spec = scale_spec(0, devices);
  write_sized(data, size, scale_text(spec, cdi::Format::yaml), scale_text(spec));
}

/// Devices with little to read, at most 100 in a file: only names are looked up.
void write_small_devices(const fs::path& directory, int devices) {
  fs::create_directory(directory);
  for (int file = 0; file * 100 < devices; ++file) {
    cdi::Spec spec{.version = "0.5.0", .kind = scale_kind(file)};
    for (int i = 0; i < std::min(100, devices - file * 100); ++i) {
      spec.devices.push_back({.name = "dev" + std::to_string(i),
                              .container_edits = {.env = {"V=" + std::to_string(i)}}});
    }
    write_in_place(scale_path(directory, file), scale_text(spec));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fs::path data = argv[1];
  write_scaled(data, "4kB", 8);
  const auto nvidia = nvidia_spec();
  write_sized(data, "60kB", *cdi::write_yaml(nvidia), *cdi::write_json(nvidia));
  write_scaled(data, "5MB", 10'000);
  for (const int files : {1, 10, 100, 1000, 10'000}) {
    const auto directory = data / ("files-" + std::to_string(files));
    fs::create_directory(directory);
    write_scale_data(directory, files, 4);
  }
  for (const int devices : {1, 100, 10'000, 100'000, 1'000'000}) {
    write_small_devices(data / ("devices-" + std::to_string(devices)), devices);
  }
}
