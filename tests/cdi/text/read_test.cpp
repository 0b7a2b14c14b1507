// Tests for include/cdi/text/read.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/oci/process.hpp>
#include <cdi/oci/seccomp.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml/yaml.hpp>

namespace {

using cdi::Errc;

struct Narrow {
  std::int8_t tiny = 0;
  std::uint64_t wide = 0;

  static constexpr void fields(auto& list) {
    list("tiny", &Narrow::tiny);
    list("wide", &Narrow::wide);
  }
};

struct Part {
  static constexpr bool skips_unknown = true;
  std::string name{};

  static constexpr void fields(auto& list) { list("name", &Part::name, cdi::required); }
};

/// The error of reading a `T` from JSON text; empty when there is none.
template <class T>
std::string why_not(std::string_view text) {
  const auto value = cdi::read_json<T>(text);
  if (value) return "";
  CHECK(value.error().code == Errc::schema);
  return to_string(value.error());
}

TEST_CASE("An error names the path, line and column of the member, and what was expected") {
  struct Row {
    std::string text;
    std::string error;
  };
  const Row rows[] = {
      {"[]", "line 1:1: expected an object, not a list"},
      {R"({"mounts": {}})", "line 1:12: mounts: expected a list, not an object"},
      {R"({"mounts": [7]})", "line 1:13: mounts[0]: expected an object, not 7"},
      {"{\"mounts\": [\n null]}", "line 2:2: mounts[0]: expected an object, not null"},
      {R"({"env": ["A=1", null]})", "line 1:17: env[1]: expected text, not null"},
      {R"({"env": [[]]})", "line 1:10: env[0]: expected text, not a list"},
      {R"({"env": "A=1"})", R"(line 1:9: env: expected a list, not "A=1": write ["A=1"])"},
      {R"({"intelRdt": {"enableMonitoring": "true"}})",
       R"(line 1:35: intelRdt.enableMonitoring: expected true or false, not "true")"},
      {R"({"intelRdt": {"enableMonitoring": 1}})",
       "line 1:35: intelRdt.enableMonitoring: expected true or false, not 1"},
      {R"({"deviceNodes": [{"path": "/a", "major": "1"}]})",
       R"(line 1:42: deviceNodes[0].major: expected an integer, not "1": write 1 without quotes)"},
      {R"({"deviceNodes": [{"path": "/a", "major": "-1"}]})",
       R"(line 1:42: deviceNodes[0].major: expected an integer, not "-1": write -1 without quotes)"},
      {R"({"deviceNodes": [{"path": "/a", "major": "x"}]})",
       R"(line 1:42: deviceNodes[0].major: expected an integer, not "x")"},
      {R"({"additionalGids": 5})", "line 1:20: additionalGids: expected a list, not 5: write [5]"},
      {R"({"env": {}})", "line 1:9: env: expected a list, not an object"},
      {R"({"env": [{"A": 1}]})",
       R"(line 1:10: env[0]: expected text, not an object: put text with ": " in quotes)"},
      {R"({"env": [{}]})", "line 1:10: env[0]: expected text, not an object"},
      {R"({"intelRdt": {"enableMonitoring": []}})",
       "line 1:35: intelRdt.enableMonitoring: expected true or false, not a list"},
      {R"({"deviceNodes": [{"path": "/a", "major": 1.5}]})",
       "line 1:42: deviceNodes[0].major: expected an integer, not 1.5"},
      {R"({"deviceNodes": [{"path": "/a", "uid": true}]})",
       "line 1:40: deviceNodes[0].uid: expected an integer, not true"},
      {R"({"deviceNodes": [{"path": "/a", "uid": -1}]})",
       "line 1:40: deviceNodes[0].uid: expected a number from 0 to 4294967295, not -1"},
      {R"({"additionalGids": [0, 4294967296]})",
       "line 1:24: additionalGids[1]: expected a number from 0 to 4294967295, not 4294967296"},
      {"{\"deviceNodes\": [{\n  \"path\": \"/a\",\n  \"minor\": 9223372036854775808}]}",
       "line 3:12: deviceNodes[0].minor: expected a number from -9223372036854775808 to "
       "9223372036854775807, not 9223372036854775808"},
      {R"({"deviceNodes": [{"type": "c"}]})",
       "line 1:18: deviceNodes[0].path: the required field is missing: add it"},
      {R"({"deviceNodes": [{"path": null}]})",
       "line 1:27: deviceNodes[0].path: expected text, not null"},
      {R"({"netDevices": [{"hostInterfaceName": "a", "NAME": "b", "x": 1}]})",
       "line 1:57: netDevices[0].x: unknown field: use one of hostInterfaceName, name"},
      {R"({"netDevices": [{"x": null}]})",
       "line 1:18: netDevices[0].x: unknown field: use one of hostInterfaceName, name"},
      {"{\"env\": [],\n \"ENV\": []}",
       "line 2:2: ENV: the field appears twice, in different cases: remove one"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(why_not<cdi::ContainerEdits>(row.text) == row.error);
  }
  CHECK(why_not<cdi::Device>(R"({"name": "a", "containerEdits": {}, "annotations": {"k": []}})") ==
        "line 1:58: annotations.k: expected text, not a list");
  CHECK(why_not<cdi::Device>(R"({"name": "a", "annotations": [], "containerEdits": {}})") ==
        "line 1:30: annotations: expected an object, not a list");
  const auto yaml = cdi::read_yaml<cdi::ContainerEdits>("mounts: abc");
  CHECK(to_string(yaml.error()) == "line 1:9: mounts: expected a list, not \"abc\"");
  CHECK(why_not<cdi::oci::Process>(R"({"cwd": 1})") ==
        "line 1:9: cwd: expected text, not 1: put it in quotes");
  CHECK(why_not<cdi::oci::LinuxSyscall>(R"({"names": [], "action": null})") ==
        "line 1:25: action: expected text, not null");
}

TEST_CASE("Integers must be in the range of their member") {
  const auto good = cdi::read_json<Narrow>(R"({"tiny": -128, "wide": 9223372036854775807})");
  REQUIRE(good);
  CHECK(good->tiny == -128);
  CHECK(good->wide == 9223372036854775807U);
  CHECK(why_not<Narrow>(R"({"tiny": 128})") ==
        "line 1:10: tiny: expected a number from -128 to 127, not 128");
  CHECK(why_not<Narrow>(R"({"wide": -1})") ==
        "line 1:10: wide: expected a number from 0 to 18446744073709551615, not -1");
}

template <class T, class From>
concept ReadFrom = requires(From&& from) {
  cdi::read<T>(std::forward<From>(from));
};
static_assert(ReadFrom<cdi::Spec, cdi::Document>);
static_assert(ReadFrom<cdi::SpecView, const cdi::Document&>);
static_assert(!ReadFrom<cdi::SpecView, cdi::Document>);  // it would be gone before the view is used

TEST_CASE("An unsigned member can have any value of its range") {
  CHECK(why_not<Narrow>(R"({"wide": 18446744073709551615})") == "");
  const auto good = cdi::read_json<Narrow>(R"({"wide": 18446744073709551615})");
  CHECK(cdi::to_json_value(*good).dump() == R"({"wide":18446744073709551615})");
}

TEST_CASE("Null means absent, except for required members") {
  const auto edits = cdi::read_json<cdi::ContainerEdits>(
      R"({"env": null, "mounts": null, "intelRdt": null, "additionalGids": null,
          "deviceNodes": [{"path": "/a", "uid": null, "major": null, "type": null}]})");
  REQUIRE(edits);
  CHECK(*edits == cdi::ContainerEdits{.device_nodes = {{.path = "/a"}}});

  const auto device = cdi::read_json<cdi::Device>(
      R"({"name": "a", "annotations": {"k": null}, "containerEdits": {}})");
  REQUIRE(device);
  CHECK(device->annotations.at("k") == "");
  // Go writes an empty list as null, also where OCI requires the list.
  const auto call = cdi::read_json<cdi::oci::LinuxSyscall>(R"({"names": null, "action": "a"})");
  REQUIRE(call);
  CHECK(call->names.empty());

  const auto rdt = cdi::read_json<cdi::IntelRdt>(R"({"schemata": null})");
  REQUIRE(rdt);
  CHECK_FALSE(rdt->schemata);
}

TEST_CASE("Field names match in any case of ASCII letters") {
  const auto edits = cdi::read_json<cdi::ContainerEdits>(
      R"({"additionalGIDs": [5], "DEVICENODES": [{"Path": "/a", "hostpath": "/b"}]})");
  REQUIRE(edits);
  CHECK(*edits == cdi::ContainerEdits{.device_nodes = {{.path = "/a", .host_path = "/b"}},
                                      .additional_gids = {5}});
}

TEST_CASE("Annotation keys keep their case") {
  const auto device = cdi::read_json<cdi::Device>(
      R"({"name": "a", "annotations": {"k": "1", "K": "2"}, "containerEdits": {}})");
  REQUIRE(device);
  CHECK(device->annotations ==
        std::map<std::string, std::string, std::less<>>{{"k", "1"}, {"K", "2"}});
}

TEST_CASE("A number that is read as text keeps its digits") {
  for (const std::string text : {"007", "1.50", "0x1F", "1e3", "yes", "true", "1_000"}) {
    CAPTURE(text);
    const auto device = cdi::read_yaml<cdi::Device>("{name: " + text + ", containerEdits: {}}");
    REQUIRE(device);
    CHECK(device->name == text);
  }
}

TEST_CASE(
    "A boolean of CDI may be yes, on or y in quotes, as in the Go reference, one of OCI not") {
  const auto monitoring = [](const std::string& text) -> std::optional<bool> {
    const auto rdt = cdi::read_yaml<cdi::IntelRdt>("{enableMonitoring: " + text + "}");
    return rdt ? std::optional{rdt->enable_monitoring} : std::nullopt;
  };
  for (const std::string text : {"yes", "'Yes'", "\"ON\"", "\"y\"", "!!str on", "true"}) {
    CAPTURE(text);
    CHECK(monitoring(text) == true);
  }
  for (const std::string text : {"no", "'Off'", "\"NO\"", "\"n\"", "false"}) {
    CAPTURE(text);
    CHECK(monitoring(text) == false);
  }
  for (const std::string text : {"'true'", "\"False\"", "''", "'yEs'", "'1'"}) {
    CAPTURE(text);
    CHECK_FALSE(monitoring(text));
  }
  CHECK(cdi::read_yaml<cdi::oci::Process>("{cwd: /, noNewPrivileges: yes}"));
  CHECK_FALSE(cdi::read_yaml<cdi::oci::Process>("{cwd: /, noNewPrivileges: 'yes'}"));
}

TEST_CASE("The mode of a device node is octal with a leading zero, and not a text") {
  const auto mode = [](const std::string& text) {
    const auto node = cdi::read_yaml<cdi::DeviceNode>("{path: /a, fileMode: " + text + "}");
    return node ? node->file_mode : std::nullopt;
  };
  CHECK(mode("0644") == 0644U);
  CHECK(mode("0o644") == 0644U);
  CHECK(mode("420") == 420U);
  CHECK(mode("0899") == 899U);  // as the Go reference reads it
  CHECK(mode("\"0644\"") == std::nullopt);
}

TEST_CASE("A view points into the document it was read from") {
  const auto document = cdi::parse_json(
      R"({"cdiVersion": "1.1.0", "kind": "v/c", "devices": [], "annotations": {"k": "v"}})");
  REQUIRE(document);
  const auto view = cdi::read<cdi::SpecView>(*document);
  REQUIRE(view);
  const auto [key, kind] = *++document->root().members().begin();
  CHECK(view->kind == "v/c");
  CHECK(view->kind.data() == kind.text().data());
  CHECK(view->annotations.at("k") == "v");
}

TEST_CASE("A message quotes only the beginning of a long text") {
  const std::string text(100000, 'a');
  CHECK(why_not<cdi::ContainerEdits>("{\"env\": \"" + text + "\"}").size() < 200);
}

TEST_CASE("A quoted text is cut between characters") {  // reported
  const std::string text = std::string(79, 'a') + "\xc3\xa9";
  CHECK(cdi::detail::is_utf8(why_not<cdi::ContainerEdits>("{\"env\": \"" + text + "\"}")));
}

TEST_CASE("An unknown field stays on one line of the message") {
  CHECK(why_not<cdi::ContainerEdits>(R"({"a\nb": 1})").find('\n') == std::string::npos);
}

}  // namespace

