// Tests for include/cdi/rules/rules.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/rules/rules.hpp>

TEST_CASE("Codes of rules are words with dashes between, each once") {
  std::set<std::string_view> codes;
  for (const auto& row : cdi::rules) {
    CAPTURE(row.code);
    CHECK(codes.insert(row.code).second);
    CHECK(row.code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(row.code.find('-') != std::string_view::npos);
    CHECK_FALSE(row.demand.empty());
    CHECK_FALSE(row.source.empty());
  }
}

TEST_CASE("A rule finds its row") {
  CHECK(cdi::row_of(cdi::Rule::version_known).code == "version-known");
  CHECK(cdi::row_of(cdi::Rule::hook_path_absolute).code == "hook-path-absolute");
  CHECK(cdi::row_of(cdi::Rule::json_syntax).code == "json-syntax");
}

TEST_CASE(
    "What is only doubtful is no error, and what the reference never looks at one to writers") {
  for (const auto& row : cdi::rules) {
    CAPTURE(row.code);
    const bool doubtful = row.code.ends_with("-length") || row.code.ends_with("-absolute") ||
                          row.code == "kind-vendor-dns" || row.code == "hook-timeout-positive" ||
                          row.code == "gid-zero" || row.code == "json-syntax" ||
                          row.code == "env-name" || row.code == "single-document" ||
                          row.code == "portable-text" || row.code == "member-case" ||
                          row.code == "mount-bind" || row.code == "node-number-size";
    CHECK((row.severity == cdi::Severity::warning) == doubtful);
    const bool never_looked_at =
        row.code.starts_with("annotation-") || row.code == "version-earlier-devices";
    CHECK((row.severity == cdi::Severity::write_error) == never_looked_at);
  }
}
