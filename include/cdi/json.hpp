// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_JSON_HPP
#define CDI_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/fields.hpp>
#include <cdi/json_text.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// A sink that makes a value of a `nlohmann::basic_json`.
template <class Json>
class JsonSink {  // NOLINT(bugprone-exception-escape)
 public:
  void begin_map() { open_.push_back(&place(Json::object())); }
  void end_map() { open_.pop_back(); }
  void begin_list() { open_.push_back(&place(Json::array())); }
  void end_list() { open_.pop_back(); }
  void key(std::string_view name) {
    check_.text(name);
    key_ = name;
  }
  void text(std::string_view value) {
    check_.text(value);
    place(std::string{value});
  }
  void integer(std::int64_t value) {
    // Numbers that text would give as unsigned are so here too: the two compare equal, but not all
    // users ask for both.
    if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
    place(value);
  }
  void unsigned_integer(std::uint64_t value) { place(value); }
  void boolean(bool value) { place(value); }
  void number(std::string_view value) {
    check_.number(value);
    Json number = Json::parse(value, nullptr, /*allow_exceptions=*/false);
    place(number.is_number() ? std::move(number) : Json(value));  // 1e999 is too large for it
  }
  void null() { place(nullptr); }

  /// Whether all that was written is text and numbers that can be read again.
  const Result<void>& good() const { return check_.result; }

  Json take() && { return std::move(root_); }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& outer = *open_.back();
    if (outer.is_array()) {
      outer.push_back(std::move(value));
      return outer.back();
    }
    auto& members = outer.template get_ref<typename Json::object_t&>();
    if constexpr (requires { members.push_back({std::string{}, Json{}}); }) {
      members.push_back({std::string{key_}, std::move(value)});  // keys differ: no need to look
      return members.back().second;
    } else {
      return members[std::string{key_}] = std::move(value);
    }
  }

  Json root_{};
  std::vector<Json*>
      open_{};  // stays valid: an outer value does not grow while an inner one is open
  std::string_view key_{};
  WriteCheck check_{};
};

}  // namespace detail

/// A described type as a JSON value; members in the order of the field list for `ordered_json`.
/// Text that is not UTF-8 gets in, and makes `dump` throw: `write_json` refuses it instead.
template <class Json = nlohmann::ordered_json, Described T>
Json to_json_value(const T& value) {
  detail::JsonSink<Json> sink;
  cdi::write(value, sink);
  return std::move(sink).take();
}

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_JSON_HPP
