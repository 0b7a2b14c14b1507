// Tests for include/cdi/rules/name.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/rules/name.hpp>

#include "../../support/random_numbers.hpp"

namespace {

using namespace std::string_view_literals;
using cdi::NamePart;

static_assert(cdi::parse_name("vendor.com/class=dev") ==
              cdi::QualifiedName{"vendor.com", "class", "dev"});
static_assert(cdi::parse_kind("vendor.com/class") == cdi::QualifiedName{"vendor.com", "class", ""});
static_assert(!cdi::parse_name("") && !cdi::parse_kind("") && !cdi::parse_name("v/"));
static_assert(noexcept(cdi::parse_name(""sv)) && noexcept(cdi::parse_kind(""sv)));

/// What the Go reference says of a text as each part of a name.
struct Part {
  std::string_view text;
  bool vendor;
  bool device;
};

constexpr Part parts[] = {
    {"", false, false},
    {"a", true, true},
    {"A", true, true},
    {"0", false, true},
    {"9z", false, true},
    {"z9", true, true},
    {"-", false, false},
    {"_", false, false},
    {".", false, false},
    {":", false, false},
    {"v..x", true, true},
    {"A_b.C", true, true},
    {"a-b", true, true},
    {"a:b", false, true},
    {"0000:00:1f.3", false, true},
    {"a.", false, false},
    {"a-", false, false},
    {"a_", false, false},
    {"a:", false, false},
    {".a", false, false},
    {"-a", false, false},
    {"a b", false, false},
    {" a", false, false},
    {"a\n", false, false},
    {"a/b", false, false},
    {"a=b", false, false},
    {"a,b", false, false},
    {"a*b", false, false},
    {"a\0b"sv, false, false},
    {"ab\0"sv, false, false},
    {"\xc3\xa9", false, false},
    {"a\xc3\xa9"
     "b",
     false, false},
};

TEST_CASE("vendors, classes and devices follow the rules of the reference") {
  for (const auto& row : parts) {
    CAPTURE(cdi::quoted(row.text));
    CHECK(cdi::is_vendor_name(row.text) == row.vendor);
    CHECK(cdi::is_class_name(row.text) == row.vendor);
    CHECK(cdi::is_device_name(row.text) == row.device);
  }
}

/// The rules in the words of the CDI document, to compare with.
bool is_slow_word(std::string_view text, std::string_view extra, bool letter_first) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  if (letter_first && text.front() <= '9') return false;
  for (const char c : text) {
    if (!is_alphanumeric(c) && extra.find(c) == std::string_view::npos) return false;
  }
  return true;
}

std::optional<cdi::QualifiedName> parse_slowly(std::string_view text) {
  const auto equals = text.find('=');
  const auto slash = text.substr(0, equals).find('/');
  if (equals == std::string_view::npos || slash == std::string_view::npos) return std::nullopt;
  const cdi::QualifiedName name{text.substr(0, slash), text.substr(slash + 1, equals - slash - 1),
                                text.substr(equals + 1)};
  const bool good = is_slow_word(name.vendor, "_-.", true) &&
                    is_slow_word(name.device_class, "_-.", true) &&
                    is_slow_word(name.device, "_-.:", false);
  return good ? std::optional{name} : std::nullopt;
}

void check_against_slow(std::string_view text) {
  const auto slow = parse_slowly(text);
  const bool same_name = cdi::parse_name(text) == slow;
  const auto equals = text.find('=');
  const auto kind = cdi::parse_kind(text.substr(0, equals));
  const bool same_kind = kind.has_value() ==
                         parse_slowly(std::string{text.substr(0, equals)}.append("=0")).has_value();
  const bool same_vendor = cdi::is_vendor_name(text) == is_slow_word(text, "_-.", true);
  const bool same_device = cdi::is_device_name(text) == is_slow_word(text, "_-.:", false);
  if (same_name && same_kind && same_vendor && same_device) return;
  CAPTURE(cdi::quoted(text));
  CHECK(same_name);
  CHECK(same_kind);
  CHECK(same_vendor);
  CHECK(same_device);
}

TEST_CASE("each character counts as the document says") {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    for (const std::string& text :
         {std::string{c}, std::string{"a"} + c + "b", std::string{c} + "b", std::string{"a"} + c,
          std::string{"v/c="} + c + "d", std::string{"v/c"} + c + "=d",
          std::string{"v"} + c + "/c=d"}) {
      check_against_slow(text);
    }
  }
}

