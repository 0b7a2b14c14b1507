// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/sha256.hpp>

namespace {

// What the cache takes as an option.
std::string (*const as_option)(std::string_view) = &cdi::sha256;

}  // namespace

TEST_CASE("The digests are those of FIPS 180") {
  const std::pair<std::string, std::string_view> rows[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [bytes, digest] : rows) CHECK(as_option(bytes) == digest);
}

// Made with sha256sum. The padding takes one block more from 56 bytes of the last block on.
TEST_CASE("The digests are right around block borders, and for all byte values") {
  const std::pair<std::size_t, std::string_view> rows[] = {
      {55, "eb2c86e932179f4ba13fe8715a26124b77d6bad290b9b4c1cc140cf633300c19"},
      {56, "a5fc6e203a4c2b657d0d153885932414b2ffc6a93f0f8bf8b3183315e5a7212c"},
      {63, "94e419fabac7f930810f9636354042f8c1426d2f834d4ab65c93dc1e69326b13"},
      {64, "a0fab1377f49a759b57f63318262ebe89fabfc990e8e93ceac2984561482b9d4"},
      {65, "74b128f30cf83de43ddf4aafc40c7b50a7443d3c73a89a7cfca17e15e43d51ab"},
      {119, "68297a9eb141ce16bbc0847da1c0c48e2858704feaa13993bde29f87a198a6e1"},
      {120, "392add47fbaa8197a874ebe770a947a26dd6f2becce5f64688cc4d18c9da93bd"},
      {127, "7bdbefa63b6989e6a15abad9d52c0770bce07182a535b9a1b3d4c0e38c8b0856"},
      {128, "70ae1c5307f5250d5cb9e40742ba9613fcdf9b8d9eb6dd393330443b2d5effbd"},
      {129, "75c76be2aed2772327536dc2fa8759d16cbe7dc9c535954d7d1e05a11bdd3fc6"},
  };
  for (const auto& [size, digest] : rows) {
    const auto bytes = size;
    CAPTURE(bytes);
    CHECK(cdi::sha256(std::string(size, 'b')) == digest);
  }
  CHECK(cdi::sha256(std::string_view{"\0\377\n\"x", 5}) ==
        "cc4647ca1f5f593297766f423819b8e7646ec3bc40b5e147c2198c8028090c21");
  CHECK(cdi::sha256(std::string_view{}) == cdi::sha256(""));
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
TEST_CASE("The digest is empty if OpenSSL refuses") {
  REQUIRE(EVP_set_default_properties(nullptr, "provider=none") == 1);
  CHECK(cdi::sha256("abc").empty());
  REQUIRE(EVP_set_default_properties(nullptr, "") == 1);
  CHECK(cdi::sha256("abc").starts_with("ba7816bf"));
}
#endif
