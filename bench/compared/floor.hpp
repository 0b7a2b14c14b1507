// Measures how long a library alone takes to parse the texts of one format.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <filesystem>
#include <string>

#include "../files.hpp"
#include "measure.hpp"

/// Measures how long a library alone takes to parse the texts of one format, which it does not
/// check. `parse(text)` fails by an exception or by exiting.
template <class Parse>
void measure_floor(const std::filesystem::path& data, const std::string& format, Parse parse) {
  for (const std::string size : sizes) {
    const auto text = text_of_file(data / (size + "." + format) / ("spec." + format));
    print("read_" + size + "_" + format, median_time([&] { keep(parse(text)); }));
  }
}
