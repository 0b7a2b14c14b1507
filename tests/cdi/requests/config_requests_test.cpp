// Tests for include/cdi/requests/config_requests.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/nlohmann/editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/requests/config_requests.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/temp_tree.hpp"

using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

using cdi::RequestOrigin;
using Devices = std::vector<cdi::RequestedDevice>;

constexpr std::string_view config_text =
    R"({"process": {"env": ["A=1", "VISIBLE=v/c=0,1", "VISIBLE=v/c=9"]},
 "annotations": {"cdi.k8s.io/x": "v/c=a,v/c=f", "other": "x"}})";

cdi::oci::Spec model() {
  cdi::oci::Spec spec;
  spec.process.emplace().env = {"A=1", "VISIBLE=v/c=0,1", "VISIBLE=v/c=9"};
  spec.annotations = {{"cdi.k8s.io/x", "v/c=a,v/c=f"}, {"other", "x"}};
  return spec;
}

template <class Config>
void check_all_origins(const Config& config) {
  const std::string field[] = {"v/c=f"};
  CHECK(*cdi::gather_requests(config) ==
        Devices{{"v/c=a", RequestOrigin::annotation, "cdi.k8s.io/x"},
                {"v/c=f", RequestOrigin::annotation, "cdi.k8s.io/x"}});
  CHECK(*cdi::gather_requests(config, {.field = field, .variable = "VISIBLE"}) ==
        Devices{{"v/c=f", RequestOrigin::field, ""},
                {"v/c=a", RequestOrigin::annotation, "cdi.k8s.io/x"},
                {"v/c=0", RequestOrigin::variable, "VISIBLE"},
                {"v/c=1", RequestOrigin::variable, "VISIBLE"}});
  CHECK(cdi::gather_requests(config, {.prefix = "oth"}).error().code == cdi::Errc::invalid_name);
}

}  // namespace

TEST_CASE("A config as model, document and text gives the same requests") {
  check_all_origins(model());
  check_all_origins(nlohmann::json::parse(config_text));
  check_all_origins(nlohmann::ordered_json::parse(config_text));
  check_all_origins(cdi::ConfigJson{.text = std::string{config_text}});
}

TEST_CASE("A config without these members asks for nothing") {
  const cdi::RequestOptions options{.variable = cdi::visible_devices_variable};
  CHECK(cdi::gather_requests(cdi::oci::Spec{}, options)->empty());
  for (const auto* text :
       {"{}", "[]", R"({"process":null,"annotations":null})", R"({"process":{"env":[1,"A"]}})",
        R"({"process":{"env":{}}})", R"({"process":{"env":["VISIBLE_CDI_DEVICES"]}})"}) {
    CAPTURE(text);
    CHECK(cdi::gather_requests(nlohmann::json::parse(text), options)->empty());
    CHECK(cdi::gather_requests(cdi::ConfigJson{.text = text}, options)->empty());
  }
}

TEST_CASE("A member in another case is refused, as only some runtimes read it") {
  const struct {
    std::string text;
    std::string error;
  } rows[] = {
      {R"({"Annotations":{"cdi.k8s.io/a":"v/c=1"}})",
       "c:1:2: Annotations: the member name is in a different case: write \"annotations\", and "
       "only once"},
      {R"({"annotations":{},"ANNOTATIONS":{}})", "c:1:19: ANNOTATIONS: "},
      {R"({"Annotations":null})", "c:1:2: Annotations: "},
      {R"({"Process":{"env":["V=v/c=2"]}})", "c:1:2: Process: "},
      {R"({"process":{"Env":["V=v/c=2"]}})", "c:1:13: process.Env: "},
      {R"({"process":{"env":[],"eNv":1}})", "c:1:22: process.eNv: "},
  };
  for (const auto& row : rows) {
    const auto in_text = cdi::gather_requests(cdi::ConfigJson{.text = row.text, .file = "c"});
    const auto in_json = cdi::gather_requests(nlohmann::json::parse(row.text));
    CAPTURE(row.text);
    REQUIRE_FALSE(in_text);
    CAPTURE(to_string(in_text.error()));
    CHECK(in_text.error().code == cdi::Errc::schema);
    CHECK(to_string(in_text.error()).starts_with(row.error));
    REQUIRE_FALSE(in_json);
    CHECK(in_json.error().code == cdi::Errc::schema);
    CHECK(in_json.error().where == in_text.error().where);
  }
  // Keys of annotations, and names of variables, have a case of their own.
  const cdi::ConfigJson other{
      .text = R"({"annotations":{"CDI.k8s.io/a":"v/c=1"},"process":{"env":["v=v/c=2"]}})"};
  CHECK(cdi::gather_requests(other, {.variable = "V"})->empty());
}

