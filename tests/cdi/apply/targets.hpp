// The types of targets, and what is in them, for the tests of `apply`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TESTS_APPLY_TARGETS_HPP
#define CDI_TESTS_APPLY_TARGETS_HPP

#include <string_view>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/model/spec.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/targets/config_json.hpp>

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

}  // namespace apply_targets

#endif  // CDI_TESTS_APPLY_TARGETS_HPP
