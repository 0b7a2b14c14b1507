// Tests for include/cdi/registry/loaded_spec.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/spec_text.hpp>
#include <cdi/registry/loaded_spec.hpp>

namespace {

constexpr std::string_view text = R"(cdiVersion: 0.6.0
kind: v/c
devices:
  - name: a
    containerEdits: {env: [A=1]}
  - name: b
    containerEdits:
      env: [B=1]
      deviceNodes:
        - path: /dev/null
containerEdits:
  env: [C=1]
)";

struct Row {
  std::string_view where;
  std::uint32_t line;
  std::uint32_t column;
};

void check_positions(const cdi::LoadedSpec& spec, const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.where);
    const auto place = spec.locate(row.where);
    CHECK(place.file == "/etc/cdi/a.yaml");
    CHECK(place.line == row.line);
    CHECK(place.column == row.column);
  }
}

/// Places of which each is line 7.
class Line7 final : public cdi::MemberPositions {
 public:
  cdi::Position locate(std::string_view) const override { return {"f", 7, 1}; }
  std::vector<cdi::LineColumn> positions_of(std::string_view) const override { return {}; }
};

int reads = 0;

/// The places of a spec whose text is not empty.
std::unique_ptr<const cdi::MemberPositions> count_reads(const cdi::LoadedSpec&,
                                                        const std::string& kept) {
  ++reads;
  return kept.empty() ? nullptr : std::make_unique<const Line7>();
}

}  // namespace

TEST_CASE("A spec that was changed knows the places of its devices and of its edits") {
  auto spec = cdi::parse_spec(text, "/etc/cdi/a.yaml", cdi::Format::yaml);
  REQUIRE(spec);
  spec->as_read = false;
  CHECK(spec->positions() == nullptr);
  check_positions(*spec, {{"devices[0]", 4, 5},
                          {"devices[1].containerEdits.deviceNodes[0].path", 6, 5},
                          {"devices[2]", 0, 0},
                          {"devices[x]", 0, 0},
                          {"devices[", 0, 0},
                          {"containerEdits.env[0]", 12, 3},
                          {"kind", 0, 0},
                          {"", 0, 0}});
}

TEST_CASE("A spec that was read from a text knows the place of each member") {
  const auto spec = cdi::parse_spec(text, "/etc/cdi/a.yaml", cdi::Format::yaml);
  REQUIRE(spec);
  check_positions(*spec, {{"devices[0]", 4, 5},
                          {"devices[1].containerEdits.deviceNodes[0].path", 10, 17},
                          {"containerEdits.env[0]", 12, 9},
                          {"kind", 2, 7}});
}

TEST_CASE("Places are read when they are needed, and once, also for copies") {
  reads = 0;
  cdi::LoadedSpec spec{.as_read = true};
  spec.lazy_positions = std::make_shared<const cdi::detail::PositionsOfText>(count_reads, "text");
  auto copy = spec;
  copy.path = "another";  // the copy keeps what was found
  CHECK(reads == 0);
  CHECK(spec.locate("kind").line == 7);
  CHECK(copy.locate("kind").line == 7);
  CHECK(reads == 1);
  cdi::LoadedSpec lost{.as_read = true};
  lost.lazy_positions = std::make_shared<const cdi::detail::PositionsOfText>(count_reads);
  CHECK(lost.locate("kind").line == 0);
  CHECK(lost.locate("kind").line == 0);
  CHECK(reads == 2);
}

TEST_CASE("A spec made in code has no places in a file, also if it shares them with one") {
  reads = 0;
  cdi::LoadedSpec spec;
  spec.lazy_positions = std::make_shared<const cdi::detail::PositionsOfText>(count_reads, "text");
  CHECK(spec.positions() == nullptr);
  CHECK(reads == 0);
}

TEST_CASE("Several threads find the same places") {
  const auto spec = *cdi::parse_spec(text, "/etc/cdi/a.yaml", cdi::Format::yaml);
  const cdi::MemberPositions* found[4] = {};
  std::vector<std::thread> threads;
  for (auto& one : found) threads.emplace_back([&] { one = spec.positions(); });
  for (auto& thread : threads) thread.join();
  for (const auto* one : found) CHECK(one == spec.positions());
  CHECK(spec.locate("kind").line == 2);
}

TEST_CASE("A spec without its bad devices keeps the places of the file") {
  const auto spec =
      cdi::parse_spec(R"({"cdiVersion": "0.6.0", "kind": "v/c", "devices": [
  {"name": "-bad", "containerEdits": {"env": ["A=1"]}},
  {"name": "good", "containerEdits": {"env": ["B=1"]}}
]})",
                      "/etc/cdi/a.yaml", cdi::Format::json, {.quarantine_devices = true});
  REQUIRE(spec);
  REQUIRE(spec->spec.devices.size() == 1);
  check_positions(*spec, {{"devices[0].name", 3, 12}});
  CHECK(spec->device_positions == std::vector<cdi::LineColumn>{{3, 3}});
}

TEST_CASE("A spec that was made by hand knows its path only") {
  cdi::LoadedSpec spec{.path = "/etc/cdi/a.yaml"};
  spec.spec.devices.resize(1);
  check_positions(spec, {{"devices[0]", 0, 0}, {"containerEdits", 0, 0}});
}

TEST_CASE("A spec knows the owner that its file records") {
  const auto owner = [](std::string_view before, std::string_view annotations,
                        cdi::Format format = cdi::Format::yaml) {
    std::string all{before};
    all.append("{\"cdiVersion\": \"0.6.0\", \"kind\": \"v.com/c\", ").append(annotations);
    all.append("\"devices\": [{\"name\": \"d\", \"containerEdits\": {\"env\": [\"A=1\"]}}]}\n");
    const auto loaded = cdi::parse_spec(all, "a", format);
    REQUIRE(loaded);
    return std::string{loaded->owner()};
  };
  const std::string_view comment = "# cdi-publisher/owner: first\n";
  const std::string_view annotation = "\"annotations\": {\"cdi-publisher/owner\": \"second\"},";
  CHECK(owner("", "").empty());
  CHECK(owner(comment, "") == "first");
  CHECK(owner("", annotation) == "second");
  CHECK(owner(comment, annotation) == "second");
  CHECK(owner("", annotation, cdi::Format::json) == "second");
  // What is JSON by its name has no comments.
  CHECK(owner(comment, "", cdi::Format::json).empty());
  CHECK(owner(comment, "\"annotations\": {\"cdi-publisher/owner\": \"\"},") == "first");
  CHECK(owner(comment, "\"annotations\": {\"cdi-publisher/owner\": \"a\\nb\"},").empty());
  CHECK(owner("# cdi-publisher/owner: b\xC3\xA9\n", "").empty());
}

TEST_CASE("A device has the place where it begins, if its spec was read from a text") {
  const auto spec = cdi::parse_spec(text, "/etc/cdi/a.yaml", cdi::Format::yaml);
  REQUIRE(spec);
  const cdi::ResolvedDevice second{&*spec, &spec->spec.devices[1]};
  CHECK(second.index() == 1);
  CHECK(second.line() == 6);
  CHECK(second.position().column == 5);
  CHECK(second.position().file == "/etc/cdi/a.yaml");
  cdi::LoadedSpec made{.path = "made"};
  made.spec.devices.push_back({.name = "a"});
  const cdi::ResolvedDevice device{&made, &made.spec.devices[0]};
  CHECK(device.line() == 0);
  CHECK(device.position().file == "made");
}
