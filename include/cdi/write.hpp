// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_WRITE_HPP
#define CDI_WRITE_HPP

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include <cdi/fields.hpp>
#include <cdi/result.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// Takes a document value by value, in document order: what a format implements to be written. Each
/// value of a map comes after its `key`, and each `begin_` has its `end_`.
template <class T>
concept Sink = requires(T sink, std::string_view text, std::int64_t number, std::uint64_t natural,
                        bool truth) {
  sink.begin_map();
  sink.key(text);
  sink.end_map();
  sink.begin_list();
  sink.end_list();
  sink.text(text);
  sink.integer(number);
  sink.unsigned_integer(natural);
  sink.boolean(truth);
  sink.number(text);  // as JSON has it
  sink.null();
};

namespace detail {

template <class S>
void write_any(const BasicValue<S>& value, Sink auto& sink);

template <class Members>
void write_members(const Members& members, Sink auto& sink) {
  for (const auto& [key, value] : members) {
    sink.key(key);
    detail::write_any(value, sink);
  }
}

template <class S>
void write_any(const BasicValue<S>& value, Sink auto& sink) {
  using Kind = ValueKind;
  switch (value.kind) {
    case Kind::null: return sink.null();
    case Kind::boolean: return sink.boolean(value.text == "true");
    case Kind::number: return sink.number(value.text);
    case Kind::text: return sink.text(value.text);
    case Kind::list:
      sink.begin_list();
      for (const auto& item : value.members) detail::write_any(item.value, sink);
      return sink.end_list();
    case Kind::map: break;
  }
  sink.begin_map();
  detail::write_members(value.members, sink);
  sink.end_map();
}

}  // namespace detail

/// Writes a described type, or a part of one, to a sink: fields in the order of the field list,
/// without those that are `Presence::omit_empty` and empty; then what it does not know. Fails only
/// as the sink does. Costs one pass.
template <class T>
void write(const T& value, Sink auto& sink) {
  if constexpr (Described<T>) {
    sink.begin_map();
    every_field<T>([&](const auto& f) {
      const auto& member = value.*f.member;
      if (f.when != Presence::omit_empty || !cdi::is_empty(member)) {
        sink.key(f.key);
        cdi::write(member, sink);
      }
      return true;
    });
    if constexpr (Extensible<T>) detail::write_members(value.extra, sink);
    sink.end_map();
  } else if constexpr (detail::is_value<T>) {
    detail::write_any(value, sink);
  } else if constexpr (detail::OptionalLike<T>) {
    cdi::write(*value, sink);  // an absent one is empty, and so never written
  } else if constexpr (detail::DictLike<T>) {
    sink.begin_map();
    for (const auto& [key, item] : value) {
      sink.key(key);
      cdi::write(item, sink);
    }
    sink.end_map();
  } else if constexpr (detail::ListLike<T>) {
    sink.begin_list();
    for (const auto& item : value) cdi::write(item, sink);
    sink.end_list();
  } else if constexpr (std::same_as<T, bool>) {
    sink.boolean(value);
  } else if constexpr (std::unsigned_integral<T>) {
    sink.unsigned_integer(value);
  } else if constexpr (std::integral<T>) {
    sink.integer(static_cast<std::int64_t>(value));
  } else {
    sink.text(value);
  }
}

namespace detail {

/// A sink that only looks whether what is written can be read again: text is UTF-8, numbers are as
/// JSON has them.
struct WriteCheck {
  Result<void> result{};

  void begin_map() {}
  void end_map() {}
  void begin_list() {}
  void end_list() {}
  void key(std::string_view name) { text(name); }
  void text(std::string_view value) {
    if (!result || is_utf8(value)) return;
    result = Error{.code = Errc::invalid, .message = "text " + quoted(value) + " is not UTF-8"};
  }
  void integer(std::int64_t) {}
  void unsigned_integer(std::uint64_t) {}
  void boolean(bool) {}
  void number(std::string_view value) {
    if (!result || is_json_number(value)) return;
    result = Error{.code = Errc::invalid, .message = quoted(value) + " is no number of JSON"};
  }
  void null() {}
};

/// Whether all of a value can be read again, once written.
template <Described T>
Result<void> check_writable(const T& value) {
  WriteCheck check;
  cdi::write(value, check);
  return std::move(check.result);
}

}  // namespace detail

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_WRITE_HPP
