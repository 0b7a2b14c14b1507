// Tests for include/cdi/files/file.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/rules/validate.hpp>

#include "../../support/good_spec.hpp"
#include "../../support/temp_tree.hpp"

TEST_CASE("Spec files are read; links are followed") {
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  put_file(dir / "b.yaml", good_yaml);
  put_file(dir / "plain", good_json);
  REQUIRE(::symlink("plain", (dir / "link.json").c_str()) == 0);
  for (const std::string name : {"a.json", "b.yaml", "link.json"}) {
    CAPTURE(name);
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE(loaded);
    CHECK(loaded->spec == good_spec());
    CHECK(loaded->path == dir / name);
  }
}

TEST_CASE(
    "Other files than readable spec files are refused with their path, and a FIFO does not block") {
  const TempTree dir;
  put_file(dir / "a.txt", good_json);
  REQUIRE(::mkdir((dir / "dir.json").c_str(), 0700) == 0);
  REQUIRE(::mkfifo((dir / "fifo.json").c_str(), 0600) == 0);
  REQUIRE(::symlink("gone", (dir / "dangling.json").c_str()) == 0);
  REQUIRE(::symlink("loop.json", (dir / "loop.json").c_str()) == 0);
  REQUIRE(::symlink("/dev/zero", (dir / "endless.json").c_str()) == 0);
  struct {
    std::string name;
    cdi::Errc code;
    int system;
  } const rows[] = {
      {"missing.json", cdi::Errc::system, ENOENT},
      {"dir.json", cdi::Errc::system, EISDIR},
      {"fifo.json", cdi::Errc::system, EINVAL},
      {"dangling.json", cdi::Errc::system, ENOENT},
      {"loop.json", cdi::Errc::system, ELOOP},
      {"endless.json", cdi::Errc::system, EINVAL},
      {"a.txt", cdi::Errc::invalid, 0},
      {"no/dir.json", cdi::Errc::system, ENOENT},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto loaded = cdi::read_spec_file(dir / row.name);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == row.code);
    CHECK(loaded.error().system == row.system);
    CHECK(loaded.error().position.file == dir / row.name);
  }
}

TEST_CASE("A file without permission is refused") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0) == 0);
  const auto loaded = cdi::read_spec_file(dir / "a.json");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().system == EACCES);
}

TEST_CASE("A file over the limit is refused, one at the limit is read") {
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  CHECK(cdi::read_spec_file(dir / "a.json", {.limits = {.bytes = good_json.size()}}));
  const auto loaded =
      cdi::read_spec_file(dir / "a.json", {.limits = {.bytes = good_json.size() - 1}});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == cdi::Errc::limit);
  CHECK(loaded.error().position.file == dir / "a.json");

  put_file(dir / "big", std::string(100'000, 'x'));
  CHECK(cdi::read_file(dir / "big", 100'000)->size() == 100'000);
  CHECK_FALSE(cdi::read_file(dir / "big", 99'999));
  put_file(dir / "empty", "");
  CHECK(cdi::read_file(dir / "empty", 0)->empty());
}

TEST_CASE("A spec is written in the format of the name, and read back the same") {
  const TempTree dir;
  auto spec = good_spec();
  for (const auto* text : {"A=", "A=007", "A==", "A=yes: no # -", "A=\xC3\xA9\xF0\x9F\x98\x80",
                           "A=\t\n\r \x01\x1b", "A=\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF", "A=\"'\\"}) {
    spec.devices[0].container_edits.env.emplace_back(text);
  }
  spec.devices[0].name = "007";
  spec.devices[0].container_edits.additional_gids = {std::numeric_limits<std::uint32_t>::max()};
  spec.devices[0].container_edits.device_nodes = {
      {.path = "/d", .major = 4095, .minor = (1 << 20) - 1, .file_mode = 0}};
  for (const std::string name : {"a.json", "a.yaml"}) {
    CAPTURE(name);
    const auto done = cdi::write_spec_file(dir / name, spec);
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == spec);
    CHECK(loaded->warnings.empty());
    CHECK(get_file(dir / name).ends_with("\n"));
    CHECK(mode_of(dir / name) == 0644);
  }
  CHECK(get_file(dir / "a.json").starts_with("{"));
  CHECK(get_file(dir / "a.yaml").starts_with("---\n"));
}

TEST_CASE("A spec that is not valid is refused and nothing is written") {
  const TempTree dir;
  put_file(dir / "old.json", "old");
  auto empty = good_spec();
  empty.devices.clear();
  auto kind = good_spec();
  kind.kind = "v.com";
  auto bytes = good_spec();
  bytes.devices[0].container_edits.env = {"A=\xff"};
  auto annotation = good_spec();
  annotation.annotations["a b"] = "";
  CHECK(cdi::validate(annotation));  // a reader would put up with it
  struct {
    cdi::Spec spec;
    std::string path;
    cdi::Errc code;
  } const rows[] = {
      {empty, dir / "old.json", cdi::Errc::invalid},
      {kind, dir / "old.json", cdi::Errc::invalid_name},
      {bytes, dir / "old.json", cdi::Errc::invalid},
      {annotation, dir / "old.json", cdi::Errc::invalid},
      {bytes, dir / "new.yaml", cdi::Errc::invalid},
      {empty, dir / "new.yaml", cdi::Errc::invalid},
      {good_spec(), dir / "new.yml", cdi::Errc::invalid},
      {good_spec(), dir / "new", cdi::Errc::invalid},
      {good_spec(), "", cdi::Errc::invalid},
  };
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto done = cdi::write_spec_file(row.path, row.spec);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == row.code);
    CHECK(done.error().position.file == row.path);
    CHECK(get_file(dir / "old.json") == "old");
    CHECK(dir.names() == std::set<std::string>{"old.json"});
  }
}

TEST_CASE("No descriptor is left open, whatever the outcome") {
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  put_file(dir / "bad.json", "{");
  const auto before = open_files();
  for (const std::string name : {"a.json", "bad.json", "missing.json", "."}) {
    CHECK(cdi::read_spec_file(dir / name).has_value() == (name == "a.json"));
    CHECK(cdi::write_spec_file(dir / name, good_spec()).has_value() == (name != "."));
  }
  CHECK(open_files() == before);
}

TEST_CASE("A file that other users may write is refused only on request") {
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0646) == 0);
  CHECK(cdi::read_spec_file(dir / "a.json"));
  const auto rejected = cdi::read_spec_file(dir / "a.json", {.reject_writable = true});
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().code == cdi::Errc::denied);
  CHECK(to_string(rejected.error())
            .starts_with(dir / "a.json: other users may write to the file: mode 06"));
  REQUIRE(::chmod((dir / "a.json").c_str(), 0644) == 0);
  CHECK(cdi::read_spec_file(dir / "a.json", {.reject_writable = true}));
}

TEST_CASE("A file over the limit is not read, however large it is") {
  const TempTree dir;
  put_file(dir / "a.json", "");
  if (::truncate((dir / "a.json").c_str(), off_t{1} << 40) != 0) {
    MESSAGE("skipped 'the file system has no files of a tebibyte'");
    return;
  }
  const auto loaded = cdi::read_spec_file(dir / "a.json");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == cdi::Errc::limit);
  CHECK(loaded.error().message == "the file is larger than 16777216 bytes");
}
