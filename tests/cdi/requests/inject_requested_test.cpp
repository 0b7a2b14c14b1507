// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

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
#include <cdi/requests/inject_requested.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

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
       {.deadline = steady_clock::time_point::max(), .wait = {.quiet = 0ms}},
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
