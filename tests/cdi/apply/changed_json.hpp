// Carries out `Change`s on a JSON document, without `apply`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/plan/change.hpp>

/// The parts of an OCI spec that edits change.
inline const std::vector<std::string> changeable_parts{"process.env",
                                                       "process.user.additionalGids",
                                                       "linux.devices",
                                                       "linux.resources.devices",
                                                       "linux.netDevices",
                                                       "linux.intelRdt",
                                                       "mounts",
                                                       "hooks.prestart",
                                                       "hooks.createContainer",
                                                       "hooks.poststop"};

inline nlohmann::json::json_pointer pointer_to(const std::string& part) {
  std::string path = "/" + part;
  for (char& c : path) c = c == '.' ? '/' : c;
  return nlohmann::json::json_pointer{path};
}

/// A part of a document, null when it is missing or empty.
inline nlohmann::json part_of(const nlohmann::json& document, const std::string& part) {
  const auto pointer = pointer_to(part);
  if (!document.contains(pointer) || document.at(pointer).empty()) return nullptr;
  return document.at(pointer);
}

inline nlohmann::json entry_of(const std::string& part, const std::string& text) {
  return part == "process.env" ? nlohmann::json(text) : nlohmann::json::parse(text);
}

/// A list after changes, all of the same part.
inline nlohmann::json changed_list(const nlohmann::json& before,
                                   const std::vector<cdi::Change>& changes) {
  std::map<std::size_t, nlohmann::json> placed;
  std::vector<bool> named(before.size());
  std::size_t size = before.size();
  for (const auto& change : changes) {
    CAPTURE(to_string(change));
    REQUIRE(change.from.has_value() == (change.kind != cdi::ChangeKind::added));
    REQUIRE(change.to.has_value() == (change.kind != cdi::ChangeKind::removed));
    if (change.from) {
      REQUIRE(*change.from < before.size());
      REQUIRE_FALSE(named[*change.from]);
      named[*change.from] = true;
      CHECK(entry_of(change.part, change.before) == before[*change.from]);
    }
    if (change.to) {
      REQUIRE(placed.emplace(*change.to, entry_of(change.part, change.after)).second);
    }
    if (change.kind == cdi::ChangeKind::added) ++size;
    if (change.kind == cdi::ChangeKind::removed) --size;
    if (change.kind == cdi::ChangeKind::moved) CHECK(change.before == change.after);
    if (change.kind == cdi::ChangeKind::replaced) CHECK(change.before != change.after);
  }
  nlohmann::json after = nlohmann::json::array();
  std::size_t next = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (placed.contains(i)) {
      after.push_back(placed[i]);
      continue;
    }
    while (next < named.size() && named[next]) ++next;
    REQUIRE(next < before.size());
    after.push_back(before[next++]);
  }
  return after;
}

/// A document after changes. Only the parts that edits change are in it.
inline nlohmann::json changed(const nlohmann::json& before,
                              const std::vector<cdi::Change>& changes) {
  std::map<std::string, std::vector<cdi::Change>> by_part;
  for (const auto& change : changes) by_part[change.part].push_back(change);
  nlohmann::json after;
  for (const auto& part : changeable_parts) {
    auto value = part_of(before, part);
    const auto mine = by_part[part];
    by_part.erase(part);
    if (part == "linux.intelRdt") {
      REQUIRE(mine.size() <= 1);
      if (!mine.empty()) value = nlohmann::json::parse(mine.front().after);
    } else if (part == "linux.netDevices") {
      for (const auto& change : mine) value[change.key] = nlohmann::json::parse(change.after);
    } else if (!mine.empty()) {
      value = changed_list(value.is_null() ? nlohmann::json::array() : value, mine);
    }
    after[pointer_to(part)] = value;
  }
  CHECK(by_part.empty());
  return after;
}

/// The parts of a document that edits change.
inline nlohmann::json changeable(const nlohmann::json& document) {
  return changed(document, {});
}
