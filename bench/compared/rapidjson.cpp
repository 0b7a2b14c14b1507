// A floor of run.sh: the tree of rapidjson, with UTF-8 checked like here.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <rapidjson/document.h>

#include "floor.hpp"

int main(int, char** argv) {
  measure_floor(argv[1], "json", [](const auto& text) {
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str(), text.size());
    if (document.HasParseError()) fail("rapidjson does not parse a spec");
    return document.MemberCount();
  });
}