TEST_CASE("A member is found in any case of its key, the first one if there are several") {
  const auto document = cdi::parse_json(R"({"KIND":"a","kind":"b","x":{"Name":"d"},"list":[]})");
  REQUIRE(document);
  const auto root = document->root();
  const auto kind = cdi::detail::find_member(root, "kind");
  REQUIRE(kind);
  CHECK(kind->text() == "a");
  CHECK_FALSE(cdi::detail::find_member(root, "name"));
  for (const auto* name : {"kind", "list"}) {  // neither is a map
    CHECK_FALSE(cdi::detail::find_member(*cdi::detail::find_member(root, name), "name"));
  }
}

namespace {

using cdi::detail::Reading;

}  // namespace

TEST_CASE("Unknown members of OCI types are kept, of any shape") {
  const std::string text =
      R"({"destination":"/a","n":null,"t":true,"f":false,"d":1.50,"s":"1","l":[1,["x"],{"k":{}}]})";
  const auto mount = cdi::read_json<cdi::oci::Mount>(text);
  REQUIRE(mount);
  using cdi::ValueKind;
  std::vector<std::pair<std::string, ValueKind>> kinds;
  for (const auto& member : mount->extra) kinds.emplace_back(member.key, member.value.kind);
  CHECK(kinds == std::vector<std::pair<std::string, ValueKind>>{{"n", ValueKind::null},
                                                                {"t", ValueKind::boolean},
                                                                {"f", ValueKind::boolean},
                                                                {"d", ValueKind::number},
                                                                {"s", ValueKind::text},
                                                                {"l", ValueKind::list}});
  CHECK(mount->extra[5].value.members[2].value.kind == ValueKind::map);
  CHECK(*cdi::write_json(*mount, -1) == text);
  const auto yaml = cdi::read_yaml<cdi::oci::Mount>("{destination: /a, x: yes, y: True, z: 0x1}");
  REQUIRE(yaml);
  for (const auto& member : yaml->extra) CHECK(member.value.kind == ValueKind::text);
}

