// Reads members of JSON from other programs: missing members and members of another kind read as
// empty.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_JSON_MEMBERS_HPP
#define CDI_TOOLS_CDI_WHY_JSON_MEMBERS_HPP

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/text/document.hpp>

/// A value of a document, or none. Valid as long as the document.
class JsonMember {
 public:
  using Value = cdi::Document::Value;

  explicit JsonMember(std::optional<Value> value = std::nullopt) : value_{value} {}

  /// Whether the value is there, and is not null.
  bool is_there() const { return value_ && !value_->is_null(); }

  bool is_map() const { return value_ && value_->kind() == cdi::Document::Kind::map; }

  /// The member of an object with exactly this name.
  JsonMember operator[](std::string_view key) const {
    if (!value_) return JsonMember{};
    for (const auto [name, member] : value_->members()) {
      if (name.text() == key) return JsonMember{member};
    }
    return JsonMember{};
  }

  /// The text of a string or number.
  std::string text() const { return value_ ? std::string{value_->text()} : std::string{}; }

  std::vector<JsonMember> items() const {
    std::vector<JsonMember> out;
    if (!value_) return out;
    for (const auto item : value_->items()) out.emplace_back(item);
    return out;
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const auto& item : items()) out.push_back(item.text());
    return out;
  }

  /// The members of an object with their names.
  std::vector<std::pair<std::string, JsonMember>> members() const {
    std::vector<std::pair<std::string, JsonMember>> out;
    if (!value_) return out;
    for (const auto [name, member] : value_->members()) {
      out.emplace_back(std::string{name.text()}, JsonMember{member});
    }
    return out;
  }

 private:
  std::optional<Value> value_;
};

#endif  // CDI_TOOLS_CDI_WHY_JSON_MEMBERS_HPP
