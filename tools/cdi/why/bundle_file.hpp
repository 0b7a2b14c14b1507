// The config of a container, read from its bundle.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/oci.hpp>
#include <cdi/requests.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

/// A config.json, and the devices that its annotations request.
struct BundleFile {
  cdi::Document config;
  cdi::oci::Spec spec{};
  std::vector<cdi::RequestedDevice> requests{};
  std::optional<cdi::Error> requests_error{};

  /// Reads a config, or the config in a directory.
  static cdi::Result<BundleFile> read(std::string path) {
    if (std::error_code none; std::filesystem::is_directory(path, none)) path += "/config.json";
    const auto text = cdi::read_file(path);
    if (!text) return text.error();
    auto config = cdi::parse_json(*text, path);
    if (!config) return std::move(config).error();
    BundleFile out{.config = *std::move(config)};
    auto spec = cdi::read<cdi::oci::Spec>(out.config);
    if (!spec) return std::move(spec).error();
    out.spec = *std::move(spec);
    auto requests = cdi::gather_requests(out.spec);
    if (requests) {
      out.requests = *std::move(requests);
    } else {
      out.requests_error = requests.error();
    }
    return out;
  }

  /// An annotation of the config, by the first of its names that is there: containerd's or CRI-O's.
  std::string annotation(const std::array<std::string_view, 2>& names) const {
    for (const auto name : names) {
      for (const auto& [key, value] : spec.annotations) {
        if (key == name) return value;
      }
    }
    return {};
  }
};
