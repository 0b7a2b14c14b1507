// Tests for include/cdi/rules/annotation_key.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/rules/annotation_key.hpp>

namespace {

using namespace std::string_view_literals;

static_assert(cdi::is_annotation_key("example.com/name") && !cdi::is_annotation_key("/name"));
static_assert(noexcept(cdi::is_annotation_key(""sv)));

std::string letters(std::size_t count) {
  return std::string(count, 'a');
}

TEST_CASE("a key is a name, or a domain and a name") {
  for (const auto key :
       {"a"sv, "0"sv, "name"sv, "My-Name_0.x"sv, "a..b"sv, "a-._b"sv, "example.com/name"sv,
        "cdi.k8s.io/vendor.class_id"sv, "a/b"sv, "0.1-2.x/name"sv, "a--b/name"sv}) {
    CAPTURE(key);
    CHECK(cdi::check_annotation_key(key));
  }
}

TEST_CASE("case does not matter") {
  CHECK(cdi::check_annotation_key("EXAMPLE.Com/Name"));
  CHECK(cdi::check_annotation_key("NAME"));
}

TEST_CASE("the name has at most 63 bytes, with a domain or without") {
  CHECK(cdi::check_annotation_key(letters(63)));
  CHECK_FALSE(cdi::check_annotation_key(letters(64)));
  CHECK(cdi::check_annotation_key("example.com/" + letters(63)));
  CHECK_FALSE(cdi::check_annotation_key("example.com/" + letters(64)));
}

TEST_CASE("the domain has at most 253 bytes, in parts of any length") {
  CHECK(cdi::check_annotation_key(letters(253) + "/" + letters(63)));
  CHECK_FALSE(cdi::check_annotation_key(letters(254) + "/a"));
}

TEST_CASE("what is not a key is refused") {
  for (const auto key : {""sv,
                         "/"sv,
                         "/name"sv,
                         "domain/"sv,
                         "a/b/c"sv,
                         "a//b"sv,
                         "-a"sv,
                         "a-"sv,
                         "_a"sv,
                         "a_"sv,
                         ".a"sv,
                         "a."sv,
                         "a b"sv,
                         " a"sv,
                         "a\n"sv,
                         "a:b"sv,
                         "a=b"sv,
                         "a*b"sv,
                         "a\0b"sv,
                         "\xc3\xa9"sv,
                         "a\xc3\xa9z"sv,
                         "a_b/name"sv,
                         "-a/name"sv,
                         "a-/name"sv,
                         ".a/name"sv,
                         "a./name"sv,
                         "a..b/name"sv,
                         "a.-b/name"sv,
                         "a-.b/name"sv,
                         "a:b/name"sv,
                         "a b/name"sv,
                         "\xc3\xa9/name"sv,
                         "example.com/-a"sv,
                         "example.com/a b"sv}) {
    CAPTURE(cdi::quoted(key));
    const auto checked = cdi::check_annotation_key(key);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == cdi::Errc::invalid);
    CHECK(checked.error().message.starts_with("annotation key " + cdi::quoted(key)));
  }
}

TEST_CASE("the reason says what to change") {
  struct Row {
    std::string key;
    std::string_view message;
  };
  const Row rows[] = {
      {"", R"(annotation key "" is empty: write at least one letter or digit)"},
      {"-a", R"(annotation key "-a" must begin with a letter or digit)"},
      {"a b", R"(annotation key "a b" may contain only letters, digits and - _ .; )"
              "byte 2 is \" \""},
      {"a/b/c", R"(annotation key "a/b/c" has more than one slash: write domain/name)"},
      {"/b",
       R"(annotation key "/b" has nothing before its slash: add a domain, or omit the slash)"},
      {"a_b/c", R"(annotation key "a_b/c": domain "a_b" must be words of letters, digits )"
                "and inner -, separated by single dots"},
      {"a.b/", R"(annotation key "a.b/": name "" is empty: write at least one letter or digit)"},
      {"a.b/c-", R"(annotation key "a.b/c-": name "c-" must end with a letter or digit)"},
  };
  for (const auto& [key, message] : rows) {
    const auto checked = cdi::check_annotation_key(key);
    REQUIRE_FALSE(checked);
    CHECK(to_string(checked.error()) == message);
  }
}

TEST_CASE("the reason tells lengths, of texts that it cuts") {
  const auto name = cdi::check_annotation_key(letters(64));
  REQUIRE_FALSE(name);
  CHECK(to_string(name.error()) ==
        "annotation key \"" + letters(64) + "\" has 64 bytes: use at most 63");
  const auto domain = cdi::check_annotation_key(letters(300) + "/a");
  REQUIRE_FALSE(domain);
  CHECK(to_string(domain.error()) == "annotation key \"" + letters(120) +
                                         "...\" has 300 bytes before its slash: use at most 253");
}

}  // namespace
