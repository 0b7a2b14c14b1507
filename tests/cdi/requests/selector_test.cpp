// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/requests/selector.hpp>

using Texts = std::vector<std::string>;

TEST_CASE("A selector gives the names of its devices in order") {
  CHECK(cdi::visible_devices_variable == "VISIBLE_CDI_DEVICES");
  const struct {
    std::string_view text;
    Texts names;
  } rows[] = {
      {"", {}},
      {"none", {}},
      {"void", {}},
      {" \tvoid ", {}},
      {"v.com/gpu=all", {"v.com/gpu=all"}},
      {"v.com/gpu=0", {"v.com/gpu=0"}},
      {" v.com/gpu = 3 ,1 : v.com/ib=all ", {"v.com/gpu=3", "v.com/gpu=1", "v.com/ib=all"}},
      {"v.com/gpu=4294967295", {"v.com/gpu=4294967295"}},
      {"v.com/gpu=007,+1,+00,00000000000",
       {"v.com/gpu=7", "v.com/gpu=1", "v.com/gpu=0", "v.com/gpu=0"}},
      {"v.com/gpu=0:v.com/gpu=0", {"v.com/gpu=0", "v.com/gpu=0"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto names = cdi::parse_selector(row.text);
    REQUIRE(names);
    CHECK(*names == row.names);
  }
}

TEST_CASE("What is not a selector is refused with a reason") {
  const struct {
    std::string_view text;
    cdi::Errc code;
    std::string_view reason;
  } rows[] = {
      {"all", cdi::Errc::invalid, "has no ="},
      {"0,1", cdi::Errc::invalid, "has no ="},
      {"None", cdi::Errc::invalid, "has no ="},
      {"=all", cdi::Errc::invalid_name, "has no slash"},
      {"gpu=all", cdi::Errc::invalid_name, "has no slash"},
      {"0v/gpu=1", cdi::Errc::invalid_name, "must begin with a letter"},
      {"v.com/gpu=", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0,,1", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0,", cdi::Errc::invalid, "empty device"},
      {"v.com/gpu=0:", cdi::Errc::invalid, "has no ="},
      {":v.com/gpu=0", cdi::Errc::invalid, "has no ="},
      {"v.com/gpu=all,0", cdi::Errc::invalid, "all next to other"},
      {"v.com/gpu=0,all", cdi::Errc::invalid, "all next to other"},
      {"v.com/gpu=all,all", cdi::Errc::invalid, "all next to other"},
      {"v.com/gpu=all : v.com/ib=0,all", cdi::Errc::invalid, "all next to other"},
      {"v.com/gpu=-1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=++1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+-1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+ 1", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=+all", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=1 2", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=ALL", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=4294967296", cdi::Errc::invalid, "neither all nor an index"},
      {"v.com/gpu=0=1", cdi::Errc::invalid, "neither all nor an index"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto names = cdi::parse_selector(row.text);
    REQUIRE_FALSE(names);
    CHECK(names.error().code == row.code);
    CHECK(names.error().message.find(row.reason) != std::string::npos);
  }
}
