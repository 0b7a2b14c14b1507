// Like use_core.hpp, with the parts that need exceptions or files.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <string>

#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/publish.hpp>
#include <cdi/scan.hpp>
#include <cdi/yaml.hpp>

#include "use_core.hpp"

namespace {

/// Addresses of tables that all objects must share.
std::array<const void*, 4> shared_places() {
  return {&cdi::rules, &cdi::reasons, &cdi::known_versions, &cdi::apply};
}

bool use_all() {
  const auto spec = cdi::read_json<cdi::Spec>(spec_text);
  if (!use_core() || !spec) return false;
  const auto again = cdi::read_yaml<cdi::Spec>(*cdi::write_yaml(*spec));
  if (!again || *again != *spec) return false;
  if (!cdi::parse_spec(spec_text, "v.json", cdi::Format::json)) return false;
  const cdi::Publisher publisher{"tests.example", "/nowhere/cdi"};
  if (!cdi::parse_claim("{}", "a.json").has_value() && !cdi::is_claim_uid("a")) return false;
  if (!publisher.reconcile({{"v.json", *spec}}, cdi::DryRun::yes)) return false;
  cdi::Cache cache{{"/nowhere/cdi"}, {.freshness = cdi::Freshness::watched}};
  nlohmann::json config;
  if (cache.inject(config, {"vendor.com/class=one"}) || !config.is_null()) return false;
  return cache.registry()->unresolved({"vendor.com/class=one"}).size() == 1 &&
         cdi::scan_spec_dirs({"/nowhere/cdi"})->devices().empty();
}

}  // namespace
