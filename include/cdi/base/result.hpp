// `Result` and `Error`: a value, or the reason for its absence; also quoting of text for messages.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_RESULT_HPP
#define CDI_BASE_RESULT_HPP

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <cdi/fwd.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The kind of error, for programs; `Error::message` is for people.
enum class Errc : std::uint8_t {
  syntax,        ///< the text is not JSON or YAML
  schema,        ///< well formed, but not CDI or OCI: a member is unknown, missing or wrong
  invalid,       ///< a rule of `rules` is broken, or an argument or text is unusable
  invalid_name,  ///< not a valid vendor, class, device or `vendor.com/class=device` name
  not_found,     ///< no spec provides the device, or the engine is unknown
  conflict,      ///< equal-priority specs provide the device, or a key or file has another owner
  unsupported,   ///< the OCI spec type or CDI version cannot express the edit
  limit,         ///< the input is over a limit of `Limits`, `ReadOptions` or the memory it takes
  host,          ///< the host lacks the device node, or has a different one
  denied,        ///< the caller's policy forbids it: `ReadOptions::reject_writable`
  timeout,       ///< the deadline has passed
  system,        ///< a system call failed, or a path is unusable: see `Error::system`
};

/// A position in a text. A line or column of 0 is unknown.
struct Position {
  std::string file = {};     ///< the text's name, often a path; empty when unknown
  std::uint32_t line = 0;    ///< from 1
  std::uint32_t column = 0;  ///< from 1, in bytes
};

/// A line and column in a text, as in `Position`.
struct LineColumn {
  std::uint32_t line = 0;    ///< from 1; 0 means unknown
  std::uint32_t column = 0;  ///< from 1, in bytes; 0 means unknown

  friend bool operator==(const LineColumn&, const LineColumn&) = default;
};

namespace detail {

/// The full path of a nested member: `devices` and `[0].name` give `devices[0].name`; `kind` and an
/// empty path give `kind`.
std::string inner_path(std::string_view outer, std::string_view where);

}  // namespace detail

/// The reason why an operation failed. Cheap to move; the library itself never throws an `Error`.
struct Error {
  /// The kind of error, for programs; the default has no meaning.
  Errc code = {};
  /// What is wrong, for people. The wording may change between releases.
  std::string message = {};
  /// What to change, for people, such as "use one of b, c, u, p"; empty when no advice is known.
  std::string advice = {};
  /// The member's path, such as "devices[0].containerEdits.mounts[2].hostPath", with keys as the
  /// document spells them; empty when the error does not concern a member.
  std::string where = {};
  Position position = {};  ///< the member's position in its source text
  int system = 0;          ///< `errno` when the operating system is the reason, otherwise 0
  /// The number, from 1, of the edits passed to `apply` that caused the error; 0 when the target is
  /// at fault, and in errors of other functions.
  std::uint32_t edits = 0;
  /// The code (`RuleRow::code`) of the broken rule, a text in the table `rules`; empty for all
  /// other errors.
  std::string_view rule = {};

  /// Prepends the path of an enclosing value to `where`: `devices` and `[0].name` give
  /// `devices[0].name`.
  void add_outer(std::string_view place) { where = detail::inner_path(place, where); }

  /// Returns this error with the path of an enclosing value prepended to `where`.
  Error under(std::string_view outer) && {
    add_outer(outer);
    return std::move(*this);
  }
};

namespace detail {

/// Returns `name[index]`, the path of a list item.
std::string item_path(std::string_view name, std::size_t index);

/// The path of a member, kept in parts; only a message needs the whole text.
struct MemberPath {
  static constexpr std::size_t no_index = static_cast<std::size_t>(-1);

  const MemberPath* outer = nullptr;
  std::string_view key{};
  std::size_t index = no_index;

