// Tests for include/cdi/files/directory.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/directory.hpp>

#include "../../support/open_dir.hpp"
#include "../../support/random_numbers.hpp"
#include "../../support/temp_tree.hpp"

namespace {

constexpr std::size_t max_names = 1000;

bool is_short(std::string_view name) {
  return name.size() == 1 && name != ".";
}

std::vector<std::string> names_of(const std::vector<cdi::detail::DirectoryEntry>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("Wanted names are listed, sorted by bytes, any number of times") {
  const TempTree tree;
  for (const auto* name : {"b", "a", "C", "long"}) tree.put(name, "");
  const auto directory = open_dir(tree.path());
  const auto before = open_files();
  for (int i = 0; i < 2; ++i) {
    const auto listing = cdi::detail::list_directory(directory.get(), "dir", is_short, max_names);
    REQUIRE(listing);
    CHECK(names_of(listing->entries) == std::vector<std::string>{"C", "a", "b"});
    struct stat info = {};
    REQUIRE(::fstat(directory.get(), &info) == 0);
    CHECK(listing->signature == cdi::signature_of(info));
  }
  const auto some = cdi::detail::list_directory(directory.get(), "dir", is_short, 1);
  REQUIRE(some);
  CHECK(some->entries.size() == 2);
  CHECK(open_files() == before);
}

TEST_CASE("A name that readdir gives twice is listed once") {
  std::vector<cdi::detail::DirectoryEntry> entries{
      {"b", DT_REG}, {"a", DT_LNK}, {"b", DT_REG}, {"a", DT_LNK}, {"c", DT_REG}};
  cdi::detail::sort_by_name(entries);
  CHECK(names_of(entries) == std::vector<std::string>{"a", "b", "c"});
  CHECK(entries[0].type == DT_LNK);
}

TEST_CASE("Names are sorted by their bytes, whatever they begin with") {
  RandomNumbers random{1};
  for (int i = 0; i < 200; ++i) {
    std::set<std::string> names;
    const std::string beginning(random.below(20), 'x');
    for (auto count = random.below(40); count > 0; --count) {
      auto name = beginning;
      for (auto size = random.below(12); size > 0; --size)
        name.push_back("a\x01\xff"[random.below(3)]);
      names.insert(name);
    }
    std::vector<cdi::detail::DirectoryEntry> entries;
    for (const auto& name : names) entries.insert(entries.begin(), {name, DT_REG});
    for (auto& entry : entries) {
      std::swap(entry, entries[random.below(static_cast<std::uint32_t>(entries.size()))]);
    }
    cdi::detail::sort_by_name(entries);
    CHECK(names_of(entries) == std::vector<std::string>{names.begin(), names.end()});
  }
}

TEST_CASE(
    "A directory that changes while it is listed is listed again, a limited number of times") {
  const TempTree tree;
  tree.put("a", "");
  const auto directory = open_dir(tree.path());
  int changes = 0;
  int lists = 0;
  const auto wanted = [&](std::string_view name) {
    if (name != "a") return is_short(name);
    ++lists;
    if (changes == 0) return true;
    tree.put(std::string(1, static_cast<char>('a' + changes--)), "");
    // Another time than before, though the clock of a file system has steps.
    const timespec times[] = {{.tv_sec = lists, .tv_nsec = 0}, {.tv_sec = lists, .tv_nsec = 0}};
    REQUIRE(::futimens(directory.get(), times) == 0);
    return true;
  };
  const auto list = [&] {
    lists = 0;
    auto listing = cdi::detail::list_directory(directory.get(), "dir", wanted, max_names);
    REQUIRE(listing);
    return *std::move(listing);
  };
  list();
  CHECK(lists == 1);
  changes = 1;
  CHECK(names_of(list().entries) == std::vector<std::string>{"a", "b"});
  CHECK(lists == 2);

  changes = 20;  // more than anybody waits for
  const auto last = list();
  CHECK(changes == 20 - lists);
  struct stat info = {};
  REQUIRE(::fstat(directory.get(), &info) == 0);
  CHECK(last.signature != cdi::signature_of(info));  // a later scan looks again
}

TEST_CASE("A listing has an offset of its own, also in a directory that may only be read") {
  const TempTree tree;
  for (const auto* name : {"a", "b"}) tree.put(name, "");
  const auto directory = open_dir(tree.path());
  const auto at = ::lseek(directory.get(), 0, SEEK_CUR);
  REQUIRE(cdi::detail::list_directory(directory.get(), "dir", is_short, max_names));
  CHECK(::lseek(directory.get(), 0, SEEK_CUR) == at);

  REQUIRE(::chmod(tree.path().c_str(), 0444) == 0);
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const auto listing = cdi::detail::list_directory(directory.get(), "dir", is_short, max_names);
  REQUIRE(listing);
  CHECK(listing->entries.size() == 2);
}

TEST_CASE("A directory that cannot be listed is an error, and leaves no descriptor") {
  const TempTree tree;
  tree.put("file", "");
  const cdi::Descriptor file{::open((tree / "file").c_str(), O_RDONLY | O_CLOEXEC)};
  const auto before = open_files();
  for (const int number : {file.get(), -1}) {
    const auto listing = cdi::detail::list_directory(number, "dir", is_short, max_names);
    REQUIRE_FALSE(listing);
    CHECK(listing.error().system == (number < 0 ? EBADF : ENOTDIR));
    CHECK(listing.error().message.starts_with("cannot list the directory: "));
    CHECK(listing.error().position.file == "dir");
  }
  CHECK(open_files() == before);
}

TEST_CASE("A missing directory is created with those above it, with mode 0755 whatever the umask") {
  const TempTree tree;
  const auto umask = ::umask(077);
  for (int i = 0; i < 2; ++i) CHECK(cdi::detail::open_or_make_directory(tree / "a/b"));
  ::umask(umask);
  CHECK(mode_of(tree / "a") == 0755);
  CHECK(mode_of(tree / "a/b") == 0755);
  CHECK(cdi::detail::open_or_make_directory(tree / "c//d///"));
  CHECK(mode_of(tree / "c/d") == 0755);
  tree.put("file", "");
  tree.link("gone", "dangling");
  for (const auto* name : {"file", "file/in", "dangling"}) {
    CAPTURE(name);
    const auto made = cdi::detail::open_or_make_directory(tree / name);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == cdi::Errc::system);
  }
}
