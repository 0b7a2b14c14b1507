// Tests for include/cdi/publish/publish.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/file.hpp>
#include <cdi/publish/publish.hpp>
#include <cdi/text/document.hpp>

#include "../../support/publisher_tree.hpp"

namespace {

namespace fs = std::filesystem;
using Action = cdi::Publication::Action;
using cdi::DryRun;
using cdi::Publisher;

}  // namespace

TEST_CASE("A spec is written with its owner and mode 0644, and not again if it is unchanged") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto umask = ::umask(077);
  for (const std::string name : {"a.json", "a.yaml"}) {
    CAPTURE(name);
    const auto path = dir / name;
    const auto done = publisher.write(name, spec_of("d"));
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    CHECK(*done == cdi::Publication{path, Action::created});
    const auto loaded = cdi::read_spec_file(path);
    REQUIRE_MESSAGE(loaded, (loaded ? "" : to_string(loaded.error())));
    auto expected = spec_of("d");
    expected.annotations = {{std::string{cdi::owner_annotation}, "me"}};
    CHECK(loaded->spec == expected);
    CHECK(loaded->warnings.empty());
    CHECK(mode_of(path) == 0644);

    const auto before = info_of(path);
    CHECK(report(publisher.write(name, spec_of("d"))) == "unchanged " + name);
    CHECK(report(publisher.write(name, expected)) == "unchanged " + name);
    CHECK(info_of(path).st_ino == before.st_ino);
    CHECK(report(publisher.write(name, spec_of("e"))) == "replaced " + name);
    CHECK(device_in(path) == "e");
    CHECK(info_of(path).st_ino != before.st_ino);

    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    CHECK(report(publisher.write(name, spec_of("e"))) == "replaced " + name);
    CHECK(mode_of(path) == 0644);
    CHECK(report(publisher.remove(name)) == "removed " + name);
    CHECK(report(publisher.remove(name)) == "absent " + name);
  }
  ::umask(umask);
  CHECK(dir.names().empty());
}

TEST_CASE("Names of other directories, and names that runtimes ignore, are refused") {
  const TempDir dir;
  REQUIRE(::mkdir((dir / "cdi").c_str(), 0755) == 0);
  REQUIRE(::mkdir((dir / "cdi/sub").c_str(), 0755) == 0);
  const Publisher publisher{"me", dir / "cdi"};
  const std::string names[] = {
      "",
      ".",
      "..",
      "a",
      "a.yml",
      "a.JSON",
      "a.json/",
      "../a.json",
      "sub/a.json",
      "/a.json",
      "./a.json",
      std::string{"a.json\0.json", 13},
      std::string{"a\0.json", 7},
      std::string(251, 'n') + ".json",
  };
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK_FALSE(cdi::check_spec_file_name(name));
    const auto written = publisher.write(name, spec_of("d"));
    REQUIRE_FALSE(written);
    CHECK(written.error().code == cdi::Errc::invalid);
    CHECK(written.error().message.starts_with("file name \""));
    CHECK_FALSE(publisher.remove(name));
    CHECK_FALSE(publisher.reconcile({{"good.json", spec_of("d")}, {name, spec_of("d")}}));
    CHECK_FALSE(publisher.prune({name}));
  }
  CHECK(dir.names() == std::set<std::string>{"cdi"});
  CHECK(fs::is_empty(dir / "cdi/sub"));
  CHECK(publisher.files()->empty());
  const auto longest = std::string(250, 'n') + ".json";
  CHECK(report(publisher.write(longest, spec_of("d"))) == "created " + longest);
}

