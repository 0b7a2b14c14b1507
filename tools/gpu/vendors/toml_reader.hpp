// Reads the members of TOML tables. A message names file, line, column and member.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_GPU_VENDORS_TOML_READER_HPP
#define CDI_TOOLS_GPU_VENDORS_TOML_READER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/registry/nearest_names.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"
#include "../../kit/engines/toml_settings.hpp"

namespace prepare {

/// Reads TOML tables, and keeps the first error in the file.
class TomlReader {
 public:
  using Node = toml::node;

  static constexpr std::size_t longest_text = 1024;
  static constexpr std::size_t most_items = 64;  // in a list

  /// Reads a value, whose member is `where`.
  using Read = std::function<void(const Node& value, const std::string& where)>;

  /// A member that a table can have.
  struct Member {
    std::string_view name;
    Read read;
  };

  /// A text, and its place for messages.
  struct Text {
    const Node* node = nullptr;
    std::string text{};
    std::string where{};
  };

  explicit TomlReader(std::string path) : path_{std::move(path)} {}

  const std::string& path() const { return path_; }

  const std::optional<cdi::Error>& error() const { return error_; }

  /// Remembers an error, unless an earlier one in the file is known.
  void fail(const Node& node, const std::string& where, std::string message,
            std::string advice = {}) {
    fail_at(node.source().begin, where, std::move(message), std::move(advice));
  }

  void fail(const Text& text, std::string message, std::string advice = {}) {
    fail(*text.node, text.where, std::move(message), std::move(advice));
  }

  /// Reads a table. A member that is not in `known` is an error, which names the most similar one.
  void read_table(const toml::table& table, const std::string& where,
                  std::initializer_list<Member> known) {
    read_table(table, where, std::span{known.begin(), known.size()});
  }

  void read_table(const toml::table& table, const std::string& where,
                  std::span<const Member> known) {
    for (const auto& [key, value] : table) {
      const auto is_named = [name = key.str()](const Member& member) {
        return member.name == name;
      };
      const auto place =
          where.empty() ? std::string{key.str()} : fmt::format("{}.{}", where, key.str());
      const auto member = std::find_if(known.begin(), known.end(), is_named);
      if (member != known.end()) {
        member->read(value, place);
      } else {
        fail_at(key.source().begin, place, "this member does not exist",
                advice_for(key.str(), known));
      }
    }
  }

  /// Reads a value that must be a table.
  void read_table(const Node& node, const std::string& where, std::initializer_list<Member> known) {
    if (const auto* const table = node.as_table()) return read_table(*table, where, known);
    fail(node, where, "must be a table", fmt::format("write [{}]", where));
  }

  /// Calls `read` for a value, or for each value of a list.
  void for_each(const Node& node, const std::string& where, const Read& read) {
    const auto* const list = node.as_array();
    if (list == nullptr) return read(node, where);
    if (list->size() > most_items) {
      return fail(node, where, fmt::format("has more than {} entries", most_items));
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      read((*list)[i], fmt::format("{}[{}]", where, i));
    }
  }

  /// Calls `read` for each member of a table whose names the user chooses.
  void for_each_member(const Node& node, const std::string& where, const Read& read) {
    const auto* const table = node.as_table();
    if (table == nullptr) {
      return fail(node, where, "must be a table", fmt::format("write [{}]", where));
    }
    if (table->size() > most_items) {
      return fail(node, where, fmt::format("has more than {} members", most_items));
    }
    for (const auto& [key, value] : *table) read(value, std::string{key.str()});
  }

  std::optional<Text> read_text(const Node& node, const std::string& where) {
    auto text = node.value_exact<std::string>();
    if (!text) {
      fail(node, where, "must be a text", "put it between quotes");
    } else if (text->empty() || text->size() > longest_text || !tools::is_plain(*text)) {
      fail(node, where, fmt::format("must be 1 to {} letters of printable ASCII", longest_text));
    } else {
      return Text{&node, std::move(*text), where};
    }
    return std::nullopt;
  }

  /// A text, or the texts of a list.
  std::vector<Text> read_texts(const Node& node, const std::string& where) {
    std::vector<Text> texts;
    for_each(node, where, [&](const Node& item, const std::string& place) {
      if (auto text = read_text(item, place)) texts.push_back(std::move(*text));
    });
    return texts;
  }

  bool read_truth(const Node& node, const std::string& where) {
    const auto truth = node.value_exact<bool>();
    if (!truth) fail(node, where, "must be true or false");
    return truth.value_or(false);
  }

 private:
  void fail_at(const toml::source_position& place, const std::string& where, std::string message,
               std::string advice) {
    const std::pair position{place.line, place.column};
    if (error_ && std::pair{error_->position.line, error_->position.column} <= position) return;
    error_ = cdi::Error{.code = cdi::Errc::schema,
                        .message = std::move(message),
                        .advice = std::move(advice),
                        .where = where,
                        .position = {.file = path_, .line = place.line, .column = place.column}};
  }

  static std::string advice_for(std::string_view name, std::span<const Member> known) {
    constexpr std::size_t few_letters = 2;
    std::vector<std::string> names;
    for (const auto& member : known) {
      if (cdi::detail::edit_distance(member.name, name, few_letters) <= few_letters) {
        return fmt::format("did you mean {}?", member.name);
      }
      names.emplace_back(member.name);
    }
    return "use " + tools::listed(names);
  }

  std::string path_;
  std::optional<cdi::Error> error_{};
};

}  // namespace prepare

#endif  // CDI_TOOLS_GPU_VENDORS_TOML_READER_HPP
