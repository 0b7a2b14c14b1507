// The chapters of tests/data/oci/every-member.json, which names every member of OCI 1.3.0, each
// with a value that is not empty.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/fields.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/nlohmann/models.hpp>

inline std::string read_data(const std::string& name) {
  std::ifstream in{std::string{CDI_TEST_DATA} + "/" + name, std::ios::binary};
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The paths of members that are empty, and of members that the model does not know.
template <class T>
void find_gaps(const T& value, const std::string& path, std::vector<std::string>& gaps) {
  if constexpr (cdi::Described<T>) {
    for (const auto& member : value.extra) gaps.push_back(path + "/" + member.key + " unknown");
    cdi::every_field<T>([&](const auto& field) {
      const auto inner = path + "/" + std::string{field.key};
      const auto& member = value.*field.member;
      if (cdi::is_empty(member)) gaps.push_back(inner + " empty");
      find_gaps(member, inner, gaps);
      return true;
    });
  } else if constexpr (cdi::detail::Optional<T>) {
    if (value) find_gaps(*value, path, gaps);
  } else if constexpr (cdi::detail::Dict<T>) {
    for (const auto& [key, item] : value) find_gaps(item, path + "/" + key, gaps);
  } else if constexpr (cdi::detail::List<T>) {
    for (const auto& item : value) find_gaps(item, path, gaps);
  }
}

/// Checks that the model `T` knows every member of the chapter at a JSON pointer, that the chapter
/// has every member of `T`, and that it is written as it was read, with members of newer versions.
template <class T>
void check_chapter(const std::string& pointer) {
  CAPTURE(pointer);
  auto chapter = nlohmann::ordered_json::parse(
      read_data("oci/every-member.json"))[nlohmann::ordered_json::json_pointer{pointer}];
  const auto read = cdi::read_json<T>(chapter.dump());
  REQUIRE_MESSAGE(read, to_string(read.error()));
  std::vector<std::string> gaps;
  find_gaps(*read, "", gaps);
  CHECK(gaps == std::vector<std::string>{});
  CHECK(cdi::to_json_value(*read) == chapter);

  chapter["fromTheFuture"] = {{"a", {1, 2.5, "x", nullptr, true}}, {"b", {}}};
  const auto newer = cdi::read_json<T>(chapter.dump());
  REQUIRE(newer);
  CHECK(cdi::to_json_value(*newer) == chapter);
  CHECK(*newer != *read);
}

/// The required members of a chapter, in the order of the document.
template <class T>
std::string required_keys() {
  std::string keys;
  cdi::every_field<T>([&](const auto& field) {
    if (field.when == cdi::required) keys.append(keys.empty() ? "" : " ").append(field.key);
    return true;
  });
  return keys;
}
