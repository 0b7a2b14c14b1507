// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/file.hpp>

#include "../temp_tree.hpp"

namespace {

const std::string good_json =
    R"({"cdiVersion":"1.0.0","kind":"v.com/c","devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})";
const std::string good_yaml =
    "cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: [A=1]\n";

cdi::Spec good_spec() {
  return {.version = "1.0.0",
          .kind = "v.com/c",
          .devices = {{.name = "d", .container_edits = {.env = {"A=1"}}}}};
}

}  // namespace

TEST_CASE("A spec is read as its format says, and JSON that is not valid as YAML with a warning") {
  using cdi::Format;
  struct {
    std::string text;
    Format format;
    std::size_t warnings;
  } const rows[] = {
      {good_json, Format::json, 0},
      {"\xEF\xBB\xBF" + good_json, Format::json, 0},
      {" \n\t" + good_json, Format::json, 0},
      {good_yaml, Format::yaml, 0},
      {"# note\n---\n" + good_yaml, Format::yaml, 0},
      {good_json, Format::yaml, 0},  // JSON is nearly YAML; this is both
      {"{cdiVersion: 1.0.0, kind: v.com/c, devices: [{name: d, containerEdits: {env: [A=1]}}]}",
       Format::yaml, 0},
      {good_yaml, Format::json, 1},
      {"# note\n" + good_json, Format::json, 1},
      {good_json.substr(0, good_json.size() - 1) + ",}", Format::json, 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "dir/name", row.format);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == good_spec());
    CHECK(loaded->path == "dir/name");
    CHECK(loaded->warnings.size() == row.warnings);
    for (const auto& warning : loaded->warnings) {
      CHECK(warning.rule == "json-syntax");
      CHECK(warning.position.file == "dir/name");
      CHECK(warning.message.starts_with("not valid JSON: "));
      CHECK(warning.message.ends_with("; read as YAML"));
    }
  }
}

TEST_CASE("JSON in a YAML file has what YAML has not") {
  auto text = good_json;
  text.replace(text.find("A=1"), 3, R"(A=\/\ud83d\ude00)");
  const auto loaded = cdi::parse_spec(text, "x.yaml", cdi::Format::yaml);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
  CHECK(loaded->spec.devices[0].container_edits.env[0] == "A=/\xF0\x9F\x98\x80");
}

TEST_CASE("What follows the first document is a warning, whatever it is") {
  for (const std::string rest : {"---\nother: document\n", "---\n[not closed", "...\n%x\n"}) {
    CAPTURE(rest);
    const auto loaded = cdi::parse_spec(good_yaml + rest, "f.yaml", cdi::Format::yaml);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == good_spec());
    REQUIRE(loaded->warnings.size() == 1);
    CHECK(loaded->warnings[0].rule == "single-document");
    CHECK(loaded->warnings[0].position.line == 8);
  }
  for (const std::string rest : {"---\n", "...\n# note\n", "\n\n"}) {
    CHECK(cdi::parse_spec(good_yaml + rest, "f.yaml", cdi::Format::yaml)->warnings.empty());
  }
}

