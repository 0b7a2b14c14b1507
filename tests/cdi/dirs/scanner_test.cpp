// Tests for include/cdi/dirs/scanner.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <limits>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/dirs/scanner.hpp>
#include <cdi/registry/unresolved.hpp>

#include "../../support/cache_tree.hpp"

namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("If one file of 1000 changes, one file is read, and the others are shared") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  for (int i = 0; i < 1000; ++i) {
    tree.put_spec("a/" + std::to_string(1000 + i) + ".yaml", "d" + std::to_string(i));
  }
  cdi::Cache cache{{a}};
  Opened opened{a};
  settle(cache, opened);
  const auto before = cache.registry();
  const auto check_one_read = [&](const Names& expected) {
    const auto after = cache.registry();
    CHECK(opened.take() == expected);
    REQUIRE(after->specs().size() == 1000);
    for (std::size_t i = 0; i < 1000; ++i) {
      CHECK((after->specs()[i] == before->specs()[i]) == (i != 500));
    }
  };
  tree.put_spec("new", "changed");
  opened.take();
  REQUIRE(::rename((tree / "new").c_str(), (tree / "a/1500.yaml").c_str()) == 0);
  check_one_read({"", "1500.yaml"});  // the directory, to list it; and the file
  CHECK(cache.registry()->find("v/c=changed").device != nullptr);
  settle(cache, opened);
  tree.put_spec("a/1500.yaml", "in-place");
  opened.take();
  check_one_read({"", "1500.yaml"});
  CHECK(cache.registry()->find("v/c=in-place").device != nullptr);
}

// Once, one such file let each call list its directory again.
TEST_CASE("A file that is too large or refused is not opened again until it changes") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/large.yaml", std::string(201, ' '));
  tree.put_spec("a/refused.yaml", "e");
  const auto rejected = tree / "a/refused.yaml";
  REQUIRE(::chmod(rejected.c_str(), 0666) == 0);
  cdi::ReadOptions read{.limits = {.bytes = 200}, .reject_writable = true};
  cdi::Cache cache{{a}, {.read = read}};
  Opened opened{a};
  settle(cache, opened);
  CHECK(cache.registry()->devices().size() == 1);
  CHECK(opened.take().empty());
  REQUIRE(::chmod(rejected.c_str(), 0644) == 0);
  tree.put_spec("a/large.yaml", "f");
  CHECK(cache.registry()->devices().size() == 3);
  settle(cache, opened);
  tree.put("a/large.yaml", std::string(201, ' '));
  CHECK(cache.registry()->devices().size() == 3);  // with the last valid contents
  settle(cache, opened);
  CHECK(cache.registry()->devices().size() == 3);
  CHECK(opened.take().empty());
}

TEST_CASE("A limit of more bytes than a document may have does not reserve them") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put("a/sparse.yaml", "");
  REQUIRE(::truncate((tree / "a/sparse.yaml").c_str(), ::off_t{1} << 40) == 0);
  const cdi::ReadOptions read{.limits = {.bytes = std::numeric_limits<std::size_t>::max()}};
  const auto registry = cdi::scan_spec_dirs({a}, read);
  REQUIRE(registry->errors().size() == 1);
  CHECK(registry->errors()[0].code == cdi::Errc::limit);
}

