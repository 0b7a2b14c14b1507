// Tests for include/cdi/publish/owner_record.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/publish/owner_record.hpp>
#include <cdi/publish/publish.hpp>

#include "../../support/publisher_tree.hpp"

namespace {

using cdi::DryRun;
using cdi::Publisher;

}  // namespace

TEST_CASE("The given version is kept, and the owner is recorded where that version allows it") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  struct {
    std::string name;
    std::string given;
    std::string written;
    bool in_comment;
  } const rows[] = {{"a.yaml", "0.3.0", "0.3.0", true},  {"a.yaml", "v0.5.0", "v0.5.0", true},
                    {"a.yaml", "0.6.0", "0.6.0", false}, {"a.yaml", "1.1.0", "1.1.0", false},
                    {"a.json", "0.6.0", "0.6.0", false}, {"a.json", "v1.1.0", "v1.1.0", false},
                    {"a.yaml", "", "0.3.0", true},       {"a.json", "", "0.6.0", false}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.given);
    auto spec = spec_of("d");
    spec.version = row.given;
    spec.annotations = {{std::string{cdi::owner_annotation}, "other"}};
    REQUIRE(publisher.write(row.name, spec));
    CHECK(report(publisher.write(row.name, spec)) == "unchanged " + row.name);
    CHECK(*publisher.files() == std::vector{row.name});
    const auto loaded = cdi::read_spec_file(dir / row.name);
    REQUIRE(loaded);
    CHECK(loaded->spec.version == row.written);
    const auto text = cdi::read_file(dir / row.name);
    REQUIRE(text);
    CHECK(text->starts_with("# cdi-publisher/owner: me\n") == row.in_comment);
    CHECK(loaded->spec.annotations.contains(std::string{cdi::owner_annotation}) != row.in_comment);
    CHECK(contains(report(Publisher("other", dir.path()).write(row.name, spec)),
                   "the file records owner \"me\""));
    CHECK(contains(report(Publisher("other", dir.path()).remove(row.name)),
                   "the file records owner \"me\""));
    CHECK(report(publisher.remove(row.name)) == "removed " + row.name);
  }
}

TEST_CASE("An empty version becomes the oldest version that holds the spec") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  auto spec = spec_of("0");
  spec.version.clear();
  const auto written = [&](const std::string& name) {
    const auto done = publisher.reconcile({{name, spec}});
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE(loaded);
    return loaded->spec.version;
  };
  CHECK(written("a.yaml") == "0.5.0");  // for the digit that the name begins with
  CHECK(written("a.json") == "0.6.0");
  spec.container_edits.additional_gids = {44};
  CHECK(written("a.yaml") == "0.7.0");
  CHECK(written("a.json") == "0.7.0");
  spec.container_edits.additional_gids.clear();
  spec.annotations = {{"kept", "1"}};
  CHECK(written("a.yaml") == "0.6.0");
}

TEST_CASE("A JSON file of a version without annotations is refused") {
  const TempDir dir;
  auto spec = spec_of("d");
  spec.version = "0.5.0";
  const auto done = Publisher("me", dir.path()).write("a.json", spec);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::unsupported);
  CHECK(done.error().position.file == dir / "a.json");
  CHECK(contains(done.error().message, "version \"0.5.0\" cannot record its owner"));
  CHECK(dir.names().empty());
}

TEST_CASE("The error of a version that is too old names the given version") {
  const TempDir dir;
  auto spec = spec_of("d");
  spec.version = "0.5.0";
  spec.container_edits.additional_gids = {44};
  const auto reported = report(Publisher("me", dir.path()).write("a.yaml", spec));
  CHECK(contains(reported, "\"0.5.0\""));
  CHECK_FALSE(contains(reported, "\"0.6.0\""));
}

TEST_CASE("A comment counts in the first line only, and an annotation overrides it") {
  const TempDir dir;
  const std::string comment = "# cdi-publisher/owner: me\n";
  const std::string spec = "kind: v.com/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n";
  const Publisher publisher{"me", dir.path()};
  dir.put("a.yaml", "cdiVersion: 0.3.0\n" + comment + spec);
  CHECK(contains(report(publisher.remove("a.yaml")), "records no owner"));
  dir.put("a.yaml",
          comment + "cdiVersion: 0.6.0\nannotations: {cdi-publisher/owner: other}\n" + spec);
  CHECK(contains(report(publisher.remove("a.yaml")), "records owner \"other\""));
  dir.put("a.yaml", comment + "cdiVersion: 0.3.0\n" + spec);
  CHECK(report(publisher.remove("a.yaml")) == "removed a.yaml");
}

TEST_CASE("An owner in the first line counts with any line end, in YAML files only") {
  const TempDir dir;
  const std::string comment = "# cdi-publisher/owner: me";
  const std::string former = "# Written by cdi-prepare, which will replace or remove it.";
  const std::string spec =
      "cdiVersion: 0.5.0\nkind: v.com/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n";
  struct {
    std::string owner;
    std::string line;
    bool is_own;
  } const rows[] = {{"me", comment + "\n", true},           {"me", comment + "\r\n", true},
                    {"me", comment + "\r\r\n", false},      {"me", comment + "r\n", false},
                    {"cdi-prepare", former + "\n", true},   {"cdi-prepare", former + "\r\n", true},
                    {"cdi-prepare", former + "x\n", false}, {"me", former + "\n", false}};
  for (const auto& row : rows) {
    CAPTURE(row.line);
    const Publisher publisher{row.owner, dir.path()};
    put_file(dir / "a.yaml", row.line + spec);
    CHECK(publisher.files()->size() == (row.is_own ? 1 : 0));
    CHECK(report(publisher.write("a.yaml", spec_of("d"), DryRun::yes)).starts_with("replaced") ==
          row.is_own);
    CHECK(report(publisher.prune({})) == (row.is_own ? "removed a.yaml" : ""));
    put_file(dir / "a.json", row.line + spec);
    CHECK(publisher.files()->empty());
    const auto pruned = publisher.prune({});
    REQUIRE(pruned);
    CHECK(pruned->files.empty());
    CHECK(pruned->unreadable.size() == (row.is_own ? 1 : 0));
    const auto written = publisher.write("a.json", spec_of("d"));
    REQUIRE_FALSE(written);
    CHECK(written.error().code == cdi::Errc::conflict);
    CHECK(contains(report(written), "JSON files have no comments") == row.is_own);
    CHECK(get_file(dir / "a.json") == row.line + spec);
  }
}