TEST_CASE("all short texts are accepted or refused as the document says") {
  constexpr std::string_view chars = "a0-:/=";
  std::string text;
  for (std::size_t size = 0; size <= 7; ++size) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < size; ++i) count *= chars.size();
    for (std::size_t number = 0; number < count; ++number) {
      text.clear();
      for (std::size_t rest = number; text.size() < size; rest /= chars.size()) {
        text.push_back(chars[rest % chars.size()]);
      }
      check_against_slow(text);
    }
  }
}

TEST_CASE("random texts are accepted or refused as the document says") {
  constexpr std::string_view chars = "abcXYZ0189_-.:";
  RandomNumbers random{16};
  const auto word = [&] {
    std::string text(1 + random.below(40), 'a');
    for (char& c : text) c = chars[random.below(random.below(4) == 0 ? 14U : 10U)];
    if (random.below(40) == 0) text[random.below(static_cast<std::uint32_t>(text.size()))] = '\xe9';
    return text;
  };
  std::size_t good = 0;
  for (int round = 0; round < 100'000; ++round) {
    const std::string text = word() + "/" + word() + "=" + word();
    check_against_slow(text);
    if (cdi::parse_name(text)) ++good;
  }
  CHECK(good > 100);
}

TEST_CASE("names have no length limit") {
  const std::string part(300, 'a');
  CHECK(cdi::parse_name(part + "/" + part + "=" + part) == cdi::QualifiedName{part, part, part});
}

/// A qualified name and its parts.
struct Name {
  std::string_view text;
  std::string_view vendor;
  std::string_view device_class;
  std::string_view device;
};

TEST_CASE("a qualified name is cut at the first equals sign, then at the first slash") {
  for (const auto& row : {
           Name{"a/b=c"sv, "a"sv, "b"sv, "c"sv},
           Name{"v/c.d=e"sv, "v"sv, "c.d"sv, "e"sv},
           Name{"v.-com/class=dev"sv, "v.-com"sv, "class"sv, "dev"sv},
           Name{"VENDOR.COM/CLASS=DEV"sv, "VENDOR.COM"sv, "CLASS"sv, "DEV"sv},
           Name{"vendor.com/class=0"sv, "vendor.com"sv, "class"sv, "0"sv},
           Name{"vendor.com/class=dev:1.2_3-4"sv, "vendor.com"sv, "class"sv, "dev:1.2_3-4"sv},
       }) {
    CAPTURE(row.text);
    const auto name = cdi::parse_name(row.text);
    REQUIRE(name);
    CHECK(name->vendor == row.vendor);
    CHECK(name->device_class == row.device_class);
    CHECK(name->device == row.device);
    CHECK(name->vendor.data() == row.text.data());  // points into the row.text
    CHECK(cdi::qualified_name(row.text.substr(0, row.text.find('=')), row.device) == row.text);
  }
}

TEST_CASE("what is not a qualified name is refused, with a reason") {
  for (const auto text : {""sv,
                          "/"sv,
                          "="sv,
                          "/="sv,
                          "a"sv,
                          "a/b"sv,
                          "a/b="sv,
                          "a/=c"sv,
                          "/b=c"sv,
                          "a=b"sv,
                          "a=b/c"sv,
                          "vendor.com/class=dev=1"sv,
                          "vendor.com/class==dev"sv,
                          "vendor.com/class/sub=dev"sv,
                          "vendor.com//class=dev"sv,
                          "vendor.com/class=/dev/null"sv,
                          "/dev/null"sv,
                          "/dev/vendor.com/class=dev"sv,
                          "vendor.com/class=*"sv,
                          "v/0=d"sv,
                          "9/class=dev"sv,
                          "v:1/c=d"sv,
                          "v/c:d=e"sv,
                          " vendor.com/class=dev"sv,
                          "vendor.com/class=dev "sv,
                          "vendor.com /class=dev"sv,
                          "vendor.com/class=dev\n"sv,
                          "vendor.com/class=ab\0"sv}) {
    CAPTURE(cdi::quoted(text));
    CHECK_FALSE(cdi::parse_name(text));
    const auto why = cdi::qualified_name_error(text);
    CHECK(why.code == cdi::Errc::invalid_name);
    CHECK_FALSE(why.message.empty());
    CHECK(why.message.find('\n') == std::string::npos);
  }
}

