// Adds the options of cdi-dra to its commands.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include "../gpu/base/options.hpp"
#include "settings.hpp"
#include <CLI/CLI.hpp>

namespace dra {

/// Where the kubelet is.
void add_kubelet_dir(CLI::App& app, Settings& settings);

/// The driver, and its instance.
void add_driver(CLI::App& app, Settings& settings);

/// The places of claims and specs, and the output format.
void add_places(CLI::App& app, Settings& settings, const char* output_help);

/// How to find the GPUs.
void add_survey(CLI::App& app, prepare::Options& host);

/// The content of specs.
void add_contents(CLI::App& app, prepare::Options& host);

/// The device plugin.
void add_device_plugin(CLI::App& app, Settings& settings);

}  // namespace dra
