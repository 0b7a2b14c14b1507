// Claims for devices that pods have by the device plugin.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/claims/given_device.hpp"

#include <string>

#include <doctest/doctest.h>

#include <cdi/claims.hpp>

using namespace dra;

TEST_CASE("dra: the UID of a given device is its name, whose end may become a hash") {
  CHECK(plugin_uid("nvidia-gpu-0") == "nvidia-gpu-0");
  CHECK(plugin_uid(std::string(56, 'a')) == std::string(56, 'a'));
  const auto one = plugin_uid(std::string(57, 'a'));
  const auto other = plugin_uid(std::string(56, 'a') + "b");
  CHECK(one.substr(0, 44) == std::string(43, 'a') + "-");
  CHECK(one != other);
  CHECK(plugin_uid(std::string(42, 'a') + "-" + std::string(20, 'b')).find("--") ==
        std::string::npos);
  for (const auto& uid : {one, other}) CHECK(cdi::is_claim_uid(uid));
}

TEST_CASE("dra: a claim is for a given device if its kind says so") {
  CHECK(is_given({.kind = "gpu.example.com/plugin"}, "gpu.example.com"));
  CHECK_FALSE(is_given({.kind = "gpu.example.com/claim"}, "gpu.example.com"));
  CHECK_FALSE(is_given({.kind = "other.example.com/plugin"}, "gpu.example.com"));
}
