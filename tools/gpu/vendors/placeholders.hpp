// Texts of a vendor file with placeholders: {index}, {node}, {pci} and {attribute:PATH}.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_VENDORS_PLACEHOLDERS_HPP
#define CDI_TOOLS_GPU_VENDORS_PLACEHOLDERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
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
inline bool is_attribute_path(std::string_view path) {
  return !path.empty() && !path.starts_with('/') && tools::is_plain(path) &&
         cdi::clean_path(path) == path && !cdi::detail::has_parent_part(fmt::format("/{}", path));
}

/// The value of an attribute of a device, trimmed and printable; an error if it cannot be read.
inline cdi::Result<std::string> read_attribute(const DeviceFacts& facts, std::string_view path) {
  constexpr std::size_t longest = 4096;  // the kernel's limit
  const auto text = facts.tree->read(fmt::format("{}/{}", facts.sysfs, path), longest);
  if (!text) {
    return cdi::Error{
        .code = cdi::Errc::host,
        .message = fmt::format("attribute {} cannot be read: {}", path, text.error().message)};
  }
  return tools::printable(tools::trim(*text));
}

/// A text in which `{index}` and the like stand for facts about a device.
class Template {
 public:
  static constexpr std::string_view advice =
      "use {index}, {node}, {pci} or {attribute:PATH}, and {{ for a brace";

  Template() = default;

  /// Parses a text; `fault` names a placeholder that does not exist. Implicit, for field lists.
  Template(std::string_view text) : text_{text} {
    while (!text.empty()) {
      if (text.starts_with("{{") || text.starts_with("}}") || text.front() != '{') {
        const bool is_brace = text.starts_with("{{") || text.starts_with("}}");
        add_letter(text.front());
        text.remove_prefix(is_brace ? 2 : 1);
        continue;
      }
      const auto end = std::min(text.find('}'), text.size());
      auto part = parse_placeholder(text.substr(1, end - 1));
      if (!part || end == text.size()) {
        fault_ = cdi::Error{.code = cdi::Errc::invalid,
                            .message = fmt::format("{} is not a placeholder",
                                                   text.substr(0, std::min(end + 1, text.size()))),
                            .advice = std::string{advice}};
        return;
      }
      parts_.push_back(std::move(*part));
      text.remove_prefix(end + 1);
    }
  }

  operator std::string_view() const { return text_; }
  const std::optional<cdi::Error>& fault() const { return fault_; }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  /// Whether the text is the same for all devices.
  bool is_constant() const {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part.kind == Kind::letters; });
  }

  /// The text for a device; an error if it lacks one of the facts.
  cdi::Result<std::string> expand(const DeviceFacts& facts) const {
    std::string out;
    for (const auto& part : parts_) {
      auto value = value_of(part, facts);
      if (!value) return value;
      out += *value;
    }
    return out;
  }

  /// The text as a path or a pattern of paths; an error if a fact would lead elsewhere.
  cdi::Result<std::string> expand_path(const DeviceFacts& facts) const {
    std::string out;
    for (const auto& part : parts_) {
      auto value = value_of(part, facts);
      if (!value) return value;
      const bool is_plain = value->find_first_of("/*?[]{}\\") == std::string::npos;
      if (part.kind != Kind::letters && !is_plain) {
        return cdi::Error{.code = cdi::Errc::host,
                          .message = fmt::format("{} is {}, which cannot be part of a path", text_,
                                                 cdi::quoted(*value))};
      }
      out += *value;
    }
    if (is_constant() || cdi::clean_path(out) == out) return out;
    return cdi::Error{
        .code = cdi::Errc::host,
        .message = fmt::format("{} is {}, which leads elsewhere", text_, cdi::quoted(out))};
  }

  /// The text with `filler` for each placeholder, to check the rest.
  std::string filled(std::string_view filler) const {
    std::string out;
    for (const auto& part : parts_) {
      out += part.kind == Kind::letters ? std::string_view{part.text} : filler;
    }
    return out;
  }

 private:
  enum class Kind : std::uint8_t { letters, index, node, pci, attribute };

  struct Part {
    Kind kind = Kind::letters;
    std::string text{};  // the letters, or the path of the attribute
  };

  void add_letter(char letter) {
    if (parts_.empty() || parts_.back().kind != Kind::letters) parts_.emplace_back();
    parts_.back().text += letter;
  }

  static std::optional<Part> parse_placeholder(std::string_view name) {
    constexpr std::string_view attribute = "attribute:";
    if (name == "index") return Part{Kind::index, {}};
    if (name == "node") return Part{Kind::node, {}};
    if (name == "pci") return Part{Kind::pci, {}};
    if (!name.starts_with(attribute)) return std::nullopt;
    name.remove_prefix(attribute.size());
    if (!is_attribute_path(name)) return std::nullopt;
    return Part{Kind::attribute, std::string{name}};
  }

  static cdi::Result<std::string> value_of(const Part& part, const DeviceFacts& facts) {
    const auto lacks = [](std::string message) {
      return cdi::Error{.code = cdi::Errc::host, .message = std::move(message)};
    };
    switch (part.kind) {
      case Kind::index:
        if (facts.number) return *facts.number;
        return lacks(facts.node +
                     " has no number for {index}: if it belongs to all devices, list "
                     "it in `shared`");
      case Kind::node: return facts.node;
      case Kind::pci:
        if (!facts.pci_address.empty()) return facts.pci_address;
        return lacks("it has no PCI address for {pci}");
      case Kind::attribute: return read_attribute(facts, part.text);
      case Kind::letters: break;
    }
    return part.text;
  }

  std::string text_{};
  std::vector<Part> parts_{};
  std::optional<cdi::Error> fault_{};
};

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_VENDORS_PLACEHOLDERS_HPP