TEST_CASE("What the Go reference does not take of a text is a warning that says what to write") {
  using cdi::Format;
  const auto with_value = [](std::string text, std::string_view value) {
    return text.replace(text.find("A=1"), 3, value);
  };
  const std::string refused = " refused by the Go reference, and so by most engines: ";
  const struct {
    std::string text;
    Format format;
    std::string warning;
  } rows[] = {
      {"%YAML 1.2\n---\n" + good_yaml, Format::yaml,
       "f:1:1: %YAML other than 1.1 is" + refused + "remove the line"},
      {good_yaml + "# [?] \xc2\x9b\n", Format::yaml,
       "f:7:7: U+009B is" + refused + "remove it, or write \\u009B in double quotes"},
      {with_value(good_yaml, "A=b?"), Format::yaml,
       "f:6:14: '?' in text inside brackets is" + refused + "put the text into quotes"},
      {with_value(good_json, "A=\x7f"), Format::json,
       "f:1:91: U+007F is" + refused + "remove it, or write \\u007F"},
      {with_value(good_json, "A=\xe2\x80\xa8"), Format::yaml,
       "f:1:91: U+2028 is taken for the end of a line by the Go reference, and so by most engines: "
       "remove it, or write \\u2028"},
      {with_value(good_json, "A=\\/"), Format::json, "f:1:91: \\/ is" + refused + "write / alone"},
      {with_value(good_json, "A=\\ud83d\\ude00"), Format::json,
       "f:1:91: two \\u for one character are" + refused + "write the character itself"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "f", row.format);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    REQUIRE(loaded->warnings.size() == 1);
    CHECK(loaded->warnings[0].rule == "portable-text");
    CHECK(to_string(loaded->warnings[0]) == row.warning);
  }
}

TEST_CASE("A member in another case is read, with a warning for the first") {
  const auto loaded = cdi::parse_spec(
      "cdiVersion: 0.7.0\nkind: v.com/c\ndevices: [{name: a, containerEdits: {additionalGIDs: [5], "
      "ENV: [A=1]}}]\n",
      "f", cdi::Format::yaml);
  REQUIRE(loaded);
  CHECK(loaded->spec.devices[0].container_edits.additional_gids.size() == 1);
  REQUIRE(loaded->warnings.size() == 1);
  CHECK(loaded->warnings[0].rule == "member-case");
  CHECK(cdi::to_string(loaded->warnings[0]) ==
        "f:3:38: additionalGIDs: since 1.1.1 the Go reference refuses names of members in "
        "another case: write \"additionalGids\"");
}

TEST_CASE("Errors of shape and of rules carry path, line and column") {
  struct {
    std::string text;
    cdi::Errc code;
    std::string message;  // how it begins
  } const rows[] = {
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdit: {}\n",
       cdi::Errc::schema, "f.yaml:5:3: devices[0].containerEdit: unknown field"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: 5\n",
       cdi::Errc::schema, "f.yaml:6:10: devices[0].containerEdits.env: expected a list, not 5"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- \n", cdi::Errc::schema,
       "f.yaml:4:1: devices[0]: expected an object, not null"},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices:\n- name: d\n  containerEdits:\n    env: [A=1, "
       "B]\n",
       cdi::Errc::invalid, "f.yaml:6:16: devices[0].containerEdits.env[1]: invalid environment"},
      {"cdiVersion: 1.0.0\nkind: v.com\ndevices: []\n", cdi::Errc::invalid_name,
       "f.yaml:2:7: kind: kind \"v.com\" has no slash"},
      {"cdiVersion: 9.0.0\nkind: v.com/c\ndevices: []\n", cdi::Errc::invalid,
       "f.yaml:1:13: cdiVersion: unknown version \"9.0.0\""},
      {"cdiVersion: 1.0.0\nkind: v.com/c\ndevices: []\n", cdi::Errc::invalid,
       "f.yaml:3:10: devices: the spec has no devices"},
      {"{\n  \"cdiVersion\": \"1.0.0\",\n  \"kind\": 1,\n  \"devices\": {}\n}", cdi::Errc::schema,
       "f.yaml:4:14: devices: expected a list, not an object"},
      {"a: [\n", cdi::Errc::syntax, "f.yaml:"},
      {"", cdi::Errc::syntax, "f.yaml:1:1: the text is empty"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "f.yaml", cdi::Format::yaml);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == row.code);
    const auto found = to_string(loaded.error());
    CAPTURE(found);
    CHECK(found.starts_with(row.message));
  }
}

TEST_CASE("A JSON file that is neither JSON nor YAML gets the error of JSON") {
  const auto loaded = cdi::parse_spec("{\"cdiVersion\": \"1.0.0\",\n", "f.json", cdi::Format::json);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == cdi::Errc::syntax);
  CHECK(loaded.error().message.find("not valid JSON") != std::string::npos);
  CHECK(loaded.error().position.file == "f.json");
}

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

