// Finds devices of a spec file that older engines know under other names.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/scalar.hpp>
#include <cdi/text/yaml11_scalar.hpp>
#include <cdi/validate.hpp>
#include <cdi/yaml.hpp>

#include "../../kit/versions/engine_versions.hpp"

/// How an engine reads the name of a device.
struct OtherName {
  std::string read_as{};  // the device's name for the engine; empty if that is not a valid name
  cdi::Error why{};
};

/// A fraction as the Go library writes it: the shortest text that gives the same `float`, with an
/// exponent if that is less than -4, or 6 or more; `+Inf` if it is too large.
inline std::string go_fraction(const std::string& number) {
  const float value = std::strtof(number.c_str(), nullptr);
  std::string text;
  int digits = 0;  // after the first
  for (; digits < 9; ++digits) {
    text = fmt::format("{:.{}e}", value, digits);
    if (std::strtof(text.c_str(), nullptr) == value) break;
  }
  const auto e = text.find('e');
  if (e == std::string::npos) return "+Inf";
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 6) return text;
  return fmt::format("{:.{}f}", value, std::max(digits - exponent, 0));
}

/// The text that the Go library up to 1.1.0 reads for an unquoted text that it changes.
inline std::string text_in_yaml_1_1(std::string_view plain) {
  if (const auto truth = cdi::detail::parse_boolean(plain)) return *truth ? "true" : "false";
  std::string digits{plain};
  std::erase(digits, '_');
  auto rest = digits;
  const bool whole =
      cdi::detail::take_base(rest) != 10 || digits.find_first_not_of("0123456789") == digits.npos;
  const auto number = cdi::detail::parse_integer(plain);
  const bool fits = number.state == cdi::detail::Integer::State::whole && !number.negative;
  return whole && fits ? std::to_string(number.magnitude) : go_fraction(digits);
}

/// The other names of a file's devices for an engine, by name: an engine may read the unquoted name
/// 010 as 8. Reads the file again, since a spec has only the names.
inline std::map<std::string, OtherName> other_names(const tools::VersionedEngine& engine,
                                                    const std::string& file) {
  std::map<std::string, OtherName> out;
  const auto* const row = tools::find_engine_versions(engine);
  if (row == nullptr || row->parser != tools::SpecParser::sigs_yaml) return out;
  const auto text = cdi::read_file(file);
  if (!text) return out;
  const auto document = cdi::parse_yaml(*text, file);
  if (!document) return out;
  const auto devices = cdi::detail::find_member(document->root(), "devices");
  if (!devices) return out;
  for (const auto device : devices->items()) {
    const auto name = cdi::detail::find_member(device, "name");
    if (!name || name->kind() != cdi::Document::Kind::plain) continue;
    if (!cdi::detail::is_other_text_in_yaml_1_1(name->text())) continue;
    auto read_as = text_in_yaml_1_1(name->text());
    if (read_as == name->text()) continue;
    auto message = fmt::format("{} reads {} as {}", to_string(engine), cdi::escaped(name->text()),
                               cdi::quoted(read_as));
    if (!cdi::is_device_name(read_as)) read_as.clear();
    out.emplace(std::string{name->text()},
                OtherName{.read_as = std::move(read_as),
                          .why = {.code = cdi::Errc::invalid,
                                  .message = std::move(message),
                                  .advice = "put it in quotes",
                                  .position = name->position(),
                                  .rule = row_of(cdi::Rule::portable_text).code}});
  }
  return out;
}

/// Why the Go library rejects a file because of the names that it reads: one is not valid, or two
/// are equal; nullopt if it accepts the file.
inline std::optional<cdi::Error> rejected_name(const cdi::Spec& spec,
                                               const std::map<std::string, OtherName>& others) {
  std::map<std::string, const cdi::Error*> known;  // with why the device has this name
  for (const auto& device : spec.devices) {
    const auto other = others.find(device.name);
    const auto* const why = other == others.end() ? nullptr : &other->second.why;
    const auto& name = why == nullptr ? device.name : other->second.read_as;
    const auto [same, is_new] = known.emplace(name, why);
    const auto* const fault = why == nullptr ? same->second : why;
    if (fault == nullptr || (is_new && !name.empty())) continue;
    auto error = *fault;
    error.message += name.empty() ? ", which is not a device name" : ", as another device is named";
    return error;
  }
  return std::nullopt;
}
