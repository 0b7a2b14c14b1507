// The differences between two CDI specs, as text for people.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/nlohmann.hpp>

// Each spec is first converted to JSON in which list items have names such as `node /dev/nvidia0`
// instead of indexes. Then the two trees are compared. Members from future CDI versions are
// compared as single values.

namespace prepare {

/// A difference between two specs.
struct Difference {
  enum class What : std::uint8_t { added, removed, changed };

  What what = What::changed;
  std::string where{};   // `device "0": node /dev/nvidia0`; without a device for shared edits
  std::string member{};  // "major"; empty for a whole item or its only value
  std::string before{};
  std::string after{};

  friend bool operator==(const Difference&, const Difference&) = default;
};

namespace detail {

using nlohmann::json;

/// Adds the differences between two objects, by name.
void compare(const json& before, const json& after, const std::string& where,
             std::vector<Difference>& out);

}  // namespace detail

/// The differences between two specs, sorted by place. The order of devices, edits and other named
/// list items is ignored.
std::vector<Difference> changes(const cdi::Spec& before, const cdi::Spec& after);

/// `+ device "1"`, `- mount /usr/lib/libcuda.so.1`, `~ node /dev/nvidia-uvm: major 510 -> 511`,
/// `~ annotation a.b/c: 1 -> 2`
std::string to_text(const Difference& change);

}  // namespace prepare
