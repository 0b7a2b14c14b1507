// Reads the vendor files of a host and of options.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../kit/host/host_tree.hpp"
#include "../base/options.hpp"
#include "../vendors/detect.hpp"
#include "../vendors/nvidia_on_request.hpp"
#include "vendor_file.hpp"
#include "vendor_reader.hpp"

namespace prepare {

/// The directory whose vendor files all commands read, if the host has it.
inline constexpr std::string_view vendor_directory = "/etc/cdi-prepare.d";

/// Vendor files, and errors about unusable ones.
struct VendorFiles {
  std::vector<VendorFile> files{};
  std::vector<std::string> faults{};  // of files in the directory; devices of them may exist
};

/// Whether cdi-prepare finds a kind without a vendor file.
inline bool is_own_kind(std::string_view kind) {
  return std::find(std::begin(own_kinds), std::end(own_kinds), kind) != std::end(own_kinds) ||
         std::any_of(std::begin(on_request::kinds), std::end(on_request::kinds),
                     [&](const on_request::Kind& one) { return one.name == kind; });
}

namespace detail {

/// Reads one vendor file of a tree. Its hooks run as root, so no other user may write to it.
inline cdi::Result<VendorFile> read_vendor_file(const tools::HostTree& tree,
                                                const std::string& path) {
  constexpr std::size_t longest = 64 << 10;
  auto text = tree.read(path, longest, /*reject_writable=*/true);
  if (!text) return std::move(text).error();
  return parse_vendor_file(*text, path);
}

/// Adds a file whose kind no other file has.
inline cdi::Result<void> add_vendor_file(VendorFile file, std::vector<VendorFile>& files) {
  const auto conflict = [&](std::string message) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = std::move(message),
                      .advice = "choose another kind",
                      .position = {.file = file.path}};
  };
  if (is_own_kind(file.kind)) {
    return conflict(fmt::format("cdi-prepare finds {} without a vendor file", file.kind));
  }
  for (const auto& other : files) {
    if (other.kind == file.kind) {
      return conflict(fmt::format("{} is also the kind of {}", file.kind, other.path));
    }
  }
  files.push_back(std::move(file));
  return {};
}

/// Reads vendor files of a tree, all of which must be usable.
inline cdi::Result<void> add_vendor_files(const tools::HostTree& tree,
                                          const std::vector<std::string>& paths,
                                          std::vector<VendorFile>& files) {
  for (const auto& path : paths) {
    auto file = read_vendor_file(tree, path);
    if (!file) return std::move(file).error();
    if (auto added = add_vendor_file(std::move(*file), files); !added) return added;
  }
  return {};
}

}  // namespace detail

/// Reads the vendor files that options name, and the files of the host's directory. An error if a
/// named file cannot be used; a fault in another file does not affect other kinds.
inline cdi::Result<VendorFiles> read_vendor_files(const tools::HostTree& tree,
                                                  const SurveyOptions& options) {
  constexpr std::size_t max_files = 64;
  VendorFiles out;
  if (!options.vendor_files.empty()) {
    const auto here = tools::HostTree::open("/");
    if (!here) return here.error();
    auto added = detail::add_vendor_files(*here, options.vendor_files, out.files);
    if (!added) return std::move(added).error();
  }
  auto of_host = detail::add_vendor_files(tree, options.host_vendor_files, out.files);
  if (!of_host) {
    auto& error = of_host.error();
    if (error.system != 0) error.advice = "if it is not under the root, give it as --vendor-file";
    return std::move(error);
  }
  auto names = tree.list(vendor_directory);
  std::erase_if(names, [](std::string_view name) {
    return !name.ends_with(".toml") || name.starts_with('.');
  });
  if (names.size() > max_files) {
    out.faults.push_back(
        fmt::format("{} has more than {} vendor files", vendor_directory, max_files));
    return out;
  }
  for (const auto& name : names) {
    const auto path = fmt::format("{}/{}", vendor_directory, name);
    auto file = detail::read_vendor_file(tree, path);
    if (file) {
      file->is_default = true;
      const auto added = detail::add_vendor_file(std::move(*file), out.files);
      if (!added) out.faults.push_back(cdi::to_string(added.error()));
    } else {
      out.faults.push_back(cdi::to_string(file.error()));
    }
  }
  return out;
}

}  // namespace prepare
