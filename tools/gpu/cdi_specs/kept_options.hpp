// Reads the options that our spec files record, for runs that keep them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "../base/options.hpp"
#include "../host/directories.hpp"

// A service with its own options would undo the options of a person who ran `write`.

namespace prepare {

cdi::Publisher publisher_in(const Directory& directory);

/// Turns the options that a comment records into an annotation of the spec, as in newer versions.
void add_commented_options(cdi::Spec& spec, std::string_view options);

/// Reads a spec file, with the options that a comment in one of our files records.
cdi::Result<cdi::LoadedSpec> read_with_options(const std::string& path);

/// The options, completed with options that our files in the directory record. A kind keeps its own
/// in `kept`.
Options with_recorded(Options options);

/// The options with the place of NVIDIA's driver that our files record, for other programs that
/// write specs for the same host. A missing directory does not count.
Options with_recorded_place(Options options);

/// The options for a command: with `--keep-options`, the options that our files record.
Options kept_options_of(const Options& options);

/// The options for the spec of a kind.
Options options_for(const Options& options, const std::string& kind);

}  // namespace prepare
