// Checks tables of inputs and results of functions of the Go reference.
//
//   tables DEVIATIONS TABLES...
//       each row must match or be listed in DEVIATIONS (table and inputs: reason)
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tables.hpp"

#include <fstream>
#include <iostream>
#include <string>
#include <utility>

namespace {

using tables::Json;
using tables::Map;

class Check {
 public:
  explicit Check(Map listed) : listed_{std::move(listed)}, unseen_{listed_} {}

  void table(const std::string& name, const Json& rows) {
    const auto found = tables::all.find(name);
    if (found == tables::all.end()) return report(name, "unknown table");
    for (const auto& row : rows) {
      Json inputs = Json::array();
      for (const auto& column : found->second.inputs) inputs.push_back(row.at(column));
      compare(name + " " + inputs.dump(), tables::difference(row, found->second.answers(row)));
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