TEST_CASE("the reason names the part and what to change") {
  struct Row {
    cdi::Error why;
    std::string_view message;
  };
  const Row rows[] = {
      {cdi::qualified_name_error("/dev/null"),
       R"("/dev/null" is not a qualified device name: write vendor.com/class=device)"},
      {cdi::qualified_name_error("gpu=0"), R"(kind "gpu" has no slash: write vendor.com/class)"},
      {cdi::qualified_name_error("9/c=0"), R"(vendor "9" must begin with a letter)"},
      {cdi::qualified_name_error("v/0=0"), R"(class "0" must begin with a letter)"},
      {cdi::qualified_name_error("v/c=-a"),
       R"(device name "-a" must begin with a letter or digit)"},
      {cdi::qualified_name_error("v/c=a-"), R"(device name "a-" must end with a letter or digit)"},
      {cdi::qualified_name_error("v/c="),
       R"(device name "" is empty: write at least one letter or digit)"},
      {cdi::qualified_name_error("/c=0"),
       R"(vendor "" is empty: write at least one letter or digit)"},
      {cdi::kind_error("v/"), R"(class "" is empty: write at least one letter or digit)"},
      {cdi::kind_error("v/c/d"),
       R"(class "c/d" may contain only letters, digits and _ - .; byte 2 is "/")"},
      {cdi::name_error(NamePart::vendor, "a:b"),
       R"(vendor "a:b" may contain only letters, digits and _ - .; byte 2 is ":")"},
      {cdi::name_error(NamePart::device, "ab c"),
       R"(device name "ab c" may contain only letters, digits and _ - . :; byte 3 is " ")"},
  };
  for (const auto& [why, message] : rows) CHECK(to_string(why) == message);
}

TEST_CASE("the reason counts to the first character that does not belong") {
  CHECK(cdi::name_error(NamePart::device, "a-b:c.d/e").message ==
        R"(device name "a-b:c.d/e" may contain only letters, digits and _ - . :; byte 8 is "/")");
  // Not that it ends in what may stand within only.
  CHECK(
      cdi::name_error(NamePart::device, "index-0-<claimUID>").message ==
      R"(device name "index-0-<claimUID>" may contain only letters, digits and _ - . :; byte 9 is "<")");
  CHECK(cdi::name_error(NamePart::vendor, "a b-").message ==
        R"(vendor "a b-" may contain only letters, digits and _ - .; byte 2 is " ")");
}

TEST_CASE("a spec file is called by vendor and class") {
  CHECK(*cdi::spec_name("vendor.com/class") == "vendor.com-class");
  CHECK(*cdi::spec_name("v/c.d") == "v-c.d");
}

TEST_CASE("a transient spec file is called by its id too") {
  CHECK(*cdi::transient_spec_name("vendor.com/class", "id") == "vendor.com-class_id");
  CHECK(*cdi::transient_spec_name("vendor.com/class", "/a/b/") == "vendor.com-class__a_b_");
  CHECK(*cdi::transient_spec_name("vendor.com/class", "") == "vendor.com-class_");
  CHECK(*cdi::transient_spec_name("vendor.com/class", "../..") == "vendor.com-class_.._..");
  for (const char c : {'\0', '\n', '\x7f'}) {
    CHECK_FALSE(cdi::transient_spec_name("vendor.com/class", std::string{"a"} + c));
  }
}

TEST_CASE("no kind, no spec name: it would lead to another directory") {
  for (const auto kind : {""sv, "vendor.com"sv, "/class"sv, "vendor.com/"sv, "../class"sv,
                          "vendor.com/class/sub"sv, "bad vendor/class"sv}) {
    CAPTURE(kind);
    const auto name = cdi::spec_name(kind);
    const auto transient = cdi::transient_spec_name(kind, "id");
    REQUIRE_FALSE(name);
    REQUIRE_FALSE(transient);
    CHECK(name.error().message == cdi::kind_error(kind).message);
    CHECK(transient.error().message == cdi::kind_error(kind).message);
  }
}

}  // namespace

TEST_CASE("The byte that a name may not contain is shown") {
  const auto message = [](std::string_view text) {
    return cdi::name_error(NamePart::device, text).message;
  };
  CHECK(message("9{a") ==
        R"(device name "9{a" may contain only letters, digits and _ - . :; byte 2 is "{")");
  CHECK(message("Z\xff"
                "a")
            .ends_with("byte 2 is \"\\xff\""));
  CHECK(message("a\xc3\xa9z").ends_with("byte 2 is \"\xc3\xa9\""));
  for (const std::string_view first : {"{a", "`a", "@a", "[a", "/a", ":a"}) {
    CAPTURE(first);
    CHECK(message(first).ends_with(" must begin with a letter or digit"));
  }
}
