// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RESULT_HPP
#define CDI_RESULT_HPP

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// What went wrong, for code that has to decide; `Error::message` is for people.
enum class Errc : std::uint8_t {
  syntax,        // the text is not JSON or YAML
  schema,        // well formed, but not a CDI or OCI document: unknown, missing or wrong member
  invalid,       // a CDI document that breaks a rule of the CDI specification
  invalid_name,  // not a `vendor.com/class=device` name
  not_found,     // no spec provides the device
  conflict,      // two specs of equal priority provide the device
  unsupported,   // the OCI spec type given has no place for this edit
  limit,         // larger or deeper than the caller's `Limits` allow
  host,          // the host has no such device node, or another one than the edits say
  system,        // the operating system refused; see `Error::system`
};

/// A place in a text. Lines and columns count from 1, columns in bytes; 0 means unknown.
struct Position {
  std::string file = {};
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Why an operation failed. Cheap to move, never thrown by the library itself.
struct Error {
  Errc code = {};
  std::string message = {};
  std::string where = {};  // path of the member: "devices[0].containerEdits.mounts[2].hostPath"
  Position position = {};  // where that member stands in the text it was read from
  int system = 0;          // errno when `code` is `Errc::system`

  /// Puts an enclosing place in front of `where`.
  void add_outer(std::string_view place) {
    const bool dotted = !where.empty() && where.front() != '[';
    where.insert(0, dotted ? "." : "").insert(0, place);
  }

  /// The same error, seen from one level further out.
  Error under(std::string_view outer) && {
    add_outer(outer);
    return std::move(*this);
  }
};

namespace detail {

/// `name[index]`, the path of a list item.
inline std::string item_path(std::string_view name, std::size_t index) {
  std::string path{name};
  path.append("[").append(std::to_string(index)).append("]");
  return path;
}

/// `text` in double quotes, control characters escaped: what a message quotes stays on one line.
inline std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    } else {
      out.append(1, c);
    }
  }
  out.append(1, '"');
  return out;
}

}  // namespace detail

/// The whole error on one line: `FILE:LINE:COLUMN: PATH: MESSAGE`, without the parts not known.
inline std::string to_string(const Error& error) {
  std::string out = error.position.file;
  if (error.position.line != 0) {
    out.append(out.empty() ? "line " : ":").append(std::to_string(error.position.line));
    out.append(1, ':').append(std::to_string(error.position.column));
  }
  if (!out.empty()) out.append(": ");
  if (!error.where.empty()) out.append(error.where).append(": ");
  return out.append(error.message);
}

/// A value, or the reason there is none.
///
/// The interface is a subset of C++23 `std::expected<T, Error>`. It is one type in every language
/// mode on purpose: an alias that switched with `-std=` would be a different symbol per object
/// file.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  Result(Error why) : state_{std::in_place_index<1>, std::move(why)} {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The value. Only when there is one.
  T& operator*() & noexcept { return *get<0>(); }
  const T& operator*() const& noexcept { return *get<0>(); }
  T&& operator*() && noexcept { return std::move(*get<0>()); }
  T* operator->() noexcept { return get<0>(); }
  const T* operator->() const noexcept { return get<0>(); }

  /// The reason. Only when there is no value.
  Error& error() & noexcept { return *get<1>(); }
  const Error& error() const& noexcept { return *get<1>(); }
  Error&& error() && noexcept { return std::move(*get<1>()); }

 private:
  template <std::size_t I>
  auto* get() noexcept {
    auto* held = std::get_if<I>(&state_);
    assert(held && "cdi::Result: look before you dereference");
    return held;
  }
  template <std::size_t I>
  const auto* get() const noexcept {
    const auto* held = std::get_if<I>(&state_);
    assert(held && "cdi::Result: look before you dereference");
    return held;
  }

  std::variant<T, Error> state_;
};

/// Success, or the reason for failure.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error why) : failed_{true}, why_{std::move(why)} {}

  bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return !failed_; }

  /// The reason. Only when it failed.
  Error& error() & noexcept { return assert(failed_), why_; }
  const Error& error() const& noexcept { return assert(failed_), why_; }
  Error&& error() && noexcept { return assert(failed_), std::move(why_); }

 private:
  bool failed_ = false;
  Error why_{};
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_RESULT_HPP