TEST_CASE("What is no readable spec file is refused with its path, and nothing waits for a FIFO") {
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
  const Nobody nobody;
  if (!nobody) return;
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
      {.path = "/d", .major = std::numeric_limits<std::int64_t>::max(), .file_mode = 0}};
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

TEST_CASE("Control characters survive the way through either format") {
  for (const std::string text : {"A=\x7f", "A=\r"}) {
    auto spec = good_spec();
    spec.devices[0].container_edits.env = {text};
    for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
      const auto written = cdi::write_spec(spec, format);
      REQUIRE(written);
      const auto loaded = cdi::parse_spec(*written, "f", format);
      CHECK_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
      if (loaded) CHECK(loaded->spec == spec);
    }
  }
}

namespace {

/// A good spec of release 0.3.0 with more items for its list of devices, from line 6 on.
std::string spec_with(std::string_view items) {
  return "cdiVersion: 0.3.0\nkind: v.com/c\ndevices:\n- name: good\n  containerEdits: {env: "
         "[A=1]}\n" +
         std::string{items};
}

cdi::Result<cdi::LoadedSpec> parse(const std::string& text, bool quarantine) {
  return cdi::parse_spec(text, "f.yaml", cdi::Format::yaml, {.quarantine_devices = quarantine});
}

std::vector<std::string> devices_of(const cdi::LoadedSpec& loaded) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < loaded.spec.devices.size(); ++i) {
    names.push_back(loaded.spec.devices[i].name + ":" + std::to_string(loaded.lines.at(i)));
  }
  return names;
}

std::vector<std::string> quarantined_of(const cdi::LoadedSpec& loaded) {
  std::vector<std::string> texts;
  for (const auto& one : loaded.quarantined) texts.push_back(one.name + ": " + to_string(one.why));
  return texts;
}

/// Reads a file again after each `wait()`, whatever the time.
template <class Wait>
cdi::detail::FileState read_patiently(const std::string& path, const Wait& wait,
                                      const cdi::detail::FileState& before = {}) {
  const cdi::ReadOptions options{.patience = std::chrono::hours{1}};
  return cdi::detail::read_spec_at(AT_FDCWD, path, path, 7, options, before, wait);
}

}  // namespace

TEST_CASE("Devices know their lines, in every layout") {
  using Lines = std::vector<std::uint32_t>;
  struct {
    std::string text;
    Lines lines;
  } const rows[] = {
      {good_json, {1}},
      {good_yaml, {4}},
      {"# note\n\n" + good_yaml, {6}},
      {"kind: v.com/c\nDevices:\n\n-\n  name: a\n  containerEdits: {env: [A=1]}\n\n- "
       "containerEdits: {env: [A=1]}\n  name: b\ncdiVersion: 1.0.0\n",
       {5, 8}},
      {"{\"cdiVersion\":\"1.0.0\",\r\n\"kind\":\"v.com/c\",\r\n\"devices\":[\r\n{\"name\":\"a\","
       "\"containerEdits\":{\"env\":[\"A=1\"]}},\r\n\r\n{\"name\":\"b\",\"containerEdits\":{"
       "\"env\":["
       "\"A=1\"]}}]}",
       {4, 6}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "f.yaml", cdi::Format::yaml);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->lines == row.lines);
  }
}

