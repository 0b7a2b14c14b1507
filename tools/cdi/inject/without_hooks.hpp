// `cdi inject --hooks replace`: mounts, variables and files in place of hooks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <span>
#include <string>

#include <cdi/plan.hpp>
#include <cdi/sandbox.hpp>

#include "../base/in_place.hpp"
#include "../base/output.hpp"
#include <CLI/CLI.hpp>

/// Adds the options that say where the image is, and where files may be generated.
void add_hookless_options(CLI::App& app, cdi::HooklessOptions& options);

/// Injects devices without their hooks. Without `--image-root`, the image is the root directory
/// that the config names. `path` is the user's path of the config.
cdi::Result<cdi::RecordedInjection> inject_without_hooks(
    cdi::ConfigJson& config, const FileInPlace& file, const std::string& path,
    std::span<const cdi::ResolvedDevice> devices, const cdi::HostOptions& host,
    const cdi::HooklessOptions& places, const Output& output);
