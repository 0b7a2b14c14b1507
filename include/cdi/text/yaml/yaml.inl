// The bodies of <cdi/text/yaml/yaml.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TEXT_YAML_YAML_INL
#define CDI_TEXT_YAML_YAML_INL

#include <cstddef>

#include <cdi/base/order.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/text/yaml/yaml.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Whether every reader reads an unquoted text as text. YAML 1.1 reads yes, no, on, off, 007,
/// 1_000, 1:30, .5 and others as booleans or numbers. Unnecessary quotes do no harm.
inline bool is_plain_text(std::string_view text) {
  const char first = text.empty() ? ' ' : ascii_lower(text.front());
  if ((first < 'a' || first > 'z') && first != '/') return false;
  for (const std::string_view word :
       {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}) {
    if (same_key(text, word)) return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = ascii_lower(text[i]);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) continue;
    if (std::string_view{"/_-.=,+@%: "}.find(c) == std::string_view::npos) return false;
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == ':' && next == ' ') return false;
    if (c == ' ' && (i + 1 == text.size() || next == '#')) return false;
  }
  return true;
}

/// Returns a text in double quotes. Characters that any reader would change or reject are escaped.
inline std::string quote_yaml(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto escape = [&](char mark, std::uint32_t code, int size) {
    std::string out{'\\', mark};
    for (int shift = 4 * (size - 1); shift >= 0; shift -= 4)
      out.append(1, digits[code >> shift & 15]);
    return out;
  };
  std::string out = "\"";
  while (!text.empty()) {
    const auto character = text.substr(0, detail::max<std::size_t>(utf8_size(text), 1));
    text.remove_prefix(character.size());
    std::uint32_t code = static_cast<unsigned char>(character[0]);
    if (character.size() > 1) code &= 0xffU >> (character.size() + 1);
    for (const char c : character.substr(1))
      code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
    const bool separator = code == 0x2028 || code == 0x2029 || code == 0xfeff;
    const bool no_character = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code < 0xfdf0);
    if (code == '"' || code == '\\') {
      out.append(1, '\\').append(character);
    } else if (code == '\n') {
      out.append("\\n");
    } else if (code < 0x20 || (code >= 0x7f && code <= 0xa0)) {
      out.append(escape('x', code, 2));
    } else if (separator || no_character) {
      out.append(code < 0x10000 ? escape('u', code, 4) : escape('U', code, 8));
    } else {
      out.append(character);
    }
  }
  return out.append("\"");
}

}  // namespace detail

CDI_INLINE void YamlSink::key(std::string_view name) {
  check_.text(name);
  // YAML needs a question mark before keys of more than 1024 characters.
  constexpr std::size_t longest = 1000;
  begin_line();
  const auto written = in_quotes_if_needed(name);
  if (written.size() > longest) out_.append("? ");
  out_.append(written);
  if (written.size() > longest) out_.append("\n").append(2 * (open_.size() - 1), ' ');
  out_.append(":");
  place_ = Place::after_key;
}

CDI_INLINE void YamlSink::text(std::string_view value) {
  check_.text(value);
  scalar(in_quotes_if_needed(value));
}

CDI_INLINE void YamlSink::integer(std::int64_t value) {
  scalar(std::to_string(value));
}

CDI_INLINE void YamlSink::unsigned_integer(std::uint64_t value) {
  scalar(std::to_string(value));
}

CDI_INLINE void YamlSink::number(std::string_view value) {
  check_.number(value);
  const auto exponent = value.find_first_of("eE");
  if (exponent == std::string_view::npos) return scalar(value);
  std::string out{value.substr(0, exponent)};
  if (out.find('.') == std::string::npos) out.append(".0");
  out.append("e");
  value.remove_prefix(exponent + 1);
  if (!value.starts_with('-') && !value.starts_with('+')) out.append("+");
  scalar(out.append(value));
}

CDI_INLINE std::string YamlSink::in_quotes_if_needed(std::string_view text) {
  return detail::is_plain_text(text) ? std::string{text} : detail::quote_yaml(text);
}

CDI_INLINE void YamlSink::begin_line() {
  Level& level = open_.back();
  if (level.empty && level.begins == Place::after_key) out_.append("\n");
  if (level.empty && level.begins == Place::after_dash) {
    out_.append(" ");
  } else {
    out_.append(2 * (open_.size() - 1), ' ');
  }
  level.empty = false;
}

CDI_INLINE void YamlSink::begin_value() {
  if (open_.empty() || !open_.back().is_list) return;
  begin_line();
  out_.append("-");
  place_ = Place::after_dash;
}

CDI_INLINE void YamlSink::scalar(std::string_view value) {
  begin_value();
  if (place_ != Place::line_begin) out_.append(" ");
  out_.append(value).append("\n");
  place_ = Place::line_begin;
}

CDI_INLINE void YamlSink::begin(Level level) {
  begin_value();
  level.begins = place_;
  open_.push_back(level);
}

CDI_INLINE void YamlSink::end(std::string_view nothing) {
  const Level level = open_.back();
  open_.pop_back();
  if (level.empty) {
    if (level.begins != Place::line_begin) out_.append(" ");
    out_.append(nothing).append("\n");
  }
  place_ = Place::line_begin;
}

namespace detail {

CDI_INLINE Result<std::string> write_yaml_text(const void* self, const Type& type) {
  return detail::write_to(YamlSink{}, self, type);
}

}  // namespace detail

}  // namespace cdi

#endif  // CDI_TEXT_YAML_YAML_INL
