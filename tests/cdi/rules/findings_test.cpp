// Tests for include/cdi/rules/findings.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/findings.hpp>
#include <cdi/rules/validate.hpp>

#include "checked_specs.hpp"

using cdi::Spec;
using cdi::detail::Findings;
using cdi::detail::MemberPath;

TEST_CASE("The first error counts, and warnings until then") {
  std::vector<cdi::Error> warnings;
  Findings findings{&warnings, cdi::ValidateFor::reading};
  findings.note(cdi::Rule::gid_zero, {nullptr, "a"}, "warning");
  CHECK_FALSE(findings.stopped());
  findings.note(cdi::Rule::env_entry, {nullptr, "b"}, "first");
  CHECK(findings.stopped());
  findings.note(cdi::Rule::env_entry, {nullptr, "c"}, "second");
  findings.note(cdi::Rule::gid_zero, {nullptr, "d"}, "late");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].where == "a");
  CHECK(warnings[0].rule == "gid-zero");
  const auto result = std::move(findings).take();
  REQUIRE_FALSE(result);
  CHECK(result.error().where == "b");
  CHECK(result.error().message == "first");
}

TEST_CASE("All errors are kept if they are asked for, up to a limit") {
  std::vector<cdi::Error> warnings;
  std::vector<cdi::Error> every;
  Findings findings{&warnings, cdi::ValidateFor::reading, &every};
  findings.note(cdi::Rule::env_entry, {nullptr, "a"}, "first");
  findings.note(cdi::Rule::gid_zero, {nullptr, "b"}, "warning");
  findings.note(cdi::Rule::env_entry, {nullptr, "c"}, "second");
  CHECK_FALSE(findings.stopped());
  REQUIRE(every.size() == 2);
  CHECK(every[0].where == "a");
  CHECK(every[1].where == "c");
  CHECK(warnings.size() == 1);
  for (std::size_t i = 2; i < 2 * cdi::max_errors; ++i) {
    findings.note(cdi::Rule::env_entry, {nullptr, "d"}, "more");
  }
  CHECK(findings.stopped());
  CHECK(every.size() + 1 == cdi::max_errors);  // the last one is what `take` returns
  CHECK_FALSE(std::move(findings).take());
}

TEST_CASE("A rule on writing is a warning to a reader") {
  for (const auto purpose : {cdi::ValidateFor::reading, cdi::ValidateFor::writing}) {
    Findings findings{nullptr, purpose};
    findings.note(cdi::Rule::annotation_key, {}, "key");
    CHECK(findings.stopped() == (purpose == cdi::ValidateFor::writing));
  }
}

TEST_CASE("After an error, no further item of a list is checked") {
  Findings findings{nullptr, cdi::ValidateFor::reading};
  std::string checked;
  const MemberPath root;
  cdi::detail::check_each("list", std::string{"abc"}, root, findings,
                          [&](char item, const MemberPath& at) {
                            checked += item;
                            if (item == 'b') findings.note(cdi::Rule::env_entry, at, "bad");
                          });
  CHECK(checked == "ab");
  CHECK(std::move(findings).take().error().where == "list[1]");
}

TEST_CASE("Warnings come in the order of the document, also those before an error") {
  Spec spec = whole_spec();
  edits_of(spec).hooks = {{.hook_name = "prestart", .path = "h", .timeout = -5},
                          {.hook_name = "prestart", .path = "/h", .env = {"A"}}};
  std::vector<cdi::Error> warnings;
  const auto good = cdi::validate(spec, &warnings);
  REQUIRE_FALSE(good);
  REQUIRE(warnings.size() == 2);
  CHECK(to_string(warnings[0]) ==
        R"(containerEdits.hooks[0].path: path "h" is not absolute: it must begin with /)");
  CHECK(to_string(warnings[1]) ==
        "containerEdits.hooks[0].timeout: invalid timeout of -5 seconds: use "
        "1 or more, or omit it for no timeout");
}

TEST_CASE("Only the first of many warnings are given") {
  Spec spec = whole_spec();
  edits_of(spec).additional_gids.assign(200'000, 0);
  std::vector<cdi::Error> warnings;
  CHECK(cdi::validate(spec, &warnings));
  REQUIRE(warnings.size() == cdi::max_warnings);
  CHECK(warnings.back().where == "containerEdits.additionalGids[99]");
  edits_of(spec).env = {"A"};
  CHECK_FALSE(cdi::validate(spec));
}