TEST_CASE("Owners that cannot be recorded exactly are refused") {
  const TempDir dir;
  for (const std::string good : {"me", "007", "~", "driver of v.com (GPU) \"1\"", "null"}) {
    CAPTURE(good);
    CHECK(cdi::check_owner(good));
    const Publisher publisher{good, dir.path()};
    for (const std::string name : {"a.json", "a.yaml"}) {
      CHECK(publisher.write(name, spec_of("d")));
      CHECK(publisher.files().operator*() == std::vector{name});
      CHECK(publisher.remove(name));
    }
  }
  CHECK(cdi::check_owner(std::string(253, 'o')));
  for (const std::string& bad :
       {std::string{}, std::string{" me"}, std::string{"me "}, std::string{"m\ne"},
        std::string{"m\xC3\xA9"}, std::string{"m\x7f"}, std::string{"m\0e", 3},
        std::string(254, 'o')}) {
    CAPTURE(bad);
    const Publisher publisher{bad, dir.path()};
    const auto done = publisher.write("a.json", spec_of("d"));
    REQUIRE_FALSE(done);
    CHECK(done.error().code == cdi::Errc::invalid);
    CHECK(done.error().message.starts_with("owner \""));
    CHECK_FALSE(publisher.remove("a.json"));
    CHECK_FALSE(publisher.files());
    CHECK_FALSE(publisher.reconcile({}));
    CHECK_FALSE(publisher.prune({}));
  }
  CHECK(dir.names().empty());
}

TEST_CASE("With Replace::any, files of others are removed, but nothing that is not a file") {
  const TempDir dir;
  const Publisher me{"me", dir.path()};
  REQUIRE(Publisher("you", dir.path()).write("yours.yaml", spec_of("d")));
  put_file(dir / "broken.json", "{");
  REQUIRE(::symlink("elsewhere", (dir / "link.yaml").c_str()) == 0);
  REQUIRE(::mkdir((dir / "folder.yaml").c_str(), 0755) == 0);
  for (const std::string name : {"yours.yaml", "broken.json", "link.yaml"}) {
    CAPTURE(name);
    CHECK(me.remove(name).error().code == cdi::Errc::conflict);
    CHECK(report(me.remove(name, DryRun::yes, cdi::Replace::any)) == "removed " + name);
    CHECK(dir.names().contains(name));
    CHECK(report(me.remove(name, DryRun::no, cdi::Replace::any)) == "removed " + name);
    CHECK_FALSE(dir.names().contains(name));
  }
  CHECK(me.remove("folder.yaml", DryRun::no, cdi::Replace::any).error().code ==
        cdi::Errc::conflict);
  CHECK(report(me.remove("absent.yaml", DryRun::no, cdi::Replace::any)) == "absent absent.yaml");
}

TEST_CASE("The directory is created when needed, with its parents and mode 0755") {
  const TempDir dir;
  const auto umask = ::umask(077);
  const Publisher publisher{"me", dir / "a/./b//c/"};
  CHECK(report(publisher.remove("a.json")) == "absent a.json");
  CHECK(publisher.files()->empty());
  CHECK(report(publisher.prune({"a.json"})).empty());
  CHECK(report(publisher.reconcile({})).empty());
  CHECK(report(publisher.write("a.json", spec_of("d"), DryRun::yes)) == "created a.json");
  CHECK(report(publisher.reconcile({{"a.json", spec_of("d")}}, DryRun::yes)) == "created a.json");
  CHECK(dir.names().empty());

  const auto done = publisher.write("a.json", spec_of("d"));
  REQUIRE(done);
  CHECK(done->path == dir / "a/b/c/a.json");
  CHECK(device_in(dir / "a/b/c/a.json") == "d");
  for (const auto* made : {"a", "a/b", "a/b/c"}) CHECK(mode_of(dir / made) == 0755);
  CHECK(report(Publisher("me", dir / "r").reconcile({{"a.json", spec_of("d")}})) ==
        "created a.json");
  ::umask(umask);

  put_file(dir / "file", "");
  REQUIRE(::symlink("gone", (dir / "dangling").c_str()) == 0);
  for (const std::string& bad :
       {dir / "file", dir / "file/in", dir / "dangling", std::string{}, std::string{"/tmp\0", 5}}) {
    CAPTURE(bad);
    CHECK_FALSE(Publisher("me", bad).write("a.json", spec_of("d")));
  }
  CHECK(dir.names() == std::set<std::string>{"a", "dangling", "file", "r"});
}

