// SHA-256, beside the examples of FIPS 180 and the texts around a block's end.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/base/sha256.hpp"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("sha256: known digests") {
  CHECK(tools::sha256("") ==
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(tools::sha256("abc") ==
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(tools::sha256(std::string(1'000'000, 'a')) ==
        "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// From `head -c N /dev/zero | tr '\0' a | sha256sum`.
TEST_CASE("sha256: the padding fits into the last block, or needs one more") {
  CHECK(tools::sha256(std::string(55, 'a')) ==
        "sha256:9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  CHECK(tools::sha256(std::string(56, 'a')) ==
        "sha256:b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  CHECK(tools::sha256(std::string(64, 'a')) ==
        "sha256:ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