TEST_CASE("Errors of a text have its line and column") {
  const struct {
    std::string text;
    std::string error;
  } rows[] = {
      {"{\n", "config.json:1:3: "},
      {"{\n \"annotations\": []}", "config.json:2:17: annotations: expected an object"},
      {"{\"annotations\": {\n\"cdi.k8s.io/x\": 1}}",
       "config.json:2:17: annotations.cdi.k8s.io/x: expected a string"},
      {"{\"annotations\": {\n\"cdi.k8s.io/x\": \"junk\"}}",
       "config.json:1:17: annotation \"cdi.k8s.io/x\": \"junk\" is not"},
      {"{\"process\": {\"env\": [\n\"V=junk\"]}}",
       "config.json:2:1: V: selector \"junk\" has no ="},
  };
  for (const auto& row : rows) {
    const cdi::ConfigJson config{.text = row.text, .file = "config.json"};
    const auto requests = cdi::gather_requests(config, {.variable = "V"});
    REQUIRE_FALSE(requests);
    CAPTURE(to_string(requests.error()));
    CHECK(to_string(requests.error()).starts_with(row.error));
  }
}

namespace {

constexpr std::string_view spec_text =
    "cdiVersion: 0.6.0\nkind: v/c\ncontainerEdits: {env: [SPEC=1]}\ndevices:\n"
    "- {name: d, containerEdits: {env: [A=1]}}\n- {name: '0', containerEdits: {env: [B=1]}}\n";

/// A config that asks for v/c=d by annotation, and for v/c=0 by variable.
cdi::oci::Spec both_requests() {
  cdi::oci::Spec config;
  config.process.emplace().env = {"VISIBLE_CDI_DEVICES=v/c=0"};
  config.annotations = {{"cdi.k8s.io/x", "v/c=d"}};
  return config;
}

}  // namespace

TEST_CASE("What a config asks for is injected, and returned with its origin") {
  const TempTree tree;
  const auto dir = tree.make_dir("cdi");
  tree.put("cdi/v.yaml", spec_text);
  cdi::Cache cache{{dir}};
  auto config = both_requests();
  const auto done = cdi::inject_requested(
      cache, config, {.requests = {.variable = cdi::visible_devices_variable}});
  REQUIRE(done);
  REQUIRE(done->size() == 2);
  CHECK(done->front().key == "cdi.k8s.io/x");
  CHECK(done->back().origin == cdi::RequestOrigin::variable);
  CHECK(config.process->env ==
        std::vector<std::string>{"VISIBLE_CDI_DEVICES=v/c=0", "SPEC=1", "A=1", "B=1"});

  cdi::ConfigJson text{.text = R"({"annotations":{"cdi.k8s.io/x":"v/c=d"}})"};
  REQUIRE(cdi::inject_requested(cache, text));
  CHECK(text.text.find(R"("env":["SPEC=1","A=1"])") != std::string::npos);

  auto document = nlohmann::json::parse(R"({"annotations":{"cdi.k8s.io/x":"v/c=d"}})");
  REQUIRE(cdi::inject_requested(cache, document));
  CHECK(document["process"]["env"] == nlohmann::json{"SPEC=1", "A=1"});
}

TEST_CASE("A config that asks for nothing is left alone, without waiting") {
  cdi::Cache cache{{"/nonexistent"}};
  cdi::oci::Spec config;
  const auto done =
      cdi::inject_requested(cache, config, {.deadline = steady_clock::time_point::max()});
  REQUIRE(done);
  CHECK(done->empty());
  CHECK(config == cdi::oci::Spec{});
}

TEST_CASE("A spec that is written later is waited for") {
  const TempTree tree;
  cdi::Cache cache{{tree / "cdi"}};
  auto config = both_requests();
  std::thread writer{[&] {
    tree.make_dir("cdi");
    tree.put("cdi/v.yaml", spec_text);
  }};
  const auto done = cdi::inject_requested(cache, config, {.deadline = steady_clock::now() + 60s});
  writer.join();
  CHECK_MESSAGE(done, (done ? "" : to_string(done.error())));
}

TEST_CASE("After an error the config is unchanged") {
  const TempTree tree;
  const auto dir = tree.make_dir("cdi");
  tree.put("cdi/v.yaml", spec_text);
  cdi::Cache cache{{dir}};
  const struct {
    std::string value;
    cdi::InjectRequestedOptions options;
    cdi::Errc code;
  } rows[] = {
      {"junk", {}, cdi::Errc::invalid_name},
      {"v/c=d,v/c=x", {}, cdi::Errc::not_found},
      {"v/c=d,v/d=x", {.deadline = steady_clock::now()}, cdi::Errc::timeout},
      {"v/c=x",
       {.deadline = steady_clock::time_point::max(), .wait = {.quiet_period = 0ms}},
       cdi::Errc::not_found},
  };
  for (const auto& row : rows) {
    CAPTURE(row.value);
    cdi::oci::Spec config;
    config.annotations = {{"cdi.k8s.io/x", row.value}};
    const auto before = config;
    const auto done = cdi::inject_requested(cache, config, row.options);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == row.code);
    CHECK(config == before);
  }
}

TEST_CASE("Options of the edits are passed on") {
  const TempTree tree;
  const auto dir = tree.make_dir("cdi");
  tree.put("cdi/v.yaml",
           "cdiVersion: 0.6.0\nkind: v/c\ndevices:\n- name: d\n  containerEdits:\n"
           "    hooks: [{hookName: prestart, path: /h}]\n");
  cdi::Cache cache{{dir}};
  auto config = nlohmann::json::parse(R"({"annotations":{"cdi.k8s.io/x":"v/c=d"}})");
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cdi::inject_requested(cache, config, {.apply = {.duplicates = true}}));
  }
  CHECK(config["hooks"]["prestart"].size() == 2);
}