TEST_CASE("One bad device costs the file, or only itself when that is asked for") {
  const auto text = spec_with(
      "- name: odd\n"
      "  new: {}\n"
      "- name: 0new\n"
      "  containerEdits: {env: [A=1]}\n"
      "- name: last\n"
      "  containerEdits: {env: [A=1]}\n");
  const auto whole = parse(text, false);
  REQUIRE_FALSE(whole);
  CHECK(to_string(whole.error()).starts_with("f.yaml:7:3: devices[1].new: unknown field"));

  const auto loaded = parse(text, true);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
  CHECK(devices_of(*loaded) == std::vector<std::string>{"good:4", "last:10"});
  const auto bad = quarantined_of(*loaded);
  REQUIRE(bad.size() == 2);
  CHECK(bad[0].starts_with("odd: f.yaml:7:3: devices[1].new: unknown field"));
  CHECK(bad[1].starts_with("0new: f.yaml:8:9: devices[2].name: version \"0.3.0\" is too old"));
  CHECK(loaded->fault == nullptr);

  CHECK(parse(spec_with(""), true)->quarantined.empty());
}

TEST_CASE("Faults of the spec itself refuse the file, whatever its devices are") {
  const std::string bad_device = "- name: bad\n";
  auto with = [&](std::string_view what, std::string_view instead) {
    auto text = spec_with(bad_device);
    return text.replace(text.find(what), what.size(), instead);
  };
  struct {
    std::string text;
    std::string error;  // how it begins
  } const rows[] = {
      {with("v.com/c", "v.com"), "f.yaml:"},
      {with("0.3.0", "9.0.0"), "f.yaml:"},
      {with("cdiVersion: 0.3.0\n", ""), "f.yaml:"},
      {with("v.com/c", "v.com/c.d"), "f.yaml:"},  // needs 0.6.0
      {spec_with(bad_device + "new: {}\n"), "f.yaml:"},
      {spec_with(bad_device + "containerEdits: {env: [A]}\n"), "f.yaml:"},
      {spec_with(bad_device + "Devices: []\n"), "f.yaml:"},
      {spec_with(bad_device + "- name: [\n"), "f.yaml:"},
      {"cdiVersion: 0.3.0\nkind: v.com/c\ndevices: [{name: a}, {name: b}]\n",
       "f.yaml:3:11: devices[0].containerEdits: the field is missing"},
      {"cdiVersion: 0.3.0\nkind: v.com/c\ndevices: []\n", "f.yaml:3:10: devices: the spec has no"},
      {"cdiVersion: 0.3.0\nkind: v.com/c\ndevices: {name: a}\n",
       "f.yaml:3:10: devices: expected a list"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = parse(row.text, true);
    REQUIRE_FALSE(loaded);
    const auto found = to_string(loaded.error());
    CAPTURE(found);
    CHECK(found.starts_with(row.error));
    CHECK(loaded.error().position.line != 0);
  }
}

TEST_CASE("Both devices of one name are left out") {
  const auto item = [](std::string_view name) {
    return "- {name: " + std::string{name} + ", containerEdits: {env: [A=1]}}\n";
  };
  const auto text = spec_with(item("a") + item("b") + item("a"));
  CHECK(parse(text, false).error().rule == "device-name-unique");
  const auto loaded = parse(text, true);
  REQUIRE(loaded);
  CHECK(devices_of(*loaded) == std::vector<std::string>{"good:4", "b:7"});
  REQUIRE(loaded->quarantined.size() == 2);
  CHECK(loaded->quarantined[0].why.position.line == 6);
  CHECK(loaded->quarantined[1].why.position.line == 8);
}

TEST_CASE("The digest is of the bytes of the file, quarantine or not") {
  const auto digest = +[](std::string_view bytes) {
    return "<" + std::string{bytes} + ">";
  };
  const auto bad = spec_with("- name: bad\n");
  for (const auto& text : {good_yaml, "\xEF\xBB\xBF" + good_json, bad}) {
    CAPTURE(text);
    const auto loaded = cdi::parse_spec(text, "f", cdi::Format::yaml,
                                        {.quarantine_devices = true, .digest = digest});
    REQUIRE(loaded);
    CHECK(loaded->digest == "<" + text + ">");
  }
  CHECK(cdi::parse_spec(good_yaml, "f", cdi::Format::yaml)->digest.empty());
}

TEST_CASE("A file that others may write is refused only when asked for") {
  const TempTree dir;
  put_file(dir / "a.json", good_json);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0646) == 0);
  CHECK(cdi::read_spec_file(dir / "a.json"));
  const auto refused = cdi::read_spec_file(dir / "a.json", {.refuse_writable = true});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == cdi::Errc::refused);
  CHECK(to_string(refused.error()).starts_with(dir / "a.json: others may write the file: mode 06"));
  REQUIRE(::chmod((dir / "a.json").c_str(), 0644) == 0);
  CHECK(cdi::read_spec_file(dir / "a.json", {.refuse_writable = true}));
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
  CHECK(loaded.error().message == "the file has more than 16777216 bytes");
}

