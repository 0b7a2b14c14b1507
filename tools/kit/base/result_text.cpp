// Results of tools as JSON and YAML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "result_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include <cdi/json.hpp>
#include <cdi/text/bytes.hpp>
#include <cdi/yaml.hpp>

namespace tools::detail {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// A text with U+FFFD in the place of each byte that is not UTF-8.
std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto size = cdi::detail::utf8_size(text);
    out += size == 0 ? replacement : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

/// A sink that takes any bytes as text.
template <cdi::Sink S>
class LenientSink : public S {
 public:
  using S::S;

  void key(std::string_view name) { S::key(as_utf8(name)); }
  void text(std::string_view value) {
    cdi::detail::is_utf8(value) ? S::text(value) : S::text(as_utf8(value));
  }
};

std::uint32_t code_point_of(std::string_view character) {
  std::uint32_t code = static_cast<unsigned char>(character[0]) & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 63U);
  return code;
}

/// A JSON text with escapes for all characters that are not ASCII, which only strings have.
std::string in_ascii(std::string text) {
  const auto is_ascii = [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  std::string out;
  for (std::string_view json{text}; !json.empty();) {
    const auto size = std::max<std::size_t>(cdi::detail::utf8_size(json), 1);
    const auto character = json.substr(0, size);
    json.remove_prefix(size);
    if (size == 1) {
      out += character;
      continue;
    }
    const auto code = code_point_of(character);
    if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10),
                         0xDC00 + (code & 0x3FF));
    }
  }
  return out;
}

template <cdi::Sink S>
std::string written(S sink, const void* self, const cdi::detail::Type& type) {
  cdi::detail::SinkOf<S> any{sink};
  cdi::detail::write_value(self, type, any);
  return std::move(sink).take();
}

}  // namespace

std::string json_text(const void* self, const cdi::detail::Type& type, int indent) {
  return in_ascii(written(LenientSink<cdi::JsonTextSink>{indent}, self, type)) + "\n";
}

std::string yaml_text(const void* self, const cdi::detail::Type& type) {
  return written(LenientSink<cdi::YamlSink>{}, self, type);
}

}  // namespace tools::detail

namespace tools {

namespace {

template <cdi::Sink S>
void write_value(const cdi::Document::Value& value, S& sink) {
  switch (value.kind()) {
    case cdi::Document::Kind::null: return sink.null();
    case cdi::Document::Kind::quoted: return sink.text(value.text());
    case cdi::Document::Kind::plain: {
      const auto text = value.text();
      const bool truth = text == "true";
      return truth || text == "false" ? sink.boolean(truth) : sink.number(text);
    }
    case cdi::Document::Kind::list:
      sink.begin_list();
      for (const auto item : value.items()) write_value(item, sink);
      return sink.end_list();
    case cdi::Document::Kind::map: break;
  }
  sink.begin_map();
  for (const auto [key, member] : value.members()) {
    sink.key(key.text());
    write_value(member, sink);
  }
  sink.end_map();
}

}  // namespace

cdi::Result<cdi::AnyValue> any_of_json(std::string_view text) {
  const auto document = cdi::parse_json(text);
  if (!document) return document.error();
  cdi::AnyValue value;
  cdi::detail::read_any(document->root(), &value, cdi::detail::table_of<cdi::AnyValue>());
  return value;
}

std::string indented_json(std::string_view text) {
  const auto document = cdi::parse_json(text);
  cdi::JsonTextSink sink;
  write_value(document->root(), sink);
  return std::move(sink).take() + "\n";
}

cdi::Result<std::string> yaml_of_json(std::string_view text, std::string_view file) {
  const auto document = cdi::parse_json(text, file);
  if (!document) return document.error();
  cdi::YamlSink sink;
  write_value(document->root(), sink);
  return std::move(sink).take();
}

}  // namespace tools