TEST_CASE("A type may skip the members of a foreign document that it has no field for") {
  CHECK(cdi::read_json<Part>(R"({"a": [1, {"b": []}], "name": "n", "B": true})")->name == "n");
  CHECK(why_not<Part>(R"({"name": 1})") ==
        "line 1:10: name: expected text, not 1: put it in quotes");
  CHECK(why_not<Part>("{}") == "line 1:1: name: the required field is missing: add it");
}

namespace {

struct Named {
  std::string name{};
  std::vector<std::string> list{};
  static constexpr bool skips_unknown = true;

  static constexpr void fields(auto& list) {
    list("name", &Named::name, cdi::required);
    list("list", &Named::list, cdi::required);
  }
};

}  // namespace

TEST_CASE("Skipped members may have any shape, and a skipping type takes null for a list") {
  const auto named = cdi::read_json<Named>(R"({"a":[{}],"name":"x","b":{"c":1},"list":null})");
  REQUIRE(named);
  CHECK(*cdi::write_json(*named, -1) == R"({"name":"x","list":[]})");
  CHECK_FALSE(cdi::read_json<Named>(R"({"name":1,"list":[]})"));
  CHECK_FALSE(cdi::read_json<Named>(R"({"nme":"x","list":[]})"));
  std::string large = R"({"name":"x","list":[],"more":[{})";
  for (int i = 0; i < 100'000; ++i) large += ",{}";
  CHECK(cdi::read_json<Named>(large + "]}"));
}

TEST_CASE("A strict reading takes only text as text") {
  const auto document = cdi::parse_yaml("{name: 1, containerEdits: {}}");
  REQUIRE(document);
  Reading strict{.is_strict = true};
  CHECK_FALSE(cdi::detail::read_noting<cdi::Device>(document->root(), strict));
  Reading lenient;
  CHECK(cdi::detail::read_noting<cdi::Device>(document->root(), lenient));
}

TEST_CASE("The first value that YAML 1.1 reads differently is noted, above all a quoted boolean") {
  const auto column = [](const std::string& text) -> std::uint32_t {
    const auto document = cdi::parse_yaml(text);
    REQUIRE(document);
    Reading reading;
    CHECK(cdi::detail::read_noting<cdi::IntelRdt>(document->root(), reading));
    return reading.other_in_yaml_1_1 ? reading.other_in_yaml_1_1->position().column : 0;
  };
  CHECK(column("{closID: abc, l3CacheSchema: 1.5}") == 0);
  CHECK(column("{closID: abc, l3CacheSchema: yes, memBwSchema: 010}") == 30);
  CHECK(column("{closID: on, enableMonitoring: 'yes'}") == 32);
  CHECK(column("{enableMonitoring: 'yes', closID: on}") == 20);
  CHECK(column("{enableCMT: 'on', enableMBM: 'no'}") == 13);
}