  std::string text() const;
};

constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

/// Removes a decimal number from the front of a text. Returns false if it is missing or too large.
bool take_number(std::string_view& text, std::uint32_t& number);

/// The length in bytes of the UTF-8 character at the front of `text`; 0 if the bytes are invalid.
constexpr std::size_t utf8_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  const unsigned next = byte(1);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // An overlong form, a surrogate, or a code point above U+10FFFF.
  if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next > 0x9f)) return 0;
  if ((lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next > 0x8f)) return 0;
  return size;
}

/// Whether a text is ASCII. Reads eight bytes at a time; the last two reads may overlap.
inline bool is_ascii(std::string_view text) noexcept {
  std::uint64_t bits = 0;
  const auto add_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    bits |= word;
  };
  if (text.size() < sizeof bits) {
    for (const char c : text) bits |= static_cast<unsigned char>(c);
  } else {
    for (std::size_t at = 0; at + sizeof bits < text.size(); at += sizeof bits) add_word(at);
    add_word(text.size() - sizeof bits);
  }
  return (bits & 0x8080808080808080) == 0;
}

/// Whether `text` is valid UTF-8. JSON and YAML cannot hold any other text.
constexpr bool is_utf8(std::string_view text) noexcept {
  if (!std::is_constant_evaluated() && is_ascii(text)) return true;  // the common case
  for (std::size_t i = 0; i < text.size();) {
    const bool ascii = static_cast<unsigned char>(text[i]) < 0x80;
    const std::size_t size = ascii ? 1 : utf8_size(text.substr(i));
    if (size == 0) return false;
    i += size;
  }
  return true;
}

/// The code point of a 2-byte or 3-byte UTF-8 character.
constexpr unsigned bmp_code_point(std::string_view character) noexcept {
  unsigned code = static_cast<unsigned char>(character.front()) & (0xffU >> (character.size() + 1));
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

/// Appends a 2-byte or 3-byte character as a JSON escape, such as `u009b` after a backslash.
void append_code_point(std::string_view character, std::string& out);

}  // namespace detail

/// Returns `text` as one line of valid UTF-8, for a message or a terminal. Control and invisible
/// characters become numbers after a backslash; quotes and backslashes get a backslash. The text is
/// cut and ends in `...` once `longest` bytes are written; `std::string::npos` means no limit.
std::string escaped(std::string_view text, std::size_t longest = 120);

/// Returns `text` escaped and in double quotes, for a message.
std::string quoted(std::string_view text);

namespace detail {

/// The error for a text that is not UTF-8.
Error not_utf8(std::string_view text);

/// Returns `MESSAGE: ADVICE`, for output that already shows where the error is.
std::string advised_message(const Error& error);

}  // namespace detail

/// Formats the error on one line: `FILE:LINE:COLUMN: PATH: MESSAGE: ADVICE`, without unknown parts.
/// File and path are escaped, so that no text of a document can start a second line. `code`,
/// `system` and `rule` are left out.
std::string to_string(const Error& error);

namespace detail {

// The operations of a result on its value. They are separate functions so that the compiled library
// can provide them for large models.

template <class T>
CDI_INLINE void copy_to(T* place, const T& value) {
  ::new (static_cast<void*>(place)) T(value);
}
template <class T>
CDI_INLINE void move_to(T* place, T& value) {
  ::new (static_cast<void*>(place)) T(std::move(value));
}
template <class T>
CDI_INLINE void destroy(T& value) noexcept {
  value.~T();
}

#ifdef CDI_COMPILED
extern template void copy_to(Spec* place, const Spec& value);
extern template void move_to(Spec* place, Spec& value);
extern template void destroy(Spec& value) noexcept;
extern template void copy_to(oci::Spec* place, const oci::Spec& value);
extern template void move_to(oci::Spec* place, oci::Spec& value);
extern template void destroy(oci::Spec& value) noexcept;
#endif

}  // namespace detail

