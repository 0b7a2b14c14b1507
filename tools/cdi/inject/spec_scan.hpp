// Finds devices in spec files for `cdi inject`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <memory>
#include <string>
#include <vector>

#include <cdi/scan.hpp>

#include "../base/options.hpp"

/// The spec files in which `inject` looks for devices. Must not outlive the objects it refers to.
struct DeviceFiles {
  const CommonOptions& common;
  const std::vector<std::string>& names;
  bool quiet;  // reads only files that can define the devices, and prints no warnings about files

  std::shared_ptr<const cdi::Registry> scan() const {
    if (!quiet) return cdi::scan_spec_dirs(common.spec_dirs(), common.reading);
    return cdi::scan_spec_dirs_for(names, common.spec_dirs(), common.reading);
  }
};
