// Names in a recording that are replaced by hashes.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/prepare/record/hashed_names.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace prepare;

namespace {

/// The text of a file after its names are replaced.
std::string hashed(const std::string& path, const std::string& text) {
  auto names = HashedNames::make();
  REQUIRE(names);
  const auto out = names->replace({{path, {.text = text}}});
  REQUIRE(out.size() == 1);
  return out.begin()->second.text;
}

const std::string boot_uuid = "18db0e85-99e9-c746-8531-ffeb86328b39";

}  // namespace

TEST_CASE("a UUID is replaced where it begins") {
  const auto text = hashed("/proc/x", "GPU-" + boot_uuid + "\n");
  CHECK(text.size() == boot_uuid.size() + 5);
  CHECK(text.starts_with("GPU-"));
  CHECK(text.find(boot_uuid) == std::string::npos);
  CHECK(hashed("/proc/x", "f" + boot_uuid) == "f" + boot_uuid);  // the digits of a longer number
}

TEST_CASE("an attribute that identifies nothing stays") {
  for (const std::string text : {"0\n", "0x0000\n", "-\n", "\n"}) {
    CHECK(hashed("/sys/x/serial", text) == text);
  }
  CHECK(hashed("/etc/serial", "AB12\n") == "AB12\n");
}

TEST_CASE("a hash has the form of the name") {
  const auto text = hashed("/sys/x/serial", "SN{7}-ab");
  CHECK(text.size() == 8);
  CHECK(text.substr(2, 1) == "{");
  CHECK(text.substr(4, 2) == "}-");
  CHECK(text != "SN{7}-ab");
}

TEST_CASE("two names have two hashes even if they are short") {
  auto names = HashedNames::make();
  REQUIRE(names);
  RecordedFiles files;
  for (int i = 0; i < 10; ++i) {
    files["/sys/" + std::to_string(i) + "/serial"] = {.text = "SN" + std::to_string(i)};
  }
  std::set<std::string> seen;
  for (const auto& [path, file] : names->replace(files)) seen.insert(file.text);
  CHECK(seen.size() == 10);
}

TEST_CASE("the numbers of AMD's topology that identify a GPU or its fabric are replaced") {
  const auto text = hashed("/sys/x/properties",
                           "unique_id 123456\nhive_id 654321\nother_id 7\n"
                           "unique_id 0\nhive_id");
  CHECK(text.find("123456") == std::string::npos);
  CHECK(text.find("654321") == std::string::npos);
  CHECK(text.ends_with("\nother_id 7\nunique_id 0\nhive_id"));
}
