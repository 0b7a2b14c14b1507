// Whether specs have device numbers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/base/options.hpp"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

using prepare::Options;

namespace {

bool has_numbers(const std::string& directory, const std::string& root = "/") {
  Options options;
  options.root = root;
  options.output_dir = directory;
  return !options.ask_host();
}

/// The mount point of a file system in memory; empty if there is none.
std::string place_in_memory() {
  std::ifstream mounts{"/proc/self/mounts"};
  std::string device;
  std::string place;
  std::string type;
  while (mounts >> device >> place >> type) {
    if (type == "tmpfs" && !place.starts_with("/run")) return place;
    mounts.ignore(1 << 16, '\n');
  }
  return {};
}

}  // namespace

TEST_CASE("specs that a reboot removes have numbers") {
  for (const auto* directory : {"/run", "/run/cdi", "/var/run/cdi", "/var/run/none/none"}) {
    CHECK(has_numbers(directory));
    CHECK(has_numbers(std::string{"/none"} + directory, "/none"));
  }
  for (const auto* directory : {"/etc/cdi", "/opt/cdi", "/proc/none", "/runner/cdi", "/var/cdi"}) {
    CHECK_FALSE(has_numbers(std::string{"/none"} + directory, "/none"));
  }
  for (const auto* directory : {"/etc/cdi", "/proc/none", "/sys/none/none"}) {
    CHECK_FALSE(has_numbers(directory));
  }
  const auto memory = place_in_memory();
  if (!memory.empty()) CHECK(has_numbers(memory + "/none"));
  if (!memory.empty()) CHECK_FALSE(has_numbers("/none" + memory + "/none", "/none"));
}

TEST_CASE("the place of specs outside the root of another host is not known") {
  CHECK(has_numbers("/proc/none", "/none"));
  CHECK_FALSE(has_numbers("/etc/cdi", "/none"));
}
