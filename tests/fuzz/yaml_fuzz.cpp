// Parsing a YAML text takes bounded memory. The document reads back the same after a sink has
// written it, and is the same if the lines end with CR LF, and in UTF-16.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/unicode.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/yaml.hpp>

#include "fuzz.hpp"

namespace {

std::string with_crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.push_back('\r');
    out.push_back(c);
  }
  return out;
}

/// An ASCII text in UTF-16, with a byte order mark.
std::string utf16_of(std::string_view text) {
  std::string out = "\xFE\xFF";
  for (const char c : text) out.append(1, '\0').append(1, c);
  return out;
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

void require_same(const cdi::Result<cdi::Document>& expected, const std::string& text,
                  std::string_view property) {
  const auto document = fuzz::parse_within_memory(cdi::parse_yaml, text);
  fuzz::require(fuzz::is_read(document, text) == static_cast<bool>(expected), property,
                fuzz::fault_of(document) + fuzz::fault_of(expected));
  if (document) fuzz::require(fuzz::shown(*document) == fuzz::shown(*expected), property);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto document = fuzz::parse_within_memory(cdi::parse_yaml, text);
  const bool good = fuzz::is_read(document, text);
  const bool limit = !good && document.error().code == cdi::Errc::limit;
  const bool lf = text.find('\r') == text.npos && !cdi::detail::is_utf16(text);
  if (lf && !limit) {
    require_same(document, with_crlf(text), "lines may end with CR LF");
  }
  if (is_ascii(text) && !limit) require_same(document, utf16_of(text), "text may be UTF-16");
  if (!good) return 0;
  const auto value = fuzz::value_of(document->root());
  const auto yaml = fuzz::written(value, cdi::YamlSink{});
  const auto from_yaml = cdi::parse_yaml(yaml);
  fuzz::require(from_yaml && fuzz::is_same(value, fuzz::value_of(from_yaml->root())),
                "YAML reads back", yaml);
  const auto json = fuzz::written(value, cdi::JsonTextSink{});
  const auto from_json = cdi::parse_json(json);
  fuzz::require(from_json && fuzz::is_same(value, fuzz::value_of(from_json->root())),
                "JSON reads back", json);
  return 0;
}