TEST_CASE("A half-written file is read again until it is whole") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, "");
  std::size_t written = 0;
  const auto file = read_patiently(path, [&] {
    written += 20;
    put_file(path, good_json.substr(0, written));
    return true;
  });
  CHECK(written >= good_json.size());
  REQUIRE(file.spec);
  CHECK_FALSE(file.rejected);
  CHECK(file.spec->spec == good_spec());
  CHECK(file.spec->priority == 7);
}

TEST_CASE("A file that stays bad is told when there is no more time, one read after each wait") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, "{\"cdiVersion\": \"9.0.0\", \"kind\": \"v.com/c\", \"devices\": [{\"name\": \"d");
  int waits = 0;
  const auto file = read_patiently(path, [&] { return ++waits < 3; });
  CHECK(waits == 3);
  CHECK_FALSE(file.spec);
  REQUIRE(file.rejected);
  CHECK(file.rejected->why.code == cdi::Errc::syntax);
  CHECK(file.rejected->kind == "v.com/c");
  CHECK(file.rejected->devices == std::vector<std::string>{"d"});
  CHECK(file.rejected->needs_version == "9.0.0");

  // The same bytes as the last time: they were waited for then.
  const auto again = read_patiently(
      path, [&] { return ++waits < 10; }, file);
  CHECK(waits == 3);
  CHECK(again.rejected == file.rejected);
}

TEST_CASE("A file that goes away, or is good, is not waited for") {
  const TempTree dir;
  const auto never = [] {
    FAIL_CHECK("waited");
    return false;
  };
  put_file(dir / "good.json", good_json);
  CHECK(read_patiently(dir / "good.json", never).spec);
  CHECK(read_patiently(dir / "gone.json", never).rejected->why.system == ENOENT);
  CHECK(read_patiently(dir / "a.txt", never).rejected->why.code == cdi::Errc::invalid);

  put_file(dir / "bad.json", "{");
  const auto gone =
      read_patiently(dir / "bad.json", [&] { return ::unlink((dir / "bad.json").c_str()) == 0; });
  REQUIRE(gone.rejected);
  CHECK(gone.rejected->why.system == ENOENT);
}

TEST_CASE("Without patience a bad file is told at once") {
  const TempTree dir;
  put_file(dir / "a.json", "{");
  const auto file = cdi::detail::read_spec_at(AT_FDCWD, dir / "a.json", dir / "a.json", 0,
                                              {.patience = {}}, {}, [] {
                                                FAIL_CHECK("waited");
                                                return false;
                                              });
  REQUIRE(file.rejected);
  CHECK(file.rejected->why.code == cdi::Errc::syntax);
}

TEST_CASE("The same bytes are not parsed again, other bytes of the same size are") {
  const TempTree dir;
  const auto path = dir / "a.json";
  put_file(path, good_json);
  const auto once = [] {
    return false;
  };
  const auto first = read_patiently(path, once);
  REQUIRE(first.spec);
  put_file(path, good_json);
  CHECK(read_patiently(path, once, first).spec == first.spec);
  auto other = good_json;
  put_file(path, other.replace(other.find("A=1"), 3, "A=2"));
  const auto second = read_patiently(path, once, first);
  REQUIRE(second.spec);
  CHECK(second.spec->spec.devices[0].container_edits.env == std::vector<std::string>{"A=2"});
}
