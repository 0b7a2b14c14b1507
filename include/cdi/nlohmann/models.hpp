// Converts models to `nlohmann::json` documents.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NLOHMANN_MODELS_HPP
#define CDI_NLOHMANN_MODELS_HPP

#include <cerrno>
#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/base/result.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/write.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline void read_real(const char* text, float& out) {
  out = std::strtof(text, nullptr);
}
inline void read_real(const char* text, double& out) {
  out = std::strtod(text, nullptr);
}
inline void read_real(const char* text, long double& out) {
  out = std::strtold(text, nullptr);
}

/// Makes a JSON number as nlohmann's parser would, without the cost of another instance of that
/// parser: an integer if it fits in 64 bits, otherwise a float. A number that is too large, such as
/// 1e999, or text that is not a number becomes text.
template <class Json>
Json json_number(std::string_view text) {
  std::string digits{text};
  if (!is_json_number(text)) return Json(std::move(digits));
  const bool is_whole = text.find_first_of(".eE") == text.npos;
  errno = 0;
  if (is_whole && text.front() == '-') {
    const auto number = std::strtoll(digits.c_str(), nullptr, 10);
    const auto kept = static_cast<typename Json::number_integer_t>(number);
    if (errno == 0 && kept == number) return Json(kept);
  } else if (is_whole) {
    const auto number = std::strtoull(digits.c_str(), nullptr, 10);
    const auto kept = static_cast<typename Json::number_unsigned_t>(number);
    if (errno == 0 && kept == number) return Json(kept);
  }
  const auto point = digits.find('.');
  if (point != digits.npos) digits[point] = *std::localeconv()->decimal_point;
  typename Json::number_float_t real{};
  read_real(digits.c_str(), real);
  return std::isfinite(real) ? Json(real) : Json(std::string{text});
}

/// Makes room for one more member and moves the existing members. When `ordered_map` grows by
/// itself, it copies its members with all their contents.
template <class Object>
void make_room(Object& members) {
  if constexpr (requires { members.capacity(); }) {
    constexpr std::size_t least = 8;
    if (members.size() < members.capacity()) return;
    Object larger;
    larger.reserve(2 * members.size() + least);
    for (auto& [key, value] : members) larger.emplace_back(key, std::move(value));
    members = std::move(larger);
  }
}

/// Sets the parent of each value in an array or object. With `JSON_DIAGNOSTICS`, nlohmann checks
/// these parents, so this is required after adding items without nlohmann's functions.
template <class Json>
void hold_items([[maybe_unused]] Json& value) {
#if JSON_DIAGNOSTICS
  value = Json(std::move(value));
#endif
}

/// A sink that builds an `nlohmann::basic_json`.
template <class Json>
class JsonSink {
 public:
  void begin_map() { open_.push_back(&place(Json(Json::value_t::object))); }
  void end_map() { close(); }
  void begin_list() { open_.push_back(&place(Json(Json::value_t::array))); }
  void end_list() { close(); }
  void key(std::string_view name) {
    check_.text(name);
    key_ = name;
  }
  void text(std::string_view value) {
    check_.text(value);
    place(Json(std::string{value}));
  }
  void integer(std::int64_t value) {
    // A parser would make these numbers unsigned. Signed and unsigned numbers compare equal, but
    // not all users check for both.
    if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
    place(value);
  }
  void unsigned_integer(std::uint64_t value) { place(value); }
  void boolean(bool value) { place(value); }
  void number(std::string_view value) {
    check_.number(value);
    place(detail::json_number<Json>(value));
  }
  void null() { place(Json()); }

  /// Succeeds if all texts and numbers can be read again.
  const Result<void>& good() const { return check_.result; }

  Json take() && { return std::move(root_); }

 private:
  void close() {
    detail::hold_items(*open_.back());
    open_.pop_back();
  }
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& outer = *open_.back();
    if (auto* items = outer.template get_ptr<typename Json::array_t*>()) {
      return items->emplace_back(std::move(value));
    }
    auto& members = *outer.template get_ptr<typename Json::object_t*>();
    detail::make_room(members);
    if constexpr (requires { members.emplace_back(std::string{}, std::move(value)); }) {
      return members.emplace_back(std::string{key_}, std::move(value)).second;  // no key repeats
    } else {
      return members[std::string{key_}] = std::move(value);
    }
  }

  Json root_{};
  std::vector<Json*> open_{};  // valid: an outer value does not grow while an inner value is open
  std::string_view key_{};
  WriteCheck check_{};
};

}  // namespace detail

/// Converts a described type to a JSON value; with `ordered_json`, members keep the order of the
/// field list. Text that is not UTF-8 is kept, and makes `dump` throw; `write_json` rejects it.
template <class Json = nlohmann::ordered_json, Described T>
Json to_json_value(const T& value) {
  detail::JsonSink<Json> sink;
  cdi::write(value, sink);
  return std::move(sink).take();
}

}  // namespace cdi

#endif  // CDI_NLOHMANN_MODELS_HPP