TEST_CASE("A file that is touched, or rewritten with the same bytes, changes nothing") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.yaml", "[");
  cdi::Cache cache{{a}, {.read = {.retry_window = {}}}};
  const auto registry = cache.registry();
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/bad.yaml", "[");
  CHECK(cache.registry() == registry);
  REQUIRE(::utimensat(AT_FDCWD, (tree / "a/x.yaml").c_str(), nullptr, 0) == 0);
  CHECK(cache.registry() == registry);
  tree.put("a/bad.yaml", "\n[");
  CHECK(cache.registry() != registry);  // the error is in another line now
}

TEST_CASE("The last valid contents of a file are kept when it becomes invalid, with the error") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.retry_window = {}}}};
  const auto good = cache.registry();
  CHECK(good->find("v/c=d").spec->last_error == nullptr);

  tree.put("a/x.yaml", "cdiVersion: 1.0.0\nkind: v/c\nodd: 1\n");
  const auto kept = cache.registry();
  CHECK(from(*kept, "v/c=d") == "a/x.yaml");
  REQUIRE(kept->errors().size() == 1);
  CHECK(to_string(kept->errors()[0]) == a + "/x.yaml:3:1: odd: unknown field; keeping its last "
                                            "valid contents: use one of cdiVersion, "
                                            "kind, annotations, devices, containerEdits");
  CHECK(kept->find("v/c=d").spec->last_error != nullptr);
  CHECK(kept->dirs()[0].specs == 1);
  CHECK(cache.registry() == kept);
  // A device that it did not hold before may be in what it holds now.
  CHECK(kept->unresolved({"v/c=e"}).at(0).reason == cdi::Reason::rejected);

  tree.put("a/x.yaml", "[");  // bad in another way
  const auto worse = cache.registry();
  CHECK(from(*worse, "v/c=d") == "a/x.yaml");
  CHECK(worse->errors().at(0).position.line == 1);

  tree.put_spec("a/x.yaml", "d");  // corrected
  CHECK(cache.registry()->errors().empty());
  CHECK(cache.registry()->find("v/c=d").spec->last_error == nullptr);
  tree.put("a/x.yaml", "[");
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::unlink((tree / "a/x.yaml").c_str()) == 0);  // gone is gone
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->errors().empty());
  tree.put("a/x.yaml", "[");
  CHECK(cache.registry()->devices().empty());

  cdi::Cache strict{{a}, {.read = {.retry_window = {}, .keep_last_good = false}}};
  tree.put_spec("a/x.yaml", "d");
  CHECK(strict.registry()->devices().size() == 1);
  tree.put("a/x.yaml", "[");
  CHECK(strict.registry()->devices().empty());
  CHECK(strict.registry()->errors().size() == 1);
}

TEST_CASE("The contents of a link are dropped when its target is removed, with an error") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("target", "d");
  tree.link("../target", "a/x.yaml");
  cdi::Cache cache{{a}, {.read = {.retry_window = {}}}};
  CHECK(cache.registry()->devices().size() == 1);
  tree.put("target", "[");
  CHECK(cache.registry()->devices().size() == 1);  // kept
  REQUIRE(::unlink((tree / "target").c_str()) == 0);
  const auto gone = cache.registry();
  CHECK(gone->devices().empty());
  REQUIRE(gone->errors().size() == 1);
  CHECK(gone->errors()[0].system == ENOENT);
  tree.put_spec("target", "d");
  CHECK(cache.registry()->devices().size() == 1);
  CHECK(cache.registry()->errors().empty());
}

TEST_CASE("A path that leads to no directory any more has no specs, not even kept ones") {
  for (const bool loop : {false, true}) {
    CAPTURE(loop);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    tree.put_spec("a/x.yaml", "d");
    cdi::Cache cache{{a}, {.read = {.retry_window = {}}}};
    CHECK(cache.registry()->devices().size() == 1);
    REQUIRE(::rename(a.c_str(), (tree / "b").c_str()) == 0);
    if (loop) {
      REQUIRE(::symlink("a", a.c_str()) == 0);
    } else {
      tree.put("a", "");
    }
    CHECK(cache.registry()->devices().empty());
    REQUIRE(cache.registry()->errors().size() == 1);
    CHECK(cache.registry()->errors()[0].system == (loop ? ELOOP : ENOTDIR));
  }
}

TEST_CASE("A valid file of another name replaces kept contents, as in a new scan") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.retry_window = {}}}};
  CHECK(cache.registry()->devices().size() == 1);
  tree.put("a/x.yaml", "[");
  CHECK(from(*cache.registry(), "v/c=d") == "a/x.yaml");
  for (const std::string_view name : {"a/w.yaml", "a/y.yaml"}) {  // before and after it
    CAPTURE(name);
    tree.put_spec(name, "d");
    CHECK(from(*cache.registry(), "v/c=d") == name);
    CHECK(from(*cdi::scan_spec_dirs({a}), "v/c=d") == name);
    CHECK(cache.registry()->errors().size() == 1);  // of the bad file
    REQUIRE(::unlink((tree / name).c_str()) == 0);
  }
  CHECK(from(*cache.registry(), "v/c=d") == "a/x.yaml");
}

