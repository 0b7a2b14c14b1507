// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

// Checks tables of inputs and results of functions of the Go reference.
//
//   tables DEVIATIONS TABLES...
//       each row must match or be listed in DEVIATIONS (table and inputs: reason)
//
// For errors, the check compares only whether there is one. It ignores the values that Go returns
// together with an error, which a Result does not have. There are no tables of ParseDevice and
// ParseQualifier, which split a name without checking it: a QualifiedName has only valid parts.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>

namespace {

using Json = nlohmann::json;
using Map = std::map<std::string, std::string>;
using Texts = std::vector<std::string>;

/// A value of type `T`; Go's nil is an empty value.
template <class T>
T get(const Json& row, const char* column) {
  return row[column].is_null() ? T{} : row[column].get<T>();
}
template <class T>
Json put(const T& value) {
  return value.empty() ? Json{} : Json(value);
}

Json prefix(const Json&) {
  return {{"prefix", cdi::annotation_prefix}};
}

Json parts(const Json& row) {
  using cdi::NamePart;
  const auto text = get<std::string>(row, "in");
  const auto refused = [&](bool good, NamePart part) {
    return !good && !cdi::name_error(part, text).message.empty();
  };
  return {{"validate_vendor_error", refused(cdi::is_vendor_name(text), NamePart::vendor)},
          {"validate_class_error", refused(cdi::is_class_name(text), NamePart::device_class)},
          {"validate_device_error", refused(cdi::is_device_name(text), NamePart::device)}};
}

Json names(const Json& row) {
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

Json spec_names(const Json& row) {
  const auto kind = get<std::string>(row, "kind");
  const auto name = cdi::spec_name(kind);
  const auto transient = cdi::transient_spec_name(kind, get<std::string>(row, "transient_id"));
  Json answers{{"error", !name}, {"transient_error", !transient}};
  if (name) answers["name"] = *name;
  if (transient) answers["transient_name"] = *transient;
  return answers;
}

Json annotation_key(const Json& row) {
  const auto key =
      cdi::annotation_key(get<std::string>(row, "plugin"), get<std::string>(row, "device_id"));
  if (!key) return {{"error", true}};
  return {{"error", false}, {"key", *key}};
}

Json annotation_value(const Json& row) {
  const auto value = cdi::annotation_value(get<Texts>(row, "devices"));
  if (!value) return {{"error", true}};
  return {{"error", false}, {"value", *value}};
}

Json update_annotations(const Json& row) {
  auto annotations = get<Map>(row, "in");
  const auto done =
      cdi::update_annotations(annotations, get<std::string>(row, "plugin"),
                              get<std::string>(row, "device_id"), get<Texts>(row, "devices"));
  return {{"error", !done}, {"out", put(annotations)}};
}

Json parse_annotations(const Json& row) {
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

const std::map<std::string, Table> tables{
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
std::string difference(const Json& row, const Json& answers) {
  for (const auto& [column, ours] : answers.items()) {
    const Json theirs = row.value(column, Json{});
    const Json expected =
        column.ends_with("error") ? Json(!theirs.is_null() && theirs != "") : theirs;
    if (ours != expected) return column + ": " + ours.dump() + ", not " + expected.dump();
  }
  return {};
}

class Check {
 public:
  explicit Check(Map listed) : listed_{std::move(listed)}, unseen_{listed_} {}

  void table(const std::string& name, const Json& rows) {
    const auto found = tables.find(name);
    if (found == tables.end()) return report(name, "unknown table");
    for (const auto& row : rows) {
      Json inputs = Json::array();
      for (const auto& column : found->second.inputs) inputs.push_back(row.at(column));
      compare(name + " " + inputs.dump(), difference(row, found->second.answers(row)));
    }
  }

  bool finish() {
    for (const auto& [id, reason] : unseen_) report(id, "is listed, but not in a table");
    std::cout << matching_ + deviating_ + wrong_ << " rows: " << matching_ << " match, "
              << deviating_ << " deviate as listed, " << wrong_ << " wrong\n";
    return wrong_ == 0 && matching_ != 0;
  }

 private:
  void compare(const std::string& id, const std::string& found) {
    unseen_.erase(id);
    if (found.empty() != listed_.contains(id)) {
      ++(found.empty() ? matching_ : deviating_);
    } else {
      report(id, found.empty() ? "matches, but is listed as a deviation" : found);
    }
  }
  void report(const std::string& id, const std::string& what) {
    ++wrong_;
    std::cout << id << ": " << what << '\n';
  }

  Map listed_;
  Map unseen_;
  int matching_ = 0;
  int deviating_ = 0;
  int wrong_ = 0;
};

Json read(const char* path) {
  std::ifstream in{path};
  return Json::parse(in);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: tables DEVIATIONS TABLES...\n";
    return 2;
  }
  Check check{read(argv[1]).get<Map>()};
  for (int i = 2; i < argc; ++i) {
    const Json file = read(argv[i]);
    for (const auto& [name, rows] : file.items()) {
      // A constant is a table of one row.
      check.table(name, rows.is_array() ? rows : Json::array({Json{{name, rows}}}));
    }
  }
  return check.finish() ? 0 : 1;
}
