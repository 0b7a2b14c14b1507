// The objects that the C library gives to its callers, and its errors.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../src/c/objects.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace c_library;

/// Frees an object, as `cdi_free` does.
void free_object(void* object) {
  auto* const header = reinterpret_cast<Header*>(static_cast<char*>(object) - sizeof(Header));
  header->destroy(header);
}

struct Counted {
  std::unique_ptr<int> number = std::make_unique<int>(7);
};

}  // namespace

TEST_CASE("An object is freed with the memory that it points into, from its address alone") {
  auto box = std::make_unique<Box<const int*, Counted>>();
  box->object = box->storage.number.get();
  const int** const object = release(std::move(box));
  CHECK(**object == 7);
  free_object(object);  // a sanitizer sees a leak, or memory that is freed twice
}

TEST_CASE("A list of structs keeps their addresses while it grows") {
  Objects<cdi_rule> rules;
  CHECK(rules.first() == nullptr);
  const auto* const first = &rules.add({sizeof(cdi_rule), 'c', "", 0, 0});
  for (unsigned i = 1; i < 1000; ++i) rules.add({sizeof(cdi_rule), 'c', "", 0, i});
  CHECK(rules.first() == first);
  const cdi_rule* const* items = nullptr;
  std::size_t count = 0;
  rules.give(items, count);
  REQUIRE(count == 1000);
  CHECK(items[0] == first);
  CHECK(items[999]->minor == 999);
}

TEST_CASE("Zeros follow a struct, for the members of a later release") {
  auto box = std::make_unique<Box<Grown<cdi_rule>>>();
  cdi_rule* const rule = release(std::move(box));
  const char zeros[sizeof(Grown<cdi_rule>) - sizeof(cdi_rule)] = {};
  CHECK(std::memcmp(rule + 1, &zeros[0], sizeof zeros) == 0);
  CHECK(sizeof zeros >= 64);
  free_object(rule);
}

TEST_CASE("The errors of a function are a list, in order, with their places") {
  cdi_error* error = nullptr;
  const auto none = guarded(&error, []() -> Answer<char*> {
    return std::vector<cdi::Error>{
        {.code = cdi::Errc::invalid, .message = "first", .where = "devices[0]"},
        {.code = cdi::Errc::system, .message = "second", .system = ENOENT}};
  });
  CHECK(none == nullptr);
  REQUIRE(error != nullptr);
  CHECK(error->code == CDI_INVALID);
  CHECK(error->message == std::string{"first"});
  CHECK(error->where == std::string{"devices[0]"});
  REQUIRE(error->next != nullptr);
  CHECK(error->next->code == CDI_SYSTEM);
  CHECK(error->next->system == ENOENT);
  CHECK(error->next->next == nullptr);
  free_object(error);
}

TEST_CASE("Success clears the error, and a caller need not ask for one") {
  cdi_error other{};
  cdi_error* error = &other;
  CHECK(guarded(&error, []() -> Answer<int> { return 3; }) == 3);
  CHECK(error == nullptr);
  CHECK(guarded(nullptr, []() -> Answer<int> { return cdi::Error{.message = "no"}; }) == -1);
}

TEST_CASE("Without memory, the error is one that needs none") {
  cdi_error* error = nullptr;
  CHECK(guarded(&error, []() -> Answer<int> { throw std::bad_alloc{}; }) == -1);
  REQUIRE(error != nullptr);
  CHECK(error->code == CDI_NO_MEMORY);
  CHECK(error->text == std::string{"out of memory"});
  free_object(error);  // does nothing
  CHECK(code_of({.code = cdi::Errc::system, .system = ENOMEM}) == CDI_NO_MEMORY);
}

TEST_CASE("A NUL in the place of an error is escaped, because a text in C would end there") {
  KeptErrors errors;
  keep(errors, cdi::Error{.message = "m", .where = std::string{"a\0b", 3}});
  CHECK(std::string{errors.front().object.object.where}.ends_with("b"));
}

TEST_CASE("The error of a name lists up to three files that may hold the reason") {
  cdi::Unresolved one{.name = "v/c=d", .reason = cdi::Reason::unknown_kind};
  one.why.message = "no such kind";
  for (int i = 0; i < 5; ++i) {
    one.causes.push_back({.message = "cause " + std::to_string(i)});
  }
  const Failure failure{one};
  CHECK(failure.text.find("; not used: cause 2") != std::string::npos);
  CHECK(failure.text.find("cause 3") == std::string::npos);
  CHECK(failure.text.ends_with("; and 2 more"));
  one.more_causes = 40;
  CHECK(Failure{one}.text.ends_with("; and 42 more"));
}

TEST_CASE("Texts are copied for the caller") {
  char* const copy = text("a text");
  CHECK(copy == std::string{"a text"});
  free_object(copy);
  cdi_strings* const list = strings(std::vector<std::string>{"a", "b"});
  REQUIRE(list->count == 2);
  CHECK(list->items[1] == std::string{"b"});
  free_object(list);
}
