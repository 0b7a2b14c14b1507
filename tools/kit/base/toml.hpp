// Reads TOML texts into described types.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/model/type_of.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/found_field.hpp>
#include <cdi/text/read.hpp>

// The default limit is 256; nested values are destroyed recursively.
#define TOML_MAX_NESTED_VALUES 16
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Its assertions are wrong for some texts, such as `[[[`, and with NDEBUG the compiler may assume
// that they hold. The code after them rejects these texts.
#define TOML_ASSERT(condition) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

// Only this header includes toml++.

namespace tools {

namespace detail {

inline cdi::Error not_toml(std::string_view path, std::uint32_t line, std::uint32_t column,
                           std::string_view reason) {
  std::string message = "is not valid TOML, so its settings are unknown: ";
  message.append(reason);
  while (!cdi::detail::is_utf8(message)) message.pop_back();  // toml++ cuts a long one anywhere
  return {.code = cdi::Errc::syntax,
          .message = std::move(message),
          .position = {.file = std::string{path}, .line = line, .column = column}};
}

constexpr std::size_t max_dots = 128;

/// The place in a line of the first dot beyond `max_dots`; npos if there is none. Dots in comments
/// and strings count only with `all`.
inline std::size_t excess_dot(std::string_view line, bool all) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '.' && ++dots > max_dots) return i;
    if (all) continue;
    if (c == '#') break;
    if (c != '"' && c != '\'') continue;
    for (++i; i < line.size() && line[i] != c; ++i) {
      if (c == '"' && line[i] == '\\') ++i;
    }
  }
  return std::string_view::npos;
}

/// The error for the first line that may contain a key with too many parts, each of which is a
/// nested table: toml++ 3.3 does not limit them. From the first string of several lines on, all
/// dots count: what begins like a comment or a string may be inside or behind one.
inline cdi::Result<void> check_depth_of_keys(std::string_view text, std::string_view path) {
  const auto long_string = std::min(text.find("\"\"\""), text.find("'''"));
  std::size_t start = 0;
  for (std::uint32_t number = 1; start < text.size(); ++number) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto excess = excess_dot(text.substr(start, end - start), end > long_string);
    if (excess != std::string_view::npos) {
      return cdi::Error{.code = cdi::Errc::limit,
                        .message = "has a line with more than " + std::to_string(max_dots) +
                                   " dots, so its settings are unknown",
                        .advice = "shorten the key, or write the value on several lines",
                        .position = {.file = std::string{path},
                                     .line = number,
                                     .column = static_cast<std::uint32_t>(excess + 1)}};
    }
    start = end + 1;
  }
  return {};
}

/// Makes a document of TOML values. Their type permits short forms: one value in the place of a
/// list of it, and a text in the place of a table, as its first member.
class TomlDocument {
 public:
  TomlDocument(std::string_view text, std::string_view path)
      : builder_{cdi::DocumentBuilder::copy_of(text, {}), path, {}, /*merge_keys=*/false} {}

  cdi::Result<cdi::Document> make(const toml::table& table, const cdi::detail::Type& type) && {
    if (!add(table, &type) && !error_.message.empty()) return error_;
    return std::move(builder_).finish();
  }

 private:
  using Type = cdi::detail::Type;
  using Shape = cdi::detail::Shape;

  /// The offset of a position, whose column counts characters. Positions that follow each other
  /// cost one pass over the text.
  std::size_t place(const toml::source_position& position) {
    const auto source = builder_.source();
    if (std::tie(position.line, position.column) < std::tie(line_, column_)) {
      std::tie(line_, column_, at_) = std::tuple{1U, 1U, std::size_t{0}};
    }
    for (; line_ < position.line && at_ < source.size(); ++line_, column_ = 1) {
      at_ = std::min(source.find('\n', at_), source.size() - 1) + 1;
    }
    for (; column_ < position.column && at_ < source.size(); ++column_) {
      at_ += std::max(cdi::detail::utf8_size(source.substr(at_, 4)), std::size_t{1});
    }
    return at_;
  }

  bool fail(std::size_t at, std::string message, std::string advice) {
    builder_.reject(cdi::Errc::schema, std::move(message), std::move(advice), at);
    error_ = std::move(builder_).finish().error();
    return false;
  }

