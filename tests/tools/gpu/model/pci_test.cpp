// Addresses of PCI functions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/gpu/model/pci.hpp"

#include <string_view>

#include <doctest/doctest.h>

using namespace prepare;

TEST_CASE("an address is four hexadecimal numbers") {
  CHECK(parse_pci_address("0000:17:00.0") == PciOrder{0, 0x17, 0, 0});
  CHECK(parse_pci_address("10000:e1:1f.7") == PciOrder{0x10000, 0xe1, 0x1f, 7});
}

TEST_CASE("texts that are not addresses") {
  for (const std::string_view text :
       {"", "17:00.0", "0000:17:00.x", "0000:17:00:0", "0000:17.00.0", "0000.17:00.0",
        "00:00:17:00.0", "0000:1.:00.0", "0000:17:.0.0", "0000:17:00.8", "fffffffff:17:00.0"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_pci_address(text));
  }
}
