// Writes arguments from a form and values.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "write_form.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <cdi/base/shell_word.hpp>

namespace {

std::string with_backslashes(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string in_octal(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool special = c == ' ' || c == '\t' || c == '\n' || c == '\\';
    if (special) out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    if (!special) out += c;
  }
  return out;
}

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string out{"\""};
  for (const char c : field) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string requoted(const std::string& value) {
  const bool quoted = value.size() > 1 && value.front() == '\'' && value.back() == '\'';
  return quoted ? "'" + value + "'" : value;
}

std::string escaped_value(const std::string& value, Escape escape) {
  switch (escape) {
    case Escape::backslash: return with_backslashes(value);
    case Escape::octal: return in_octal(value);
    case Escape::quotes: return requoted(value);
    case Escape::shell: return shell_argument(value);
    case Escape::none:
    case Escape::csv:   // its fields are quoted
    case Escape::line:  // its lines are quoted
      break;
  }
  return value;
}

/// Puts the values into a text.
std::string filled(std::string_view text, const FormValues& values, Escape escape) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text[at] == '{' ? text.find('}', at) : std::string_view::npos;
    const auto* const value =
        end == std::string_view::npos ? nullptr : values.find(text.substr(at + 1, end - at - 1));
    if (value == nullptr) {
      out += text[at++];
    } else {
      out += escaped_value(*value, escape);
      at = end + 1;
    }
  }
  return out;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// Puts the values into a word or line of a form.
std::string filled_part(std::string_view text, const FormValues& values, Escape escape) {
  if (escape == Escape::csv) {
    std::string out;
    for (const auto field : parts(text, ',')) {
      out += out.empty() ? "" : ",";
      out += csv_field(filled(field, values, escape));
    }
    return out;
  }
  auto out = filled(text, values, escape);
  const auto equals = out.find(" = ");  // which each line has
  if (escape == Escape::line &&
      std::string_view{" \t\r"}.find(out.back()) != std::string_view::npos) {
    out.insert(equals + 3, "\"").append("\"");
  }
  return out;
}

}  // namespace

std::string& FormValues::operator[](std::string_view name) {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [&](const Value& value) { return value.first == name; });
  return found == values_.end() ? values_.emplace_back(name, "").second : found->second;
}

const std::string* FormValues::find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return &value;
  }
  return nullptr;
}

std::string shell_argument(std::string_view text) {
  const auto dashes = text.find_first_not_of('-');  // `shell_word` takes them for options
  if (dashes == std::string_view::npos && !text.empty()) return std::string{text};
  auto rest = text.substr(text.empty() ? 0 : dashes);
  const auto end = rest.find_last_not_of('\n');  // a shell strips them from what printf prints
  const auto newlines = rest.substr(end == std::string_view::npos ? 0 : end + 1);
  rest.remove_suffix(newlines.size());
  std::string word;
  if (!rest.empty() || text.empty()) word = cdi::shell_word(rest);
  word.insert(word.starts_with('\'') ? 1 : 0, text.substr(0, text.empty() ? 0 : dashes));
  if (!newlines.empty()) word.append("'").append(newlines).append("'");
  return word;
}

std::vector<std::string> write_form(const Form& form, Shape shape, const FormValues& values) {
  std::vector<std::string> out;
  for (const auto part : parts(form.text, shape == Shape::words ? ' ' : '\n')) {
    // Text that is not one word of an edit, such as `c 1:3 rwm`, is a field of its own.
    const bool is_value = part.starts_with('{') && part.find('}') == part.size() - 1;
    const auto escape =
        is_value && form.carrier.escape == Escape::csv ? Escape::none : form.carrier.escape;
    out.push_back(filled_part(part, values, escape));
  }
  return out;
}

const Form* choose_form(const Forms& forms, const FormValues& values, char& obstacle) {
  for (const auto& form : forms) {
    if (!form) continue;
    const auto found = detail::obstacle(form, values);
    if (!found) return &form;
    obstacle = *found;
  }
  return nullptr;
}

namespace detail {

std::optional<char> obstacle(const Form& form, const FormValues& values) {
  if (form.carrier.cannot.empty()) return std::nullopt;
  for (const auto& [name, value] : values) {
    if (form.text.find(fmt::format("{{{}}}", name)) == std::string_view::npos) continue;
    auto at = value.find_first_of(form.carrier.cannot);
    // Options have commas between them, as the program wants them.
    while (name == "options" && at != std::string::npos && value[at] == ',') {
      at = value.find_first_of(form.carrier.cannot, at + 1);
    }
    if (at != std::string::npos) return value[at];
  }
  return std::nullopt;
}

}  // namespace detail
