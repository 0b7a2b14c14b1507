// Tests for include/cdi/base/result.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>

using cdi::detail::MemberPath;

namespace {

using cdi::Errc;
using cdi::Error;
using cdi::Result;

static_assert(std::is_same_v<Result<int>::value_type, int>);
static_assert(std::is_same_v<Result<int>::error_type, Error>);
static_assert(std::is_same_v<Result<void>::value_type, void>);
static_assert(std::is_same_v<decltype(*std::declval<Result<int>&>()), int&>);
static_assert(std::is_same_v<decltype(*std::declval<const Result<int>&>()), const int&>);
static_assert(std::is_same_v<decltype(*std::declval<Result<int>>()), int&&>);
static_assert(std::is_same_v<decltype(std::declval<Result<int>>().error()), Error&&>);
static_assert(!std::is_convertible_v<Result<int>, bool>, "only where a condition is asked for");
static_assert(std::is_constructible_v<bool, const Result<int>&>);
static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);
static_assert(std::is_nothrow_move_assignable_v<Result<std::string>>);
static_assert(std::is_copy_constructible_v<Result<std::string>>);
static_assert(std::is_copy_assignable_v<Result<std::string>>);
static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
static_assert(!std::is_default_constructible_v<Result<int>>);
static_assert(std::is_default_constructible_v<Result<void>>);

TEST_CASE("A result has a value, or the reason why there is none") {
  const Result<int> good = 7;
  CHECK(good);
  CHECK(good.has_value());
  CHECK(*good == 7);

  const Result<int> bad = Error{.code = Errc::not_found, .message = "gone"};
  CHECK_FALSE(bad);
  CHECK_FALSE(bad.has_value());
  CHECK(bad.error().code == Errc::not_found);
  CHECK(bad.error().message == "gone");
}

TEST_CASE("The value can be read, changed and moved out") {
  Result<std::string> text = std::string{"abc"};
  CHECK(text->size() == 3);
  text->append("d");
  CHECK(*std::as_const(text) == "abcd");

  Result<std::unique_ptr<int>> owner = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(owner);
  CHECK(*taken == 5);
}

TEST_CASE("A result is copied, moved and assigned, with a value or a reason") {
  using Shared = std::shared_ptr<int>;
  const auto value = std::make_shared<int>(5);
  const Result<Shared> good = value;
  const Result<Shared> bad = Error{.message = "it broke, in more words than fit into a string"};
  CHECK(value.use_count() == 2);
  {
    Result<Shared> copy = good;
    CHECK(value.use_count() == 3);
    copy = bad;
    CHECK(value.use_count() == 2);
    CHECK(copy.error().message == bad.error().message);
    copy = good;
    CHECK(*copy == value);
    Result<Shared> moved = std::move(copy);
    CHECK(value.use_count() == 3);
    moved = Error{.message = "gone"};
    CHECK(moved.error().message == "gone");
    moved = Result<Shared>{value};
    Result<Shared>& same = moved;
    moved = same;
    CHECK(*moved == value);
    moved = std::move(same);
    CHECK(*moved == value);
  }
  CHECK(value.use_count() == 2);
}

TEST_CASE("The reason can be changed and moved out") {
  Result<void> bad = Error{.message = "it broke"};
  bad.error().where = "devices";
  const Error taken = std::move(bad).error();
  CHECK(taken.message == "it broke");
  CHECK(taken.where == "devices");
}

TEST_CASE("A result of nothing is a success unless there is a reason") {
  CHECK(Result<void>{});
  CHECK_FALSE(Result<void>{Error{}});
}

TEST_CASE("A path is made from the inner to the outer member") {
  struct Row {
    std::string outer;
    std::string inner;
    std::string expected;
  };
  for (const auto& row : {
           Row{"mounts", "[2]", "mounts[2]"},
           Row{"mounts[2]", "hostPath", "mounts[2].hostPath"},
           Row{"devices[0]", "containerEdits.env[1]", "devices[0].containerEdits.env[1]"},
           Row{"devices", "", "devices"},
           Row{"", "[0]", "[0]"},
           Row{"", "kind", "kind"},
           Row{"", "", ""},
       }) {
    CAPTURE(row.outer);
    CAPTURE(row.inner);
    CHECK(Error{.where = row.inner}.under(row.outer).where == row.expected);
  }
  CHECK(cdi::detail::item_path("env", 12) == "env[12]");
}

TEST_CASE("An error is written on one line, without unknown parts") {
  struct Row {
    cdi::Position position;
    std::string where;
    std::string expected;
  };
  for (const auto& row : {
           Row{{"a.json", 3, 14}, "kind", "a.json:3:14: kind: why"},
           Row{{"a.json", 3, 14}, "", "a.json:3:14: why"},
           Row{{"a.json", 3, 0}, "kind", "a.json:3: kind: why"},
           Row{{"a.json", 0, 0}, "kind", "a.json: kind: why"},
           Row{{"", 3, 14}, "kind", "line 3:14: kind: why"},
           Row{{"", 0, 0}, "kind", "kind: why"},
           Row{{"", 0, 0}, "", "why"},
       }) {
    CAPTURE(row.expected);
    CHECK(to_string(Error{.message = "why", .where = row.where, .position = row.position}) ==
          row.expected);
  }
}