  bool add(const toml::node& node, const Type* type) {
    while (type != nullptr && type->shape == Shape::optional) type = type->item;
    const auto at = place(node.source().begin);
    if (type != nullptr && type->shape == Shape::list && !node.is_array()) {
      if (!builder_.begin_list(at)) return false;
      if (!add(node, type->item)) return error_.add_outer("[0]"), false;
      return builder_.end_list();
    }
    if (type != nullptr && type->shape == Shape::object && node.is_string()) {
      const auto& first = type->fields[0];
      return builder_.begin_map(at) && builder_.decoded_scalar(at, first.key, true) &&
             add(node, first.type) && builder_.end_map();
    }
    if (const auto* const table = node.as_table()) return add_table(*table, at, type);
    if (const auto* const array = node.as_array()) return add_list(*array, at, type);
    if (const auto text = node.value_exact<std::string_view>()) {
      const bool is_text = type != nullptr && type->shape == Shape::text;
      if (is_text && (text->empty() || text->find('\0') != text->npos)) {
        return fail(at, "must not be empty or contain NUL", {});
      }
      return builder_.decoded_scalar(at, *text, true);
    }
    return builder_.decoded_scalar(at, spelling(node, at), false);
  }

  /// A number, boolean or time.
  std::string spelling(const toml::node& node, std::size_t at) {
    if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
    if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{:#}", *number);
    const auto end = place(node.source().end);
    return std::string{builder_.source().substr(at, end - at)};
  }

  bool add_list(const toml::array& array, std::size_t at, const Type* type) {
    const auto* const item = type != nullptr && type->shape == Shape::list ? type->item : nullptr;
    if (!builder_.begin_list(at)) return false;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (!add(array[i], item)) return error_.add_outer(cdi::detail::item_path("", i)), false;
    }
    return builder_.end_list();
  }

  /// Adds a table, whose members a `toml::table` has in another order.
  bool add_table(const toml::table& table, std::size_t at, const Type* type) {
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [key, node] : table) members.emplace_back(&key, &node);
    std::sort(members.begin(), members.end(), [](const auto& one, const auto& other) {
      const auto& a = one.first->source().begin;
      const auto& b = other.first->source().begin;
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
    if (!builder_.begin_map(at)) return false;
    for (const auto& [key, node] : members) {
      const bool good = add_member(*key, *node, type);
      if (!good) return error_.add_outer(key->str()), false;
    }
    return builder_.end_map();
  }

  bool add_member(const toml::key& key, const toml::node& node, const Type* type) {
    const auto at = place(key.source().begin);
    const Type* member = nullptr;
    if (type != nullptr && type->shape == Shape::dict) member = type->item;
    if (type != nullptr && type->shape == Shape::object) {
      const auto [i, same_case] = cdi::detail::find_field(*type, key.str());
      if (i == type->field_count ? !type->takes_unknown : !same_case) {
        return fail(at, "this member does not exist", advice_for(key.str(), *type));
      }
      if (i < type->field_count) member = type->fields[i].type;
    }
    return builder_.decoded_scalar(at, key.str(), true) && add(node, member);
  }

  static std::string advice_for(std::string_view name, const Type& type) {
    constexpr std::size_t few_letters = 2;
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const auto field = type.fields[i].key;
      if (cdi::detail::edit_distance(field, name, few_letters) <= few_letters) {
        return fmt::format("did you mean {}?", field);
      }
    }
    return "use one of " + cdi::detail::name_fields(type);
  }

  cdi::DocumentBuilder builder_;
  cdi::Error error_{};
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  std::size_t at_ = 0;  // of this line and column
};

}  // namespace detail

/// Parses a text. `path` is for messages, which contain the line and column of an error.
inline cdi::Result<toml::table> toml_table(std::string_view text, std::string_view path) {
  if (auto shallow = detail::check_depth_of_keys(text, path); !shallow) return shallow.error();
  auto parsed = toml::parse(text, path);
  if (parsed) return std::move(parsed).table();
  const auto& begin = parsed.error().source().begin;
  return detail::not_toml(path, begin.line, begin.column, parsed.error().description());
}

/// Reads a text into a value of a described type; members that are not in the text stay. Texts must
/// not be empty. Returns the document, which knows the place of each member.
template <cdi::Described T>
cdi::Result<cdi::Document> read_toml(std::string_view text, std::string_view path, T& out) {
  const auto table = toml_table(text, path);
  if (!table) return table.error();
  const auto& type = cdi::detail::table_of<T>();
  auto document = detail::TomlDocument{text, path}.make(*table, type);
  if (!document) return document;
  cdi::detail::Reading reading{.is_strict = true};
  reading.bytes_left = document->max_model_bytes();
  const auto as = cdi::detail::TextAs::text_only;
  if (!cdi::detail::read_value(document->root(), &out, type, as, reading)) return reading.why;
  return document;
}

/// The error about a member of a document, such as `mounts[0].host`.
inline cdi::Error member_error(const cdi::Document& document, std::string_view where,
                               std::string message, std::string advice = {}) {
  return {.code = cdi::Errc::schema,
          .message = std::move(message),
          .advice = std::move(advice),
          .where = std::string{where},
          .position = document.locate(where)};
}

}  // namespace tools
