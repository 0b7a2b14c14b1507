// The names of the sockets of a driver.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/socket_names.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace dra;

TEST_CASE("dra: the sockets of a driver") {
  const auto names = socket_names("/k", "gpu.example.com", "");
  REQUIRE(names);
  CHECK(names->data_dir == "/k/plugins/gpu.example.com");
  CHECK(names->service == "/k/plugins/gpu.example.com/dra.sock");
  CHECK(names->registration == "/k/plugins_registry/gpu.example.com-reg.sock");
  CHECK(names->serial_lock == "/k/plugins/gpu.example.com/serialize.lock");
}

TEST_CASE("dra: the sockets of an instance become shorter until they fit") {
  const std::string uid = "33333333-0000-4000-8000-000000000001";
  const auto of = [&](std::size_t size) {
    return socket_names("/" + std::string(size - 1, 'k'), "gpu.example.com", uid);
  };
  CHECK(of(28)->registration.ends_with("/gpu.example.com-" + uid + "-reg.sock"));
  CHECK(of(28)->registration.size() == max_socket_path);
  CHECK(of(29)->registration.ends_with("/gpu.example.com-1CmAWf38ppI-reg.sock"));
  CHECK(of(53)->registration.size() == max_socket_path);
  CHECK(of(54)->registration.ends_with("/dra-KyVQypZBmTiqqXfZBT2rpg-reg.sock"));
  CHECK(of(37)->service.ends_with("/dra-" + uid + ".sock"));
  CHECK(of(38)->service.ends_with("/dra-1CmAWf38ppI.sock"));
  const auto too_long = of(55);
  REQUIRE_FALSE(too_long);
  CHECK(too_long.error().code == cdi::Errc::limit);
}
