// Generated specs, the same in every run, for measurements with many devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/yaml.hpp>

#include "files.hpp"

inline std::string scale_kind(int file) {
  return "vendor" + std::to_string(file) + ".example.com/device";
}

/// A device like those of accelerator vendors: 400 to 500 bytes as compact JSON.
inline cdi::Device scale_device(int file, int device) {
  const auto vendor = "v" + std::to_string(file);
  const auto number = std::to_string(device);
  const auto node = "/dev/" + vendor + "-" + number;
  const auto folder = "/var/lib/" + vendor + "/dev" + number;
  cdi::ContainerEdits edits{
      .env = {"VENDOR_VISIBLE_DEVICES=" + number, "V" + number + "_STATE=present"},
      .device_nodes = {{.path = node,
                        .host_path = node,
                        .type = "c",
                        .major = 240,
                        .minor = device,
                        .permissions = "rw"},
                       {.path = "/dev/" + vendor + "-ctl",
                        .type = "c",
                        .major = 240,
                        .minor = 255,
                        .file_mode = 0660}},
      .mounts = {{.host_path = folder,
                  .container_path = folder,
                  .options = {"rw", "nosuid", "bind"},
                  .type = "bind"}}};
  return {.name = "dev" + number, .container_edits = std::move(edits)};
}

/// A spec of one vendor, for CDI 0.5.0, the newest version that the Go peer of Debian 12 reads.
inline cdi::Spec scale_spec(int file, int devices) {
  const auto library = "/usr/lib/libv" + std::to_string(file) + ".so.1";
  cdi::Spec spec{.version = "0.5.0", .kind = scale_kind(file)};
  spec.container_edits.env = {"VENDOR_HOME=/opt/vendor"};
  spec.container_edits.mounts = {{.host_path = library,
                                  .container_path = library,
                                  .options = {"ro", "nosuid", "nodev", "bind"}}};
  spec.container_edits.hooks = {{.hook_name = "createContainer",
                                 .path = "/usr/bin/vendor-hook",
                                 .args = {"vendor-hook", "ldcache", "--folder", "/usr/lib"}}};
  spec.devices.reserve(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) spec.devices.push_back(scale_device(file, i));
  return spec;
}

/// The text of a spec file. JSON is compact, like the JSON that the Go reference writes.
inline std::string scale_text(const cdi::Spec& spec, cdi::Format format = cdi::Format::json) {
  const auto text = format == cdi::Format::json ? cdi::write_json(spec, -1) : cdi::write_yaml(spec);
  return text ? *text : to_string(text.error());
}

inline std::filesystem::path scale_path(const std::filesystem::path& directory, int file) {
  const auto number = std::to_string(file);
  return directory / ("spec" + std::string(5 - number.size(), '0') + number + ".json");
}

/// Writes `files` specs of `devices` devices each into a directory. Returns the bytes written.
inline std::size_t write_scale_data(const std::filesystem::path& directory, int files,
                                    int devices) {
  std::size_t bytes = 0;
  for (int i = 0; i < files; ++i) {
    const auto text = scale_text(scale_spec(i, devices));
    write_in_place(scale_path(directory, i), text);
    bytes += text.size();
  }
  return bytes;
}

/// The specs of `devices` devices, one hundred in each, without files.
inline std::vector<std::shared_ptr<const cdi::LoadedSpec>> scale_specs(int devices) {
  constexpr int in_each = 100;
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  for (int i = 0; i < devices / in_each; ++i) {
    auto path = scale_path("/var/run/cdi", i).string();
    specs.push_back(std::make_shared<const cdi::LoadedSpec>(
        cdi::LoadedSpec{.spec = scale_spec(i, in_each), .path = std::move(path)}));
  }
  return specs;
}
