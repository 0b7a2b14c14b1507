// Writes errors and warnings about files as SARIF 2.1.0, for code review services and editors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "sarif.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/validate.hpp>

#include "../../kit/base/release.hpp"

namespace {

using Json = nlohmann::ordered_json;  // SARIF is not a form of ours

/// A rule for errors that break none of the rules of specs.
struct OtherRule {
  cdi::Errc code;
  std::string_view id;
  std::string_view demand;
};

constexpr OtherRule other_rules[] = {
    {cdi::Errc::syntax, "syntax", "the text is JSON or YAML"},
    {cdi::Errc::schema, "schema", "members are known, given where required, and of the right type"},
    {cdi::Errc::limit, "limit", "the file does not exceed the limits of its size and depth"},
    {cdi::Errc::unsupported, "unsupported",
     "the text has neither the tag !!binary nor members that newer versions lack"},
    {cdi::Errc::conflict, "conflict", "no two files of one directory define the same device"},
    {cdi::Errc::denied, "denied", "other users may not write the file"},
    {cdi::Errc::not_found, "file-ignored", "programs read the file"},
    {cdi::Errc::host, "mounted-node", "no mount is of a device node of this host"},
    {cdi::Errc::system, "unreadable", "the file can be read"},
    {cdi::Errc::invalid, "invalid", "the file can be used"},
};

std::string_view sarif_rule(const cdi::Error& error) {
  if (!error.rule.empty()) return error.rule;
  for (const auto& row : other_rules) {
    if (row.code == error.code) return row.id;
  }
  return "invalid";
}

Json sarif_rules() {
  Json rules = Json::array();
  const auto add = [&](std::string_view id, std::string_view demand, std::string_view level) {
    rules.push_back({{"id", id},
                     {"shortDescription", {{"text", demand}}},
                     {"defaultConfiguration", {{"level", level}}}});
  };
  for (const auto& row : cdi::rules) {
    add(row.code, row.demand, row.severity == cdi::Severity::error ? "error" : "warning");
    rules.back()["properties"] = {{"source", row.source}};
  }
  for (const auto& row : other_rules) add(row.id, row.demand, "error");
  return rules;
}

/// A path as a URI: relative, or `file:///...`.
std::string uri_of(std::string_view path) {
  std::string uri{path.starts_with('/') ? "file://" : ""};
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view{"/-._~"}.find(c) != std::string_view::npos;
    if (plain) {
      uri.append(1, c);
    } else {
      uri.append(fmt::format("%{:02X}", static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

Json sarif_location(const cdi::Error& error) {
  const auto& at = error.position;
  Json physical{{"artifactLocation", {{"uri", uri_of(at.file)}}}};
  if (at.line != 0) physical["region"] = {{"startLine", at.line}};
  if (at.line != 0 && at.column != 0) physical["region"]["startColumn"] = at.column;
  Json location{{"physicalLocation", std::move(physical)}};
  if (!error.where.empty()) location["logicalLocations"] = {{{"fullyQualifiedName", error.where}}};
  return location;
}

}  // namespace

std::uint32_t character_column(std::string_view text, const cdi::Position& at) {
  for (std::uint32_t line = 1; line < at.line; ++line) {
    const auto end = text.find('\n');
    if (end == text.npos) return at.column;
    text.remove_prefix(end + 1);
  }
  const auto before = text.substr(0, at.column - 1);
  const auto is_first_byte = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  return 1 + static_cast<std::uint32_t>(std::count_if(before.begin(), before.end(), is_first_byte));
}

std::string sarif_of(const std::vector<Finding>& findings) {
  Json rules = sarif_rules();
  Json results = Json::array();
  for (const auto& [level, error] : findings) {
    Json result{{"ruleId", sarif_rule(error)},
                {"level", level},
                {"message", {{"text", cdi::detail::advised_message(error)}}}};
    result["locations"] = Json::array();
    if (!error.position.file.empty()) result["locations"].push_back(sarif_location(error));
    results.push_back(std::move(result));
  }
  Json driver{{"name", "cdi"}, {"version", tools::release_version()}, {"rules", std::move(rules)}};
  Json run{{"tool", {{"driver", std::move(driver)}}},
           {"columnKind", "unicodeCodePoints"},
           {"results", std::move(results)}};
  const Json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({std::move(run)})}};
  return log.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}
