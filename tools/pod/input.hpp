// JSON or YAML, read member by member; errors contain the path of the member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_INPUT_HPP
#define CDI_TOOLS_POD_INPUT_HPP

#include <algorithm>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/text/yaml11_scalar.hpp>
#include <cdi/yaml.hpp>

namespace pod {

/// The reason why a command has no answer. `main` prints it.
class Rejection : public std::exception {
 public:
  explicit Rejection(const cdi::Error& why) : text_{to_string(why)} {}
  explicit Rejection(const std::string& message)
      : Rejection{cdi::Error{.code = cdi::Errc::invalid, .message = message}} {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// The value of a result; throws its error as a `Rejection`.
template <class T>
T value_or_throw(cdi::Result<T> result) {
  if (!result) throw Rejection{result.error()};
  return *std::move(result);
}

/// A value in the input and its path, such as `pod.spec.containers[0]`. Valid as long as the
/// document.
class Member {
 public:
  Member(const cdi::Document::Value& value, std::string path, bool is_yaml = false)
      : value_{value}, path_{std::move(path)}, is_yaml_{is_yaml} {}

  const std::string& path() const { return path_; }

  /// Throws an error about this member.
  [[noreturn]] void reject(std::string message) const {
    throw Rejection{cdi::Error{.code = cdi::Errc::schema,
                               .message = std::move(message),
                               .where = path_,
                               .position = value_.position()}};
  }

  /// A member of an object; null is treated as absent.
  std::optional<Member> find(std::string_view key) const {
    require(cdi::Document::Kind::map, "an object");
    for (const auto [name, value] : value_.members()) {
      if (name.text() == key && !value.is_null()) return Member{value, inner(key), is_yaml_};
    }
    return std::nullopt;
  }

  /// Rejects unknown members of an object, because a typo would lead to a wrong answer.
  void allow(std::initializer_list<std::string_view> known) const {
    for (const auto& [name, member] : members()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string list;
      for (const auto key : known) list.append(list.empty() ? "" : ", ").append(key);
      const auto kind = find("apiVersion") ? find("kind") : std::nullopt;
      if (kind) kind->reject("the input is no object of Kubernetes: it has the members " + list);
      member.reject("is unknown: use one of " + list);
    }
  }

  /// A required member of an object.
  Member at(std::string_view key) const {
    if (auto found = find(key)) return *std::move(found);
    Member{value_, inner(key), is_yaml_}.reject("is missing");
  }

  bool is_list() const { return value_.kind() == cdi::Document::Kind::list; }

  /// The items of a list.
  std::vector<Member> items() const {
    require(cdi::Document::Kind::list, "a list");
    std::vector<Member> out;
    for (const auto item : value_.items()) {
      out.emplace_back(item, path_ + "[" + std::to_string(out.size()) + "]", is_yaml_);
    }
    return out;
  }

  /// The members of an object.
  std::vector<std::pair<std::string, Member>> members() const {
    require(cdi::Document::Kind::map, "an object");
    std::vector<std::pair<std::string, Member>> out;
    for (const auto [name, value] : value_.members()) {
      out.emplace_back(std::string{name.text()}, Member{value, inner(name.text()), is_yaml_});
    }
    return out;
  }

  std::string text() const {
    if (!is_plain_string()) require(cdi::Document::Kind::quoted, "a string");
    return std::string{value_.text()};
  }

  /// The text of a string or number. Kubernetes accepts both for quantities.
  std::string text_or_number() const {
    const bool number = value_.kind() == cdi::Document::Kind::plain && !is_boolean();
    return number ? std::string{value_.text()} : text();
  }

  bool boolean() const {
    if (!is_boolean()) reject("must be true or false");
    return value_.text() == "true";
  }

  /// An integer from 0 to 2^63 - 1, written only with digits.
  std::int64_t count() const {
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    const auto digits = value_.kind() == cdi::Document::Kind::plain ? value_.text() : "";
    std::int64_t number = 0;
    bool good = !digits.empty();
    for (const char c : digits) {
      good = good && c >= '0' && c <= '9';
      if (good && number > (max - (c - '0')) / 10) reject("is larger than 2^63 - 1");
      if (good) number = number * 10 + (c - '0');
    }
    if (!good) reject("must be a whole number that is not negative, such as 4096");
    return number;
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const auto& item : items()) out.push_back(item.text());
    return out;
  }

 private:
  bool is_boolean() const {
    return value_.kind() == cdi::Document::Kind::plain &&
           (value_.text() == "true" || value_.text() == "false");
  }

  /// Whether the value is text without quotes, as in YAML. Kubernetes reads YAML 1.1.
  bool is_plain_string() const {
    return is_yaml_ && value_.kind() == cdi::Document::Kind::plain &&
           !cdi::detail::parse_boolean(value_.text()) && !cdi::detail::is_old_number(value_.text());
  }

  void require(cdi::Document::Kind kind, std::string_view name) const {
    if (value_.kind() != kind) reject(std::string{"must be "}.append(name));
  }

  std::string inner(std::string_view key) const {
    return (path_.empty() ? "" : path_ + ".").append(key);
  }

  cdi::Document::Value value_;
  std::string path_;
  bool is_yaml_;
};

/// The text of a member; empty if it is absent.
inline std::string text_at(const Member& object, std::string_view key) {
  const auto member = object.find(key);
  return member ? member->text() : std::string{};
}

/// The number in a member; 0 if it is absent.
inline std::int64_t count_at(const Member& object, std::string_view key) {
  const auto member = object.find(key);
  return member ? member->count() : 0;
}

/// The value of a boolean member.
inline bool boolean_at(const Member& object, std::string_view key, bool fallback) {
  const auto member = object.find(key);
  return member ? member->boolean() : fallback;
}

/// A parsed text.
struct Input {
  cdi::Document document;
  bool is_yaml = false;

  /// Valid as long as this.
  Member root() const { return {document.root(), {}, is_yaml}; }
};

/// Parses JSON, or YAML that is a map. `name` is a path, or what the text is.
inline Input parse_input(std::string_view text, const std::string& name) {
  auto json = cdi::parse_json(text, name);
  if (json) return {.document = *std::move(json)};
  // Any line of text is a YAML scalar: the first line of a map has a colon.
  auto line = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  line = line.substr(0, line.find('\n'));
  const bool is_json = line.find_first_of("{[\"") == 0;
  const bool may_be_yaml = !is_json && (line.find(':') != line.npos || line.starts_with("---") ||
                                        line.find_first_of("#%") == 0);
  if (!may_be_yaml) throw Rejection{json.error()};
  auto yaml = value_or_throw(cdi::parse_yaml(text, name));
  if (const auto rest = yaml.rest()) {
    throw Rejection{cdi::Error{.code = cdi::Errc::schema,
                               .message = "the input has more than one document",
                               .position = *rest}};
  }
  return {.document = std::move(yaml), .is_yaml = true};
}

/// Parses a file, or for `-` standard input.
inline Input read_input(const std::string& file) {
  constexpr const char* standard_input = "standard input";
  if (file != "-") return parse_input(value_or_throw(cdi::read_file(file)), file);
  return parse_input(
      value_or_throw(cdi::read_all(STDIN_FILENO, standard_input, cdi::Limits{}.bytes)),
      standard_input);
}

/// Parses such a file or standard input, which must contain one object.
inline Input read_object(const std::string& file) {
  auto input = read_input(file);
  if (input.document.root().kind() != cdi::Document::Kind::map) {
    input.root().reject("the input must be one JSON object");
  }
  return input;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INPUT_HPP
