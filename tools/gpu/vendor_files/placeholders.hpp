// Texts of a vendor file with placeholders: {index}, {node}, {pci} and {attribute:PATH}.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../kit/host/host_tree.hpp"

namespace prepare {

/// What the placeholders stand for: the facts about one device.
struct DeviceFacts {
  const tools::HostTree* tree = nullptr;
  std::optional<std::string> number{};  // in the path of its node
  std::string node{};                   // the file name of its first node
  std::string pci_address{};            // empty for a device on another bus
  std::string sysfs{};                  // the directory of its first node
};

/// The path of an attribute, relative to the directory of a node in sysfs, if it is usable.
bool is_attribute_path(std::string_view path);

/// The value of an attribute of a device, trimmed and printable; an error if it cannot be read.
cdi::Result<std::string> read_attribute(const DeviceFacts& facts, std::string_view path);

/// A text in which `{index}` and the like stand for facts about a device.
class Template {
 public:
  static constexpr std::string_view advice =
      "use {index}, {node}, {pci} or {attribute:PATH}, and {{ for a brace";

  Template() = default;

  /// Parses a text; `fault` names a placeholder that does not exist. Implicit, for field lists.
  Template(std::string_view text);

  operator std::string_view() const { return text_; }
  const std::optional<cdi::Error>& fault() const { return fault_; }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  /// Whether the text is the same for all devices.
  bool is_constant() const;

  /// The text for a device; an error if it lacks one of the facts.
  cdi::Result<std::string> expand(const DeviceFacts& facts) const;

  /// The text as a path or a pattern of paths; an error if a fact would lead elsewhere.
  cdi::Result<std::string> expand_path(const DeviceFacts& facts) const;

  /// The text with `filler` for each placeholder, to check the rest.
  std::string filled(std::string_view filler) const;

 private:
  enum class Kind : std::uint8_t { letters, index, node, pci, attribute };

  struct Part {
    Kind kind = Kind::letters;
    std::string text{};  // the letters, or the path of the attribute
  };

  void add_letter(char letter);

  static std::optional<Part> parse_placeholder(std::string_view name);

  static cdi::Result<std::string> value_of(const Part& part, const DeviceFacts& facts);

  std::string text_{};
  std::vector<Part> parts_{};
  std::optional<cdi::Error> fault_{};
};

}  // namespace prepare