TEST_CASE("The advice of an error stands behind its message, and can be replaced") {
  Error error{.message = "the file exists", .advice = "choose another name"};
  error.message.append("; nothing is written");
  CHECK(to_string(error) == "the file exists; nothing is written: choose another name");
  error.advice = "give --force";
  CHECK(to_string(error) == "the file exists; nothing is written: give --force");
}

TEST_CASE("Quoted text stays on one line and cannot end its quotes") {
  struct Row {
    std::string text;
    std::string expected;
  };
  for (const auto& row : {
           Row{"", R"("")"},
           Row{"plain /dev/x", R"("plain /dev/x")"},
           Row{"a\"b\\c", R"("a\"b\\c")"},
           Row{"a\nb", R"("a\nb")"},
           Row{"\t\r\x1b\x7f", R"("\x09\x0d\x1b\x7f")"},
           Row{std::string{"\0", 1}, R"("\x00")"},
           Row{"\xc3\xa9", "\"\xc3\xa9\""},
           // Characters that control a terminal, or that it shows in another order or on another
           // line.
           Row{"\xc2\x80\xc2\x9b\xc2\x9f", R"("\u0080\u009b\u009f")"},
           Row{"\xe2\x80\xa8\xe2\x80\xa9", R"("\u2028\u2029")"},
           Row{"\xe2\x80\xaa\xe2\x80\xae", R"("\u202a\u202e")"},
           Row{"\xe2\x81\xa6\xe2\x81\xa9", R"("\u2066\u2069")"},
           Row{"\xef\xbb\xbf\xe2\x80\x8b\xe2\x80\x8f\xd8\x9c", R"("\ufeff\u200b\u200f\u061c")"},
           Row{"\xc2\xad\xe1\xa0\x8e\xe2\x81\xa0\xe2\x81\xaf", R"("\u00ad\u180e\u2060\u206f")"},
           Row{"\xef\xb8\x80\xef\xb8\x8f\xef\xbf\xb9\xef\xbf\xbb", R"("\ufe00\ufe0f\ufff9\ufffb")"},
           Row{"\xcd\x8f\xe1\x85\x9f\xe1\x85\xa0", R"("\u034f\u115f\u1160")"},
           Row{"\xe1\x9e\xb4\xe1\x9e\xb5\xe1\xa0\x8b\xe1\xa0\x8f", R"("\u17b4\u17b5\u180b\u180f")"},
           Row{"\xe3\x85\xa4\xef\xbe\xa0\xef\xbf\xb0", R"("\u3164\uffa0\ufff0")"},
           Row{"\xf3\xa0\x81\x81", R"("\xf3\xa0\x81\x81")"},
           // Their neighbours.
           Row{"\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf", "\"\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf\""},
           Row{"\xe2\x81\x9f\xe2\x81\xb0", "\"\xe2\x81\x9f\xe2\x81\xb0\""},
           Row{"\xef\xb8\x90\xef\xbf\xbc", "\"\xef\xb8\x90\xef\xbf\xbc\""},
           Row{"\xf0\x90\x80\xa8", "\"\xf0\x90\x80\xa8\""},
           Row{"\u034e\u0350\u115e\u1161\u17b3\u17b6", "\"\u034e\u0350\u115e\u1161\u17b3\u17b6\""},
           Row{"\u180a\u1810\u3163\u3165\uff9f\uffa1\uffef",
               "\"\u180a\u1810\u3163\u3165\uff9f\uffa1\uffef\""},
       }) {
    CAPTURE(row.expected);
    CHECK(cdi::quoted(row.text) == row.expected);
  }
}

TEST_CASE("Quoted text is UTF-8 even if the text is not, wherever it is cut") {
  CHECK(cdi::quoted("a\xff\xe2\x80") == R"("a\xff\xe2\x80")");
  CHECK(cdi::quoted("\x9b") == R"("\x9b")");
  CHECK(cdi::quoted("\xed\xa0\x80") == R"("\xed\xa0\x80")");  // a surrogate
  std::string text;
  for (int i = 0; i < 3; ++i) text.append("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xc2\x9b\xff");
  for (std::size_t longest = 0; longest < 40; ++longest) {
    CHECK(cdi::detail::is_utf8(cdi::escaped(text, longest)));
  }
}

}  // namespace

TEST_CASE("A byte that is not UTF-8 is found at each place of a text") {
  for (std::size_t size = 1; size < 40; ++size) {
    std::string text(size, 'a');
    CHECK(cdi::detail::is_utf8(text));
    for (std::size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      CHECK_FALSE(cdi::detail::is_utf8(text));
      text[at] = 'a';
      CHECK(cdi::detail::is_utf8(std::string{text}.insert(at, "\xC3\xA9")));
    }
  }
}

TEST_CASE("A path names each member, with the index of an item") {
  const MemberPath root;
  CHECK(root.text() == "");
  const MemberPath device{&root, "devices", 2};
  CHECK(device.text() == "devices[2]");
  const MemberPath name{&device, "name"};
  CHECK(name.text() == "devices[2].name");
  const MemberPath first{nullptr, "env", 0};
  CHECK(first.text() == "env[0]");
}
