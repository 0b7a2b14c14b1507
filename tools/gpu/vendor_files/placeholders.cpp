// Texts of a vendor file with placeholders: {index}, {node}, {pci} and {attribute:PATH}.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "placeholders.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <cdi/base/path.hpp>

#include "../../kit/base/text.hpp"

namespace prepare {

bool is_attribute_path(std::string_view path) {
  return !path.empty() && !path.starts_with('/') && tools::is_plain(path) &&
         cdi::clean_path(path) == path && !cdi::detail::has_parent_part(fmt::format("/{}", path));
}

cdi::Result<std::string> read_attribute(const DeviceFacts& facts, std::string_view path) {
  constexpr std::size_t longest = 4096;  // the kernel's limit
  const auto text = facts.tree->read(fmt::format("{}/{}", facts.sysfs, path), longest);
  if (!text) {
    return cdi::Error{
        .code = cdi::Errc::host,
        .message = fmt::format("attribute {} cannot be read: {}", path, text.error().message)};
  }
  return tools::printable(tools::trim(*text));
}

Template::Template(std::string_view text) : text_{text} {
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

bool Template::is_constant() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.kind == Kind::letters; });
}

cdi::Result<std::string> Template::expand(const DeviceFacts& facts) const {
  std::string out;
  for (const auto& part : parts_) {
    auto value = value_of(part, facts);
    if (!value) return value;
    out += *value;
  }
  return out;
}

cdi::Result<std::string> Template::expand_path(const DeviceFacts& facts) const {
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

std::string Template::filled(std::string_view filler) const {
  std::string out;
  for (const auto& part : parts_) {
    out += part.kind == Kind::letters ? std::string_view{part.text} : filler;
  }
  return out;
}

void Template::add_letter(char letter) {
  if (parts_.empty() || parts_.back().kind != Kind::letters) parts_.emplace_back();
  parts_.back().text += letter;
}

std::optional<Template::Part> Template::parse_placeholder(std::string_view name) {
  constexpr std::string_view attribute = "attribute:";
  if (name == "index") return Part{Kind::index, {}};
  if (name == "node") return Part{Kind::node, {}};
  if (name == "pci") return Part{Kind::pci, {}};
  if (!name.starts_with(attribute)) return std::nullopt;
  name.remove_prefix(attribute.size());
  if (!is_attribute_path(name)) return std::nullopt;
  return Part{Kind::attribute, std::string{name}};
}

cdi::Result<std::string> Template::value_of(const Part& part, const DeviceFacts& facts) {
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

}  // namespace prepare
