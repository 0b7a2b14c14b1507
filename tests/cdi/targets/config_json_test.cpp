// What edits do to an OCI spec is in tests/cdi/apply/apply_test.cpp, for this target, too; what is
// refused, in part_check_test.cpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/text/json.hpp>

#include "../../support/edits_of.hpp"
#include "../../support/random_numbers.hpp"

namespace {

using Ordered = nlohmann::ordered_json;

/// A text after edits, or the error.
std::string edited(std::string text, std::string_view edits) {
  cdi::ConfigJson config{std::move(text)};
  const auto done = edits_of(edits).apply(config);
  return done ? config.text : to_string(done.error());
}

const std::string_view all_edits =
    R"({"env":["A=1","B=1"],"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":0}],)"
    R"("netDevices":[{"hostInterfaceName":"e","name":"n"}],)"
    R"("mounts":[{"hostPath":"/h","containerPath":"/c","options":["ro"]}],)"
    R"("hooks":[{"hookName":"poststop","path":"/h"}],"intelRdt":{"closID":"c"},)"
    R"("additionalGids":[7]})";

}  // namespace

TEST_CASE("Bytes that edits do not change stay: blanks, order, digits, escapes, unknown members") {
  const std::string before =
      "\xEF\xBB\xBF \n{ \"x1\" :[1.50,1e400, -0 ],\t\"process\":{\"x2\":null , "
      "\"user\":{\"gid\":2,"
      "\"additionalGids\":[ 9 ]},\n\"env\":[\"B=\\u0031\", \"A=0\",\"C\"],\"cwd\":\"\\/\"},"
      "\"mounts\": [{\"x5\":1,\"destination\":\"/z\"},  {\"destination\":\"\\/c\"} ],"
      "\"hooks\":{\"x8\":[ ]}, \"linux\":{\"seccomp\":{ \"x\":\"\\ud83d\\ude00\"}}}\r\n ";
  const std::string after =
      "\xEF\xBB\xBF \n{ \"x1\" :[1.50,1e400, -0 ],\t\"process\":{\"x2\":null , "
      "\"user\":{\"gid\":2,"
      "\"additionalGids\":[ 9,7 ]},\n\"env\":[\"B=1\", \"A=1\",\"C\"],\"cwd\":\"\\/\"},"
      "\"mounts\": [{\"x5\":1,\"destination\":\"/z\"},{\"destination\":\"/c\",\"source\":\"/h\","
      "\"options\":[\"ro\"]} ],"
      "\"hooks\":{\"x8\":[ ],\"poststop\":[{\"path\":\"/h\"}]}, \"linux\":{\"seccomp\":{ "
      "\"x\":\"\\ud83d\\ude00\"},\"devices\":[{\"path\":\"/d\",\"type\":\"c\",\"major\":5,"
      "\"minor\":0,\"fileMode\":0,\"gid\":2}],\"resources\":{\"devices\":[{\"allow\":true,"
      "\"type\":\"c\",\"major\":5,\"minor\":0,\"access\":\"rwm\"}]},\"netDevices\":{\"e\":{"
      "\"name\":\"n\"}},\"intelRdt\":{\"closID\":\"c\"}}}\r\n ";
  CHECK(edited(before, all_edits) == after);
}

TEST_CASE("New lines are indented like their neighbours") {
  CHECK(edited("{\n\t\"process\": {\n\t\t\"env\": [\n\t\t\t\"X=1\"\n\t\t],\n\t\t\"cwd\": \"/\"\n\t}"
               "\n}\n",
               R"({"env":["A=1"],"hooks":[{"hookName":"poststop","path":"/h","args":["h"]}]})") ==
        "{\n\t\"process\": {\n\t\t\"env\": [\n\t\t\t\"X=1\",\n\t\t\t\"A=1\"\n\t\t],\n\t\t\"cwd\": "
        "\"/\"\n\t},\n\t\"hooks\": {\n\t\t\"poststop\": [\n\t\t\t{\n\t\t\t\t\"path\": \"/h\",\n"
        "\t\t\t\t\"args\": [\n\t\t\t\t\t\"h\"\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n");
}

TEST_CASE("Mounts that are sorted keep their bytes") {
  CHECK(edited(R"({"mounts":[{"destination":"/a/b", "x":1.0},{ "destination":"/a","x":2}]})",
               R"({"mounts":[{"hostPath":"/h","containerPath":"/c"}]})") ==
        R"({"mounts":[{ "destination":"/a","x":2},{"destination":"/c","source":"/h"},)"
        R"({"destination":"/a/b", "x":1.0}]})");
}

