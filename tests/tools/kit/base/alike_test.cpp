// Lines that say the same about many things.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/base/alike.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using Texts = std::vector<std::string>;

Texts shown(const Texts& list) {
  Texts out;
  for (const auto& [text, more] : tools::shown_of_alike(list, tools::without_numbers)) {
    out.push_back(*text + tools::and_more_alike(more));
  }
  return out;
}

}  // namespace

TEST_CASE("alike: of three or more that differ in words with digits, the first is shown") {
  CHECK(shown({"GPU 1 is gone", "ready", "GPU 2 is gone", "GPU /dev/x3 is gone"}) ==
        Texts{"GPU 1 is gone (and 2 more like it)", "ready"});
  CHECK(shown({"GPU 1 is gone", "GPU 2 is gone"}) == Texts{"GPU 1 is gone", "GPU 2 is gone"});
  CHECK(shown({"GPU 1 is gone", "GPU 2 is hot", "GPU 3 is gone"}).size() == 3);
}

TEST_CASE("alike: without a key, each is shown") {
  CHECK(shown({"1", "2", "3"}) == Texts{"1", "2", "3"});
  CHECK(shown({}).empty());
}
