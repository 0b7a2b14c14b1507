// Reads objects of the Kubernetes API from JSON, member by member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_CLAIMS_JSON_OBJECT_HPP
#define CDI_TOOLS_DRA_CLAIMS_JSON_OBJECT_HPP

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/limits.hpp>

namespace dra {

/// What an object of the API, or the slices of a node, may have: more is no such object, and would
/// take all of the memory that the driver has. The API server stores at most 1.5 MiB for an object.
/// The slices of 4096 devices have 104,000 values.
inline constexpr cdi::Limits api_limits{.bytes = std::size_t{4} << 20, .values = 200'000};

/// A value in a JSON document, its path such as `status.allocation`, and the first error of the
/// document. Reading goes on after an error, with empty values, so callers check once at the end.
/// Valid as long as the document and the error.
class JsonObject {
 public:
  using Kind = cdi::Document::Kind;
  using Value = cdi::Document::Value;

  JsonObject(Value value, std::string path, std::optional<cdi::Error>& error)
      : JsonObject{value, value, std::move(path), error} {}

  /// Whether the value is there and not null.
  explicit operator bool() const { return value_.has_value(); }

  const std::string& path() const { return path_; }

  /// Records an error about this value, if it is the first error.
  void reject(std::string message, std::string advice = {}) const {
    if (*error_) return;
    *error_ = cdi::Error{.code = cdi::Errc::schema,
                         .message = std::move(message),
                         .advice = std::move(advice),
                         .where = path_,
                         .position = place_.position()};
  }

  /// A member; absent if it is missing or null. An error if this value is not an object.
  JsonObject find(std::string_view key) const {
    auto path = (path_.empty() ? "" : path_ + ".").append(key);
    if (!is(Kind::map, "an object")) return missing(std::move(path));
    for (const auto [name, value] : value_->members()) {
      if (name.text() == key && !value.is_null()) return {value, std::move(path), *error_};
    }
    return missing(std::move(path));
  }

  /// The text of an optional member; empty if it is missing.
  std::string text(std::string_view key) const { return find(key).as_text(); }

  /// The text of a required member, which is not empty.
  std::string required_text(std::string_view key) const {
    const auto member = find(key);
    auto text = member.as_text();
    if (value_ && text.empty()) member.reject("is missing");
    return text;
  }

  /// The value of an optional member that is true or false; false if it is missing.
  bool flag(std::string_view key) const {
    const auto member = find(key);
    if (!member) return false;
    const bool plain = member.value_->kind() == Kind::plain;
    const auto text = member.value_->text();
    if (!plain || (text != "true" && text != "false")) member.reject("must be true or false");
    return plain && text == "true";
  }

  /// The text of this value; empty if it is absent.
  std::string as_text() const {
    return is(Kind::quoted, "a string") ? std::string{value_->text()} : std::string{};
  }

  /// The items of this list; none if it is absent.
  std::vector<JsonObject> items() const {
    std::vector<JsonObject> out;
    if (!is(Kind::list, "a list")) return out;
    for (const auto item : value_->items()) {
      out.push_back({item, path_ + "[" + std::to_string(out.size()) + "]", *error_});
    }
    return out;
  }

  /// Rejects members that are not in the list: a setting with a typo would not count.
  void allow(std::initializer_list<std::string_view> known) const {
    if (!is(Kind::map, "an object")) return;
    for (const auto [name, value] : value_->members()) {
      if (std::find(known.begin(), known.end(), name.text()) != known.end()) continue;
      std::string list;
      for (const auto key : known) list.append(list.empty() ? "" : ", ").append(key);
      return JsonObject{value, (path_.empty() ? "" : path_ + ".").append(name.text()), *error_}
          .reject("is unknown", "use one of " + list);
    }
  }

  /// The JSON text of this value; empty if it is absent.
  std::string json() const {
    if (!value_) return {};
    const auto source = value_->document().source();
    return std::string{source.substr(value_->offset(), end_of_value(source) - value_->offset())};
  }

 private:
  JsonObject(std::optional<Value> value, Value place, std::string path,
             std::optional<cdi::Error>& error)
      : value_{value}, place_{place}, path_{std::move(path)}, error_{&error} {}

  /// A value that is absent: errors about it have the position of what should contain it.
  JsonObject missing(std::string path) const {
    return {std::nullopt, place_, std::move(path), *error_};
  }

  /// Whether the value is there; an error if it has another kind.
  bool is(Kind kind, std::string_view name) const {
    if (!value_) return false;
    if (value_->kind() == kind) return true;
    reject(std::string{"must be "}.append(name));
    return false;
  }

  /// Where this value ends in a text that was parsed without error.
  std::size_t end_of_value(std::string_view source) const {
    std::size_t depth = 0;
    bool in_text = false;
    for (auto at = value_->offset(); at < source.size(); ++at) {
      const char c = source[at];
      if (in_text && c == '\\') {
        ++at;
      } else if (c == '"') {
        in_text = !in_text;
      } else if (!in_text && (c == '{' || c == '[')) {
        ++depth;
        continue;
      } else if (!in_text && (c == '}' || c == ']')) {
        if (depth == 0) return at;
        --depth;
      } else if (!in_text && c == ',' && depth == 0) {
        return at;
      }
      if (depth == 0 && !in_text && (c == '"' || c == '}' || c == ']')) return at + 1;
    }
    return source.size();
  }

  std::optional<Value> value_;
  Value place_;  // where errors are reported
  std::string path_;
  std::optional<cdi::Error>* error_;
};

}  // namespace dra

#endif  // CDI_TOOLS_DRA_CLAIMS_JSON_OBJECT_HPP