TEST_CASE("Errors have the name of the file, line and column, and nothing is changed") {
  struct {
    std::string text;
    std::string error;
  } const rows[] = {
      {"", "config.json:1:1: the text is empty"},
      {"{\n\"a\": }", "config.json:2:6: not valid JSON: "},
      {"[]", "config.json:1:1: expected an object in the OCI spec, not an array"},
      {"{\"process\":\n {\"env\": 1.50}}",
       "config.json:2:10: process.env: expected an array in the OCI spec, not 1.50"},
      {R"({"a":1,"a":2})", "config.json:1:8: "},
      {"{\"a\":" + std::string(100'000, '[') + "}", "more than 64 levels deep"},
      {std::string(200, ' ') + "{}", "config.json: more than 100 bytes"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text.substr(0, 80));
    cdi::ConfigJson config{.text = row.text, .file = "config.json"};
    if (row.text.size() == 202) config.limits.bytes = 100;
    const auto before = config;
    const auto done = edits_of(R"({"env":["A=1"]})").apply(config);
    REQUIRE_FALSE(done);
    CHECK_MESSAGE(to_string(done.error()).find(row.error) != std::string::npos,
                  to_string(done.error()));
    CHECK(config == before);
  }
}

TEST_CASE("The first of several names in another case is reported") {
  CHECK(edited(R"({"Process":{},"PROCESS":{}})", R"({"env":["A=1"]})")
            .starts_with("line 1:2: Process: "));
}

TEST_CASE("A user id of minus zero is the user id 0") {
  CHECK(edited(R"({"process":{"user":{"uid":-0,"gid":-0}},"linux":{"devices":[]}})",
               R"({"deviceNodes":[{"path":"/d","type":"c","major":5,"fileMode":0}]})") ==
        R"({"process":{"user":{"uid":-0,"gid":-0}},"linux":{"devices":[{"path":"/d","type":"c",)"
        R"("major":5,"minor":0,"fileMode":0}],"resources":{"devices":[{"allow":true,"type":"c",)"
        R"("major":5,"minor":0,"access":"rwm"}]}}})");
}

TEST_CASE("An entry is the same only if it has no member that edits cannot have") {
  const auto edits = edits_of(
      R"({"hooks":[{"hookName":"poststop","path":"/h","args":["h"],"env":["A=1"],"timeout":2}]})");
  const auto hooks_after = [&](std::string_view hook) {
    cdi::ConfigJson config{R"({"hooks":{"poststop":[)" + std::string{hook} + "]}}"};
    REQUIRE(edits.apply(config));
    return Ordered::parse(config.text)["hooks"]["poststop"].size();
  };
  CHECK(hooks_after(R"({"path":"/h","args":["h"],"env":["A=1"],"timeout":2})") == 1);
  CHECK(hooks_after(R"({"timeout":2,"env":["A=1"],"args":["h"],"path":"/h"})") == 1);
  for (const std::string_view other :
       {R"({"path":"/h","args":["h"],"env":["A=1"],"timeout":2,"x":1})",
        R"({"path":"/h","args":["h"],"env":["A=1"],"x":2})",
        R"({"path":"/h","args":["h"],"env":["A=2"],"timeout":2})",
        R"({"path":"/h","args":["h","i"],"env":["A=1"],"timeout":2})",
        R"({"path":"/h","args":"h","env":["A=1"],"timeout":2})",
        R"({"path":"/h","args":["h"],"timeout":2})", R"({"path":"/h"})", "{}"}) {
    CAPTURE(other);
    CHECK(hooks_after(other) == 2);
  }
}

TEST_CASE("Each of many hooks passes over an entry with many members, without reading it") {
  cdi::ContainerEdits edits;
  for (int i = 0; i < 20'000; ++i) {
    edits.hooks.push_back({.hook_name = "prestart", .path = "/h" + std::to_string(i)});
  }
  std::string members = "\"args\":[]";
  for (int i = 0; i < 400'000; ++i) members += ",\"" + std::to_string(i) + "\":0";
  cdi::ConfigJson config{R"({"hooks":{"prestart":[{)" + members + "}]}}"};
  REQUIRE(edits.apply(config));  // in less than a second; a pass for each hook takes minutes
  CHECK(config.text.find(R"({"path":"/h19999"})") != std::string::npos);
}

TEST_CASE("A text can be edited again") {
  cdi::ConfigJson config{"{}"};
  for (const char* const edits : {R"({"env":["A=1"]})", R"({"env":["A=2","B=1"]})"}) {
    CHECK(edits_of(edits).apply(config));
  }
  CHECK(config.text == R"({"process":{"user":{"uid":0,"gid":0},"cwd":"","env":["A=2","B=1"]}})");
}

TEST_CASE("An editor gives what the text had before the edits, as it is written there") {
  cdi::ConfigJson config{
      R"({"process":{"env":["A=\u0031"]},"mounts":[{ "destination":"/c" }],"linux":{"netDevices":)"
      R"({"eth1":{"name":"b"},"eth0":{ "name":"a" },"gone":null},"intelRdt":{ "closID":"x" }}})"};
  cdi::SpecEditor<cdi::ConfigJson> editor{config};
  REQUIRE(editor.check({.env = true, .net_devices = true, .mounts = true, .intel_rdt = true}));
  CHECK(editor.env().record(0) == "A=1");  // a variable is plain text
  CHECK(editor.mounts().record(0) == R"({ "destination":"/c" })");
  CHECK(editor.intel_rdt() == R"({ "closID":"x" })");
  auto interfaces = editor.net_devices();
  interfaces.set("eth0", {.name = "new"});
  CHECK(interfaces.find("eth0") == R"({ "name":"a" })");
  CHECK(interfaces.find("eth1") == R"({"name":"b"})");
  for (const std::string_view key : {"", "eth", "eth00", "eth2", "gone"}) {
    CAPTURE(key);
    CHECK_FALSE(interfaces.find(key));
  }
  cdi::ConfigJson empty{"{}"};
  cdi::SpecEditor<cdi::ConfigJson> other{empty};
  REQUIRE(other.check({.net_devices = true, .intel_rdt = true}));
  CHECK_FALSE(other.intel_rdt());
  CHECK_FALSE(other.net_devices().find("eth0"));
}

namespace {

/// OCI specs with the parts that edits change, some of them missing, null or empty, with blanks.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_{seed} {}

  std::string spec() {
    return object(
        {{"process", object({{"env", list(R"("A=0")", R"("C")")},
                             {"user", object({{"uid", "1"}, {"additionalGids", list("7", "8")}})},
                             {"x", "1.50"}})},
         {"linux", object({{"devices", list(R"({"path":"/d"})", R"({ "path":"/e" })")},
                           {"resources", object({{"devices", list("{}", R"({"x":1})")}})},
                           {"netDevices", object({{"e", "{}"}, {"f", "{ }"}})},
                           {"intelRdt", "{}"}})},
         {"mounts", list(R"({"destination":"/c/d"})", R"({"destination":"/c", "y":[]})")},
         {"hooks", object({{"poststop", list("{}", R"({"path":"/o"})")}})},
         {"ociVersion", R"("1.2.0")"}});
  }

 private:
  struct Member {
    std::string_view key;
    std::string value;
  };

  std::string blanks() {
    constexpr std::string_view some[] = {"", "", "", " ", "\n  ", "\t"};
    return std::string{some[random_.below(6)]};
  }

  std::string object(std::initializer_list<Member> members) {
    std::string out = "{";
    for (const auto& member : members) {
      if (random_.below(4) == 0) continue;
      out.append(out.size() == 1 ? "" : ",").append(blanks()).append("\"").append(member.key);
      out.append("\":").append(blanks());
      const bool is_part = member.value.front() == '{' || member.value.front() == '[';
      out.append(is_part && random_.below(8) == 0 ? "null" : member.value).append(blanks());
    }
    return out.append(out.size() == 1 ? blanks() : "").append("}");
  }

  std::string list(std::string_view a, std::string_view b) {
    std::string out = "[" + blanks();
    for (auto i = random_.below(4); i > 0; --i) {
      out.append(i % 2 == 0 ? a : b).append(blanks()).append(i == 1 ? "" : ",");
    }
    return out.append("]");
  }

  RandomNumbers random_;
};

}  // namespace

TEST_CASE("Edits give the same values in the same order as in an ordered_json") {
  const auto edits = edits_of(all_edits);
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    cdi::ConfigJson config{RandomText{seed}.spec()};
    const auto before = config.text;
    CAPTURE(before);
    auto document = Ordered::parse(before);
    const auto in_document = edits.apply(document);
    const auto in_text = edits.apply(config);
    REQUIRE(in_text.has_value() == in_document.has_value());
    REQUIRE(Ordered::parse(config.text).dump() ==
            (in_text ? document : Ordered::parse(before)).dump());
  }
}