TEST_CASE("The contents of a file that is refused now are not kept") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  cdi::Cache cache{{a}, {.read = {.reject_writable = true}}};
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0666) == 0);
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->unresolved({"v/c=d"}).at(0).reason == cdi::Reason::denied);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0644) == 0);
  CHECK(cache.registry()->devices().size() == 1);
  REQUIRE(::chmod(a.c_str(), 0777) == 0);
  CHECK(cache.registry()->devices().empty());
  CHECK(cache.registry()->unresolved({"v/c=d"}).at(0).reason == cdi::Reason::denied);
}

TEST_CASE("A lack of descriptors does not hide earlier contents") {
  for (const std::string_view name : every_freshness) {
    CAPTURE(name);
    const TempTree tree;
    const auto a = tree.make_dir("a");
    tree.put_spec("a/x.yaml", "d");
    cdi::Cache cache{{a}, fresh(name)};
    CHECK(cache.registry()->devices().size() == 1);
    tree.put_spec("a/y.yaml", "e");
    {
      const NoMoreFiles none;
      const auto registry = cache.registry();
      CHECK(from(*registry, "v/c=d") == "a/x.yaml");
      REQUIRE(registry->errors().size() == 1);
      CHECK(registry->errors()[0].system == EMFILE);
      CHECK(registry->dirs()[0].state == cdi::SpecDir::State::unreadable);
      CHECK(registry->dirs()[0].specs == 1);
      CHECK(cache.registry() == cache.registry());  // it is not made again each time
      CHECK(cache.registry()->unresolved({"w/c=d"}).at(0).reason == cdi::Reason::unreadable);
    }
    CHECK(cache.registry()->devices().size() == 2);
    CHECK(cache.registry()->errors().empty());
  }
}

TEST_CASE("A directory or file that has become unreadable does not hide earlier contents") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put_spec("a/y.yaml", "e");
  cdi::Cache cache{{a}};
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0) == 0);
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(cache.registry()->errors().size() == 1);
  const auto& message = cache.registry()->errors()[0].message;
  CHECK(message.find("Permission denied: mode 0000, owner " + std::to_string(::geteuid())) !=
        std::string::npos);
  CHECK(message.find("; this process is user " + std::to_string(::geteuid())) != std::string::npos);
  REQUIRE(::chmod(a.c_str(), 0) == 0);
  CHECK(cache.registry()->devices().size() == 2);
  REQUIRE(::chmod(a.c_str(), 0755) == 0);
  REQUIRE(::chmod((tree / "a/x.yaml").c_str(), 0644) == 0);
  CHECK(cache.registry()->errors().empty());
}

TEST_CASE("A file that is written in pieces is waited for before it is rejected") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const std::string_view text =
      R"({"cdiVersion":"1.0.0","kind":"v/c","devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})";
  tree.put("a/x.json", text);
  cdi::Cache cache{{a}, {.read = {.retry_window = 60s, .keep_last_good = false}}};
  std::atomic<bool> done = false;
  std::thread writer{[&] {
    for (int i = 0; i < 100; ++i) {
      std::FILE* const file = std::fopen((tree / "a/x.json").c_str(), "wb");
      for (const char c : text) {
        std::fputc(c, file);
        if (c == ',') std::fflush(file);
      }
      std::fclose(file);
    }
    done = true;
  }};
  std::size_t missed = 0;
  do {
    if (cache.registry()->find("v/c=d").device == nullptr) ++missed;
  } while (!done);
  writer.join();
  CHECK(missed == 0);
}

TEST_CASE("A rejected file that names another kind now changes the registry, with the same error") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const cdi::ReadOptions options{.retry_window = {}};
  const cdi::detail::Scanner scanner{options};
  constexpr auto everything = cdi::detail::ScanScope::everything;
  tree.put("a/x.yaml", "odd: 1\nkind: v/a\n");
  const auto first = scanner.scan({a}, nullptr, everything);
  CHECK(first->registry->unresolved({"v/a=d"}).at(0).reason == cdi::Reason::rejected);
  tree.put("a/x.yaml", "odd: 1\nkind: v/b\n");
  const auto second = scanner.scan({a}, first, everything);
  CHECK(second->registry->unresolved({"v/b=d"}).at(0).reason == cdi::Reason::rejected);
}