TEST_CASE("An open directory is used, whatever its path leads to now") {
  const TempDir dir;
  dir.make_dir("real");
  dir.make_dir("other");
  const cdi::Descriptor opened{::open((dir / "real").c_str(), O_RDONLY | O_DIRECTORY)};
  fs::rename(dir / "real", dir / "moved");
  dir.link("other", "real");
  const Publisher publisher{"me", opened.get(), dir / "real"};
  CHECK(publisher.write("a.json", spec_of("d"))->path == dir / "real/a.json");
  CHECK(publisher.reconcile({{"b.json", spec_of("e")}})->errors.empty());
  CHECK(*publisher.files() == std::vector<std::string>{"b.json"});
  CHECK(device_in(dir / "moved/b.json") == "e");
  CHECK(report(publisher.remove("b.json")) == "removed b.json");
  CHECK(fs::is_empty(dir / "other"));
  CHECK(::fcntl(opened.get(), F_GETFD) >= 0);
}

TEST_CASE("Nothing is created in a directory that the caller declares missing") {
  const TempDir dir;
  dir.make_dir("there");
  const Publisher publisher{"me", -1, dir / "there"};
  CHECK(report(publisher.write("a.json", spec_of("d"), DryRun::yes)) == "created a.json");
  CHECK(contains(report(publisher.write("a.json", spec_of("d"))), "cannot use the directory"));
  CHECK(report(publisher.remove("a.json")) == "absent a.json");
  CHECK(report(publisher.prune({})).empty());
  CHECK(publisher.files()->empty());
  CHECK(fs::is_empty(dir / "there"));
}

TEST_CASE("A relative directory is below the current one") {
  const TempDir dir;
  const auto before = fs::current_path();
  fs::current_path(dir.path());
  const auto below = Publisher{"me", "x"}.write("a.json", spec_of("d"));
  const auto here = Publisher{"me", "."}.write("a.json", spec_of("d"));
  fs::current_path(before);
  CHECK(report(below) == "created a.json");
  CHECK(report(here) == "created a.json");
  CHECK(dir.names() == std::set<std::string>{"a.json", "x"});
}

TEST_CASE("An invalid spec is refused, and so is one over the size limit of readers") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  auto empty = spec_of("d");
  empty.devices.clear();
  auto version = spec_of("d");
  version.version = "9.0.0";
  auto big = spec_of("d");
  big.devices[0].container_edits.env = {"A=" + std::string(cdi::Limits{}.bytes / 6, '\x01')};
  auto annotation = spec_of("d");
  annotation.devices[0].annotations["a b"] = "";
  const std::pair<cdi::Spec, cdi::Errc> rows[] = {{empty, cdi::Errc::invalid},
                                                  {version, cdi::Errc::invalid},
                                                  {annotation, cdi::Errc::invalid},
                                                  {big, cdi::Errc::limit}};
  for (const auto& [spec, code] : rows) {
    const auto done = publisher.write("a.json", spec);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == code);
    CHECK(done.error().position.file == dir / "a.json");
    CHECK_FALSE(publisher.reconcile({{"0.json", spec_of("d")}, {"a.json", spec}}));
  }
  CHECK(dir.names().empty());
}

TEST_CASE("No descriptor is left open, whatever the outcome") {
  const TempDir dir;
  put_file(dir / "foreign.json", foreign);
  const auto before = open_files();
  const Publisher publisher{"me", dir / "x/y"};
  CHECK(publisher.write("a.json", spec_of("d")));
  CHECK(publisher.write("a.json", spec_of("e")));
  CHECK(publisher.reconcile({{"b.json", spec_of("d")}}));
  CHECK(publisher.files());
  CHECK(publisher.remove("b.json"));
  const Publisher here{"me", dir.path()};
  CHECK_FALSE(here.write("foreign.json", spec_of("d")));
  CHECK_FALSE(here.reconcile({{"foreign.json", spec_of("d")}}));
  CHECK_FALSE(Publisher("me", dir / "foreign.json").files());
  CHECK(open_files() == before);
}