/// A value, or the reason for its absence. As safe to share between threads as the value.
///
/// The interface is a subset of C++23 `std::expected<T, Error>`. The type is the same in every
/// language mode: an alias that depends on `-std=` would give object files different symbols.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;      ///< the type of the value
  using error_type = Error;  ///< the type of the reason, always `Error`

  /// Success. Implicit, so that a function can return a plain value.
  Result(T value) : has_value_{true}, value_(std::move(value)) {}
  /// Failure. Implicit, so that a function can return a plain `Error`.
  Result(Error why) : has_value_{false}, error_(std::move(why)) {}

  /// Copies the value or the reason.
  Result(const Result& other) requires std::is_copy_constructible_v<T>
      : has_value_{other.has_value_} {
    copy(other);
  }
  /// Moves the value or the reason from another result.
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_{other.has_value_} {
    take(other);
  }
  /// Replaces this result with a copy of another.
  Result& operator=(const Result& other) requires std::is_copy_constructible_v<T> {
    *this = Result{other};
    return *this;
  }
  /// Replaces this result by moving from another; moving a `T` must not throw.
  Result& operator=(Result&& other) noexcept {
    if (this == &other) return *this;
    clear();
    has_value_ = other.has_value_;
    take(other);
    return *this;
  }
  ~Result() { clear(); }

  /// Whether the result holds a value.
  bool has_value() const noexcept { return has_value_; }
  /// Equivalent to `has_value()`.
  explicit operator bool() const noexcept { return has_value_; }

  /// The value. If there is no value, `assert` fails; with `NDEBUG` the behaviour is undefined.
  T& operator*() & noexcept { return check(true), value_; }
  /// The value, under the same precondition.
  const T& operator*() const& noexcept { return check(true), value_; }
  /// The value, to move from, under the same precondition.
  T&& operator*() && noexcept { return check(true), std::move(value_); }
  /// Accesses a member of the value, under the same precondition.
  T* operator->() noexcept { return check(true), &value_; }
  /// Accesses a member of the value, under the same precondition.
  const T* operator->() const noexcept { return check(true), &value_; }

  /// The reason. If there is a value, `assert` fails; with `NDEBUG` the behaviour is undefined.
  Error& error() & noexcept { return check(false), error_; }
  /// The reason, under the same precondition.
  const Error& error() const& noexcept { return check(false), error_; }
  /// The reason, to move from, under the same precondition.
  Error&& error() && noexcept { return check(false), std::move(error_); }

 private:
  [[gnu::noinline]] void copy(const Result& other) {  // if inlined, g++ 12 warns about `error_`
    if (has_value_) {
      detail::copy_to(&value_, other.value_);
    } else {
      detail::copy_to(&error_, other.error_);
    }
  }

  void take(Result& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (has_value_) {
      detail::move_to(&value_, other.value_);
    } else {
      detail::move_to(&error_, other.error_);
    }
  }

  void clear() noexcept {
    if (has_value_) {
      detail::destroy(value_);
    } else {
      detail::destroy(error_);
    }
  }

  void check([[maybe_unused]] bool for_value) const noexcept {
    assert(has_value_ == for_value && "cdi::Result: check it before you dereference it");
  }

  bool has_value_;
  union {  // `std::variant` costs eight times as much to compile for each `T`
    T value_;
    Error error_;
  };
};

/// Success, or the reason for failure.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;   ///< there is no value
  using error_type = Error;  ///< the type of the reason, always `Error`

  /// Success, also written as `return {};`.
  Result() = default;
  /// Failure. Implicit, so that a function can return a plain `Error`.
  Result(Error why) : failed_{true}, why_{std::move(why)} {}

  /// Whether the operation succeeded.
  bool has_value() const noexcept { return !failed_; }
  /// Equivalent to `has_value()`.
  explicit operator bool() const noexcept { return !failed_; }

  /// The reason. After success, `assert` fails.
  Error& error() & noexcept { return assert(failed_), why_; }
  /// The reason. Call this only after failure.
  const Error& error() const& noexcept { return assert(failed_), why_; }
  /// The reason, to move from. Call this only after failure.
  Error&& error() && noexcept { return assert(failed_), std::move(why_); }

 private:
  bool failed_ = false;
  Error why_{};
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/base/result.inl>
#endif

#endif  // CDI_BASE_RESULT_HPP
