// The types of targets, what is in them, and their host, for the tests of `apply`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/editor.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/targets/oci_editor.hpp>

#include "../../support/edits_of.hpp"

namespace apply_targets {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;
using Model = cdi::oci::Spec;
using Text = cdi::ConfigJson;

/// What is in a target, whatever the order of its members.
template <class Target>
Json content(const Target& target) {
  if constexpr (std::is_same_v<Target, Text>) {
    return Json::parse(target.text);
  } else if constexpr (std::is_same_v<Target, Model>) {
    return cdi::to_json_value<Json>(target);
  } else {
    return Json::parse(target.dump());
  }
}

/// A target with this JSON text.
template <class Target>
Target parsed(std::string_view text) {
  if constexpr (std::is_same_v<Target, Text>) {
    return {std::string{text}};
  } else if constexpr (std::is_same_v<Target, Model>) {
    auto spec = cdi::read_json<Model>(text);
    REQUIRE_MESSAGE(spec, (spec ? "" : to_string(spec.error())));
    return *std::move(spec);
  } else {
    return Target::parse(text);
  }
}

/// An OCI spec of any target type. The members that OCI requires need not be written.
template <class Target>
Target oci_spec(std::string_view text) {
  auto json = Ordered::parse(text);
  json["ociVersion"] = "1.2.0";
  if (json.contains("process")) {
    auto& process = json["process"];
    process.emplace("user", Ordered{{"uid", 0U}, {"gid", 0U}});
    process.emplace("cwd", "/");
  }
  return parsed<Target>(json.dump());
}

/// A host of four nodes that counts what it is asked.
struct FakeHost {
  mutable int lookups = 0;

  cdi::Result<cdi::HostNode> operator()(std::string_view path) const {
    static const std::map<std::string_view, cdi::HostNode> nodes{
        {"/dev/null", {'c', 1, 3, 0666}},
        {"/dev/sda", {'b', 8, 0, 0660}},
        {"/dev/sdb", {'b', 8, 16, 0600}},
        {"/dev/pipe", {'p', 0, 0, 0640}},
    };
    ++lookups;
    const auto found = nodes.find(path);
    if (found != nodes.end()) return found->second;
    return cdi::Error{.code = cdi::Errc::host, .message = "no such node"};
  }
};

/// An OCI spec, edits, and the OCI spec after them.
struct Row {
  std::string before;
  std::string edits;
  std::string after;
};

template <class Target>
void check_rows(std::initializer_list<Row> rows) {
  for (const auto& row : rows) {
    CAPTURE(row.before);
    CAPTURE(row.edits);
    auto target = oci_spec<Target>(row.before);
    const auto done = cdi::apply(edits_of(row.edits), target, FakeHost{});
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    CHECK(content(target) == content(oci_spec<Target>(row.after)));
  }
}

/// An OCI spec type with none of the parts that a type may lack.
struct Bare {
  Model spec{};
};

}  // namespace apply_targets

template <>
struct cdi::SpecEditor<apply_targets::Bare> {
  apply_targets::Bare& target;

  auto env() { return inner().env(); }
  auto devices() { return inner().devices(); }
  auto mounts() { return inner().mounts(); }
  auto hooks(cdi::oci::HookPoint point) { return inner().hooks(point); }
  cdi::ProcessUser process_user() { return inner().process_user(); }
  bool has_id_mappings() { return inner().has_id_mappings(); }

 private:
  cdi::SpecEditor<apply_targets::Model> inner() { return {target.spec}; }
};
