// Reads the entries of an environment variable that selects GPUs, as its runtime does.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/name.hpp>

namespace tools {

/// Whose rules decide what a text means. `container` is for NVIDIA_VISIBLE_DEVICES and
/// AMD_VISIBLE_DEVICES, which container runtimes read.
enum class Dialect { cuda, hip, rocr, slurm, container };

/// An entry that may be a GPU or a part of one.
struct VisibleEntry {
  std::size_t place = 1;  // in the list, from 1
  std::string text{};     // as given, without blanks
  std::string device{};   // the name that the device has if specs name it like this
  std::string uuid{};     // in lower case, "gpu-..." or "mig-..."; empty for an index
  std::string part{};     // of a GPU, as cdi-prepare names it: ":gi1:ci0"
};

/// The entries that are read, and warnings about ignored ones.
struct VisibleList {
  std::vector<VisibleEntry> entries{};
  std::vector<cdi::Error> warnings{};
};

/// The text of a variable, for messages about it.
struct VisibleText {
  Dialect dialect = Dialect::cuda;
  std::string source{};  // the variable, or --value
  std::string text{};

  /// The runtime, for messages.
  std::string_view runtime() const;

  /// The parts between commas; a final comma adds none.
  std::vector<std::string> parts() const;

  /// What is wrong with an entry.
  cdi::Error fault(std::size_t place, std::string_view entry, std::string_view what,
                   std::string advice) const;

  /// The same, if the runtime ends the list there.
  cdi::Error cut(std::size_t place, std::string_view entry, std::string_view what,
                 std::string advice) const;
};

namespace detail {

std::string lowered(std::string_view text);

bool is_hex(std::string_view text, std::string_view more = {});

bool is_decimal(std::string_view text);

/// What a runtime does with an entry that comes twice. False: the list ends.
bool keep_repeated(const VisibleText& given, const VisibleEntry& entry, VisibleList& list);

}  // namespace detail

/// Reads the entries of a text. Fails for a text that is too large, and for any fault in a list of
/// Slurm or for a container; what the runtime that owns another variable ignores is a warning.
cdi::Result<VisibleList> read_visible(const VisibleText& given);

}  // namespace tools
