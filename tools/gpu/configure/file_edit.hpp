// Changes of configuration files: shown as a difference, or made.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"

namespace prepare::configure {

/// The content of a file; nullopt if there is no file.
using Content = std::optional<std::string>;

/// A file, and its new content.
struct FileEdit {
  std::string path{};  // here, under the root
  Content before{};
  Content after{};
  std::string like{};                // the file whose mode, owner and group a new file gets
  std::vector<std::string> notes{};  // what a person should know

  bool changes() const { return before != after; }
};

/// A path on the host, or a message that begins with one, with the path here.
std::string with_path_here(const HostOptions& options, const std::string& text);

/// Reads a file that will be changed. A missing file is not an error, but an unreadable file is,
/// because a new file would lose its content.
cdi::Result<FileEdit> read_to_edit(const tools::HostTree& tree, const std::string& path);

/// The lines of a text, each with its end.
std::vector<std::string_view> lines_of(std::string_view text);

/// The change of a file as a unified diff with one hunk; empty if no line changes.
std::string diff_of(const FileEdit& edit);

/// What happens to a file, as one word.
std::string_view action_of(const FileEdit& edit);

/// Makes a change. Fails, and changes nothing, if the file was changed since it was read. Removes
/// temporary files that killed writers of this file left behind.
cdi::Result<void> make(const HostOptions& options, const FileEdit& edit);

}  // namespace prepare::configure
