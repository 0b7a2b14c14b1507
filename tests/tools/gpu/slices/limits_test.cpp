// What the Kubernetes API allows: names, versions and quantities.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/slices/limits.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace prepare;

TEST_CASE("a name of an attribute is an identifier") {
  for (const std::string& name : {std::string{"heat"}, std::string{"Heat_2"}, std::string{"_"},
                                  std::string{"a0Z9"}, std::string(32, 'a')}) {
    CAPTURE(name);
    CHECK(is_attribute_name(name));
  }
  for (const std::string& name :
       {std::string{}, std::string{"2heat"}, std::string{"a-b"}, std::string{"a.b"},
        std::string{"a{"}, std::string{"a["}, std::string{"a:"}, std::string(33, 'a')}) {
    CAPTURE(name);
    CHECK_FALSE(is_attribute_name(name));
  }
}

TEST_CASE("a DNS subdomain has labels with dots between them") {
  for (const std::string_view name : {"a", "node-1.example.com", "0"}) {
    CAPTURE(name);
    CHECK(is_dns_subdomain(name, 253));
  }
  for (const std::string_view name :
       {"", "a.", ".a", "a..b", "a-.b", "-a", "a_b", "A", "a{", "{"}) {
    CAPTURE(name);
    CHECK_FALSE(is_dns_subdomain(name, 253));
  }
  CHECK_FALSE(is_dns_subdomain("abcd", 3));
}

TEST_CASE("a driver version becomes a semantic version") {
  const auto version = [](std::string_view text) {
    return semantic_version(text).value_or("none");
  };
  CHECK(version("570.195.03") == "570.195.3");
  CHECK(version("6.8") == "6.8.0");
  CHECK(version("1.2.3.4") == "1.2.3");
  CHECK(version("1.2-rc") == "1.2.0");
  CHECK(version("1.x") == "1.0.0");
  CHECK(version("1.99999999999") == "1.0.0");
  CHECK(version("x") == "none");
  CHECK(version("") == "none");
}

TEST_CASE("a quantity has the largest unit that divides it") {
  CHECK(quantity(0) == "0");
  CHECK(quantity(1) == "1");
  CHECK(quantity(1500) == "1500");
  CHECK(quantity(2000) == "2k");
  CHECK(quantity(std::uint64_t{80} << 30U) == "80Gi");
  CHECK(quantity(std::uint64_t{1} << 60U) == "1024Pi");
}
