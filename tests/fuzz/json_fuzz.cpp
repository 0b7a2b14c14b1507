// `parse_json` accepts the same texts as nlohmann, with the same values, except for duplicate keys,
// limits, NUL, and numbers that a double cannot hold. Parsing takes bounded memory, the document
// reads back from both sinks, and `parse_yaml`, if it accepts the text, reads the same values.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <cdi/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/yaml.hpp>

#include "fuzz.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Kind = cdi::Document::Kind;

Json json_of(const cdi::Document::Value& value) {
  switch (value.kind()) {
    case Kind::null: return nullptr;
    case Kind::plain: return Json::parse(value.text());
    case Kind::quoted: return std::string{value.text()};
    case Kind::list: {
      Json out = Json::array();
      for (const auto item : value.items()) out.push_back(json_of(item));
      return out;
    }
    case Kind::map: break;
  }
  Json out = Json::object();
  for (const auto [key, member] : value.members()) {
    out[std::string{key.text()}] = json_of(member);
  }
  return out;
}

/// The values that nlohmann reads; false if a number is too large for it.
bool peer_reads(std::string_view text, Json& out) {
  try {
    out = Json::parse(text);
    return true;
  } catch (const Json::out_of_range&) {
    return false;
  } catch (const Json::parse_error& error) {
    fuzz::require(false, "nlohmann reads what parse_json reads", error.what());
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto document = fuzz::parse_within_memory(cdi::parse_json, text);
  if (!fuzz::is_read(document, text)) {
    const bool compare = document.error().code == cdi::Errc::syntax && text.find('\0') == text.npos;
    fuzz::require(!compare || !Json::accept(text), "parse_json reads what nlohmann reads",
                  to_string(document.error()));
    return 0;
  }
  Json peer;
  if (peer_reads(text, peer)) {
    fuzz::require(peer == json_of(document->root()), "parse_json and nlohmann read the same");
  }
  const auto value = fuzz::value_of(document->root());
  const auto json = fuzz::written(value, cdi::JsonTextSink{});
  const auto again = cdi::parse_json(json);
  fuzz::require(again && fuzz::shown(*again) == fuzz::shown(*document), "JSON reads back", json);
  if (document->root().is_null()) return 0;  // a YAML text that is only a null is refused as empty
  const auto yaml = fuzz::written(value, cdi::YamlSink{});
  const auto from_yaml = cdi::parse_yaml(yaml);
  fuzz::require(from_yaml && fuzz::is_same(value, fuzz::value_of(from_yaml->root())),
                "YAML reads back", yaml);
  if (const auto same = cdi::parse_yaml(text)) {
    fuzz::require(fuzz::shown(*same) == fuzz::shown(*document), "both readers read the same");
  }
  return 0;
}
