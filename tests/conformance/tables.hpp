// Functions of this library, for tables.cpp and the fuzz targets, which compare their results with
// the Go reference. Each takes a row, an object with the arguments.
//
// For errors, only whether there is one is compared. The values that Go returns together with an
// error, which a Result does not have, are ignored. There are no functions for ParseDevice and
// ParseQualifier, which split a name without checking it: a QualifiedName has only valid parts.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>

namespace tables {

using Json = nlohmann::json;
using Map = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

/// A value of type `T`; Go's nil is an empty value.
template <class T>
T get(const Json& row, const char* column) {
  return row[column].is_null() ? T{} : row[column].get<T>();
}
template <class T>
inline Json put(const T& value) {
  return value.empty() ? Json{} : Json(value);
}

inline Json prefix(const Json&) {
  return {{"prefix", cdi::annotation_prefix}};
}

inline Json parts(const Json& row) {
  using cdi::NamePart;
  const auto text = get<std::string>(row, "in");
  const auto refused = [&](bool good, NamePart part) {
    return !good && !cdi::name_error(part, text).message.empty();
  };
  return {{"validate_vendor_error", refused(cdi::is_vendor_name(text), NamePart::vendor)},
          {"validate_class_error", refused(cdi::is_class_name(text), NamePart::device_class)},
          {"validate_device_error", refused(cdi::is_device_name(text), NamePart::device)}};
}

inline Json names(const Json& row) {
  Json answers = parts(row);
  const auto text = get<std::string>(row, "in");
  const auto name = cdi::parse_name(text);
  answers["is_qualified_name"] = name.has_value();
  answers["error"] = !name && !cdi::qualified_name_error(text).message.empty();
  if (name) {
    answers["parse_qualified_name"] = Json::array({name->vendor, name->device_class, name->device});
  }
  return answers;
}

inline Json spec_names(const Json& row) {
  const auto kind = get<std::string>(row, "kind");
  const auto name = cdi::spec_name(kind);
  const auto transient = cdi::transient_spec_name(kind, get<std::string>(row, "transient_id"));
  Json answers{{"error", !name}, {"transient_error", !transient}};
  if (name) answers["name"] = *name;
  if (transient) answers["transient_name"] = *transient;
  return answers;
}

inline Json annotation_key(const Json& row) {
  const auto key =
      cdi::annotation_key(get<std::string>(row, "plugin"), get<std::string>(row, "device_id"));
  if (!key) return {{"error", true}};
  return {{"error", false}, {"key", *key}};
}

inline Json annotation_value(const Json& row) {
  const auto value = cdi::annotation_value(get<Texts>(row, "devices"));
  if (!value) return {{"error", true}};
  return {{"error", false}, {"value", *value}};
}

inline Json update_annotations(const Json& row) {
  auto annotations = get<Map>(row, "in");
  const auto done =
      cdi::update_annotations(annotations, get<std::string>(row, "plugin"),
                              get<std::string>(row, "device_id"), get<Texts>(row, "devices"));
  return {{"error", !done}, {"out", put(annotations)}};
}

inline Json parse_annotations(const Json& row) {
  auto parsed = cdi::parse_annotations(get<Map>(row, "in"));
  if (!parsed) return {{"error", true}};
  std::sort(parsed->devices.begin(), parsed->devices.end());
  return {{"error", false},
          {"keys_sorted", put(parsed->keys)},
          {"devices_sorted", put(parsed->devices)}};
}

struct Table {
  Texts inputs;                  // the columns with the arguments of the function
  Json (*answers)(const Json&);  // the results of this library, for the other columns
};

inline const std::map<std::string, Table> all{
    {"prefix", {{}, prefix}},
    {"names", {{"in"}, names}},
    {"parts", {{"in"}, parts}},
    {"spec_names", {{"kind", "transient_id"}, spec_names}},
    {"annotation_key", {{"plugin", "device_id"}, annotation_key}},
    {"annotation_value", {{"devices"}, annotation_value}},
    {"update_annotations", {{"in", "plugin", "device_id", "devices"}, update_annotations}},
    {"parse_annotations", {{"in"}, parse_annotations}},
};

/// The first difference between a row and our results; empty if there is none.
inline std::string difference(const Json& row, const Json& answers) {
  for (const auto& [column, ours] : answers.items()) {
    const Json theirs = row.value(column, Json{});
    const Json expected =
        column.ends_with("error") ? Json(!theirs.is_null() && theirs != "") : theirs;
    if (ours != expected) return column + ": " + ours.dump() + ", not " + expected.dump();
  }
  return {};
}

}  // namespace tables
