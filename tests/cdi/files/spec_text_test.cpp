// Tests for include/cdi/files/spec_text.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/spec_errors.hpp>
#include <cdi/files/spec_text.hpp>

#include "../../support/good_spec.hpp"

namespace {

/// A good spec of CDI version 0.3.0 with more items for its list of devices, from line 6 on.
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
    names.push_back(loaded.spec.devices[i].name + ":" +
                    std::to_string(loaded.device_positions.at(i).line));
  }
  return names;
}

std::vector<std::string> quarantined_of(const cdi::LoadedSpec& loaded) {
  std::vector<std::string> texts;
  for (const auto& one : loaded.quarantined) texts.push_back(one.name + ": " + to_string(one.why));
  return texts;
}

}  // namespace

TEST_CASE("A spec is read in its format, and invalid JSON as YAML with a warning") {
  using cdi::Format;
  struct {
    std::string text;
    Format format;
    std::size_t warnings;
  } const rows[] = {
      {good_json, Format::json, 0},
      {"\xEF\xBB\xBF" + good_json, Format::json, 0},
      {" \n  " + good_json, Format::json, 0},
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

TEST_CASE("JSON in a YAML file is read as JSON") {
  auto text = good_json;
  text.replace(text.find("A=1"), 3, R"(A=\/\ud83d\ude00)");
  const auto loaded = cdi::parse_spec(text, "x.yaml", cdi::Format::yaml);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
  CHECK(loaded->spec.devices[0].container_edits.env[0] == "A=/\xF0\x9F\x98\x80");
}

TEST_CASE("Text after the first document is a warning") {
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

TEST_CASE("Text behind a spec that ends too early is a warning that names what ends it") {
  using cdi::Format;
  std::string indented = "  ";
  for (const char c : good_yaml) indented.append(1, c).append(c == '\n' ? "  " : "");
  const struct {
    std::string text;
    Format format;
    std::uint32_t line;
    std::string message;
  } rows[] = {
      {good_json + "\n\"containerEdits\": {\"env\": [\"B=2\"]}}", Format::json, 2,
       "text after the closing brace is not read"},
      {good_json + "\n}", Format::yaml, 2, "text after the closing brace is not read"},
      {indented + "\ncontainerEdits: {env: [B=2]}\n", Format::yaml, 8,
       "text that is indented less than the preceding members is not read"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto loaded = cdi::parse_spec(row.text, "f", row.format);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    CHECK(loaded->spec == good_spec());
    const auto& warning = loaded->warnings.back();
    CHECK(warning.rule == "single-document");
    CHECK(warning.code == cdi::Errc::syntax);
    CHECK(warning.position.line == row.line);
    CHECK(warning.message == row.message);
    CHECK(warning.advice.ends_with(", or remove the text"));
  }
  const auto bad = cdi::parse_spec(good_json + "- ", "f.yaml", Format::yaml);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("unexpected text after the document") != std::string::npos);
}

TEST_CASE("Text that the Go reference refuses is a warning that says what to write") {
  using cdi::Format;
  const auto with_value = [](std::string text, std::string_view value) {
    return text.replace(text.find("A=1"), 3, value);
  };
  const std::string rejected = " rejected by the Go reference, and thus by most engines: ";
  const struct {
    std::string text;
    Format format;
    std::string warning;
  } rows[] = {
      {"%YAML 1.2\n---\n" + good_yaml, Format::yaml,
       "f:1:1: %YAML other than 1.1 is" + rejected + "remove the line"},
      {good_yaml + "# [?] \xc2\x9b\n", Format::yaml,
       "f:7:7: U+009B is" + rejected + "remove it, or write \\u009B in double quotes"},
      {with_value(good_yaml, "A=b?"), Format::yaml,
       "f:6:14: '?' in text inside brackets is" + rejected + "put the text in quotes"},
      {with_value(good_json, "A=\x7f"), Format::json,
       "f:1:91: U+007F is" + rejected + "remove it, or write \\u007F"},
      {with_value(good_json, "A=\xe2\x80\xa8"), Format::yaml,
       "f:1:91: U+2028 is read as a line break by the Go reference, and thus by most engines: "
       "remove it, or write \\u2028"},
      {" \n\t" + good_json, Format::json,
       "f:2:1: a tab at the start of a line outside the braces is" + rejected + "remove it"},
      {"# note\n\t\n" + good_yaml, Format::yaml,
       "f:2:1: a tab at the beginning of a blank line or comment is rejected by most releases of "
       "the Go library, and thus by most engines: remove it"},
      {with_value(good_json, "A=\\/"), Format::json, "f:1:91: \\/ is" + rejected + "write / alone"},
      {with_value(good_json, "A=\\ud83d\\ude00"), Format::json,
       "f:1:91: two \\u escapes for one character are" + rejected + "write the character itself"},
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
        "f:3:38: additionalGIDs: names of members in another case are rejected by the Rust crate "
        "and by engines with the Go library 1.1.1 (buildkit 0.34.0, containerd 2.4.0, "
        "nvidia-container-runtime 1.20.1 and newer): write \"additionalGids\"");
}

TEST_CASE("Text without quotes that older engines read as another text is a warning, once") {
  const std::string text =
      "cdiVersion: 0.6.0\nkind: vendor.com/c\ndevices:\n"
      "- name: 010\n  containerEdits:\n    hooks: [{hookName: prestart, path: /x, timeout: 010, "
      "args: [yes, 1.0]}]\n";
  const auto loaded = cdi::parse_spec(text, "x.yaml", cdi::Format::yaml);
  REQUIRE(loaded);
  CHECK(loaded->spec.devices[0].name == "010");
  REQUIRE(loaded->warnings.size() == 1);
  CHECK(cdi::to_string(loaded->warnings[0]) ==
        "x.yaml:4:9: 010 is read as a different text by engines with the Go library 1.1.0 or older "
        "(only buildkit 0.34.0, containerd 2.4.0, nvidia-container-runtime 1.20.1 and newer use "
        "1.1.1): "
        "put it in quotes");
  CHECK(loaded->warnings[0].rule == "portable-text");
}

TEST_CASE("A key without quotes that older engines read as another text is a warning") {
  for (const auto* const key : {"yes", "010"}) {
    const auto loaded =
        cdi::parse_spec("cdiVersion: 0.6.0\nkind: vendor.com/c\nannotations: {" + std::string{key} +
                            ": a}\ndevices:\n- {name: a, containerEdits: {env: [A=1]}}\n",
                        "f", cdi::Format::yaml);
    REQUIRE(loaded);
    REQUIRE(loaded->warnings.size() == 1);
    CHECK(cdi::to_string(loaded->warnings[0]).starts_with("f:3:15: " + std::string{key} + " is"));
  }
}

TEST_CASE("A boolean in quotes that older engines refuse is a warning") {
  const auto loaded = cdi::parse_spec(
      "cdiVersion: 1.1.0\nkind: v.com/c\ndevices:\n- name: a\n  containerEdits:\n"
      "    intelRdt: {enableMonitoring: 'yes'}\n",
      "f", cdi::Format::yaml);
  REQUIRE(loaded);
  REQUIRE(loaded->warnings.size() == 1);
  CHECK(cdi::to_string(loaded->warnings[0]) ==
        "f:6:34: \"yes\" is rejected by engines with the Go library 1.1.0 or older (only buildkit "
        "0.34.0, containerd 2.4.0, nvidia-container-runtime 1.20.1 and newer use 1.1.1): write "
        "true or false");
}

TEST_CASE("Schema errors and rule errors have path, line and column") {
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

TEST_CASE("Control characters are kept in either format") {
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
    std::vector<std::uint32_t> lines;
    for (const auto& place : loaded->device_positions) lines.push_back(place.line);
    CHECK(lines == row.lines);
  }
}

TEST_CASE("One invalid device rejects the file, or only itself on request") {
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
  CHECK(loaded->last_error == nullptr);

  CHECK(parse(spec_with(""), true)->quarantined.empty());
}

TEST_CASE("Errors of the spec itself reject the file, whatever its devices are") {
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
       "f.yaml:3:11: devices[0].containerEdits: the required field is missing"},
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

TEST_CASE("A device that takes too much memory is left out") {
  std::string mounts = "{}";
  for (int i = 0; i < 100'000; ++i) mounts += ",{}";
  const auto text = spec_with("- {name: big, containerEdits: {mounts: [" + mounts + "]}}\n");
  CHECK(parse(text, false).error().code == cdi::Errc::limit);
  const auto loaded = parse(text, true);
  REQUIRE(loaded);
  CHECK(devices_of(*loaded) == std::vector<std::string>{"good:4"});
  REQUIRE(loaded->quarantined.size() == 1);
  CHECK(loaded->quarantined[0].why.code == cdi::Errc::limit);
}

TEST_CASE("A kind is too long if the names of all devices would fill the memory") {
  const auto spec_of = [](int devices) {
    std::string text =
        "cdiVersion: 0.3.0\nkind: v.com/" + std::string(50'000, 'c') + "\ndevices:\n";
    for (int i = 0; i < devices; ++i) {
      text += "- {name: d" + std::to_string(i) + ", containerEdits: {env: [A=1]}}\n";
    }
    return text;
  };
  CHECK(parse(spec_of(50), false));
  const auto text = spec_of(2000);  // the names take 100 MB
  for (const bool quarantine : {false, true}) {
    const auto loaded = parse(text, quarantine);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == cdi::Errc::limit);
    CHECK(to_string(loaded.error()).starts_with("f.yaml:2:7: kind: the names of all devices"));
  }
  const auto errors = cdi::spec_errors(text, "f.yaml", cdi::Format::yaml);
  REQUIRE(errors.size() == 1);
  CHECK(to_string(errors.front()).starts_with("f.yaml:2:7: kind: the names of all devices"));
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

// Once, the search for a device passed all others: this would run into a timeout.
TEST_CASE("The places of many devices") {
  constexpr std::size_t count = 200'000;
  std::string text = R"({"cdiVersion": "0.5.0", "kind": "v.com/c", "devices": [)";
  for (std::size_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "\n" : ",\n").append(R"({"name": "d)").append(std::to_string(i));
    text.append(R"(", "containerEdits": {"env": ["A=1"]}})");
  }
  const auto spec = cdi::parse_spec(text + "]}", "f", cdi::Format::json);
  REQUIRE(spec);
  for (std::size_t i = 0; i < count; ++i) {
    const auto device = "devices[" + std::to_string(i) + "]";
    REQUIRE(spec->locate(device).line == i + 2);
    REQUIRE(spec->locate(device + ".containerEdits.env[0]").line == i + 2);
  }
  CHECK(spec->locate("devices[1].containerEdits").column == 34);
  CHECK(spec->locate("devices[200000].name").line == 1);
  CHECK(spec->locate("devices[x]").line == 1);
}

TEST_CASE("The text of a spec records an owner where its version allows it") {
  const auto loaded = parse(spec_with(""), false);
  REQUIRE(loaded);
  auto spec = loaded->spec;
  const auto plain = cdi::write_spec(spec, cdi::Format::yaml);
  REQUIRE(plain);
  CHECK(*cdi::write_spec(spec, cdi::Format::yaml, "me") == "# cdi-publisher/owner: me\n" + *plain);
  CHECK(*cdi::write_spec(spec, cdi::Format::yaml, "") == *plain);
  const auto json = cdi::write_spec(spec, cdi::Format::json, "me");
  REQUIRE_FALSE(json);
  CHECK(json.error().code == cdi::Errc::unsupported);
  CHECK(cdi::write_spec(spec, cdi::Format::yaml, "m\ne").error().code == cdi::Errc::invalid);

  spec.version = "0.6.0";
  for (const auto format : {cdi::Format::json, cdi::Format::yaml}) {
    const auto text = cdi::write_spec(spec, format, "me");
    REQUIRE(text);
    const auto again = cdi::parse_spec(*text, "f", format);
    REQUIRE(again);
    CHECK(again->owner_comment.empty());
    CHECK(again->owner() == "me");
  }
}
