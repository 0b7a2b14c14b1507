// Tests for include/cdi/claims/claim_journal.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/claims/claim.hpp>
#include <cdi/claims/claim_journal.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/temporary.hpp>

#include "../../support/card_driver.hpp"

namespace {

constexpr std::chrono::seconds long_enough{20};

const cdi::Claim claim{
    .uid = "a", .kind = "v.com/c", .spec_dir = "/run/cdi", .devices = {{.name = "card0"}}};

}  // namespace

TEST_CASE("A saved claim is loaded until it is erased") {
  const ClaimTree tree;
  const auto journal = tree.journal();
  REQUIRE(journal.save(claim));
  CHECK(mode_of(journal.path_of("a")) == 0600);
  auto loaded = journal.load();
  REQUIRE(loaded);
  REQUIRE(loaded->size() == 1);
  CHECK(*loaded->at("a") == claim);
  CHECK(journal.erase("a"));
  CHECK(journal.erase("a"));
  CHECK(journal.load()->empty());
}

TEST_CASE("The directory of the journal is not one for specs, by whatever path") {
  const ClaimTree tree;
  const auto journal = tree.journal();
  REQUIRE(::symlink(tree.state().c_str(), (tree / "link").c_str()) == 0);
  const auto opened = [](const std::string& path) {
    return cdi::ClaimDirectory{cdi::Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY)}, path};
  };
  for (const auto& path : {tree.state(), tree / "link"}) {
    const auto checked = journal.check_apart(opened(path));
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == cdi::Errc::invalid);
    CHECK(checked.error().position.file == path);
  }
  CHECK(journal.check_apart(opened(tree.path())));
}

TEST_CASE("A file that is not a claim is reported with its path, and others are ignored") {
  const ClaimTree tree;
  const auto journal = tree.journal();
  REQUIRE(journal.save(claim));
  put_file(journal.path_of("b"), get_file(journal.path_of("a")));  // the UID differs
  put_file(journal.path_of("torn"), get_file(journal.path_of("a")).substr(0, 150));
  put_file(tree.state() + "/notes.txt", "");
  put_file(tree.state() + "/-x.json", "");
  REQUIRE(::mkfifo(journal.path_of("fifo").c_str(), 0600) == 0);
  REQUIRE(::symlink("a.json", journal.path_of("link").c_str()) == 0);
  const auto loaded = journal.load();
  REQUIRE(loaded);
  CHECK(loaded->size() == 5);
  for (const auto* const uid : {"b", "torn", "fifo", "link"}) {
    CAPTURE(uid);
    REQUIRE_FALSE(loaded->at(uid));
    CHECK(loaded->at(uid).error().position.file == journal.path_of(uid));
  }
  CHECK(journal.named_directory("a") == "/run/cdi");
  CHECK(journal.named_directory("fifo").empty());
}

TEST_CASE("Claims are shown while another process has the journal, and nothing changes") {
  const ClaimTree tree;
  const auto journal = tree.journal();
  REQUIRE(journal.save(claim));
  put_file(journal.path_of("b"), get_file(journal.path_of("a")));
  const auto temporary = tree.state() + "/" + cdi::detail::temporary_name("c.json", 1);
  put_file(temporary, "");
  const auto directory = cdi::open_claim_directory(tree.state(), cdi::MissingDirectory::stays);
  REQUIRE(directory);
  const auto seen = cdi::ClaimJournal::peek(*directory);
  REQUIRE(seen);
  CHECK(seen->size() == 2);
  CHECK(*seen->at("a") == claim);
  CHECK_FALSE(seen->at("b"));
  CHECK(get_file(temporary).empty());
  CHECK(journal.load());
  CHECK(get_file(temporary) == "not read");
}

TEST_CASE("One process at a time has the journal") {
  const ClaimTree tree;
  {
    const auto journal = tree.journal();
    CHECK_FALSE(journal.has_waited());
    const auto second = cdi::ClaimJournal::open(tree.state(), std::chrono::seconds{0});
    REQUIRE_FALSE(second);
    CHECK(second.error().code == cdi::Errc::timeout);
  }
  CHECK(cdi::ClaimJournal::open(tree.state(), std::chrono::seconds{0}));
}

TEST_CASE("A directory that others may write is denied") {
  const ClaimTree tree;
  REQUIRE(::mkdir(tree.state().c_str(), 0755) == 0);
  REQUIRE(::chmod(tree.state().c_str(), 0777) == 0);
  const auto journal = cdi::ClaimJournal::open(tree.state(), long_enough);
  REQUIRE_FALSE(journal);
  CHECK(journal.error().code == cdi::Errc::denied);
}

TEST_CASE("The directory's path is without links") {
  const ClaimTree tree;
  REQUIRE(::mkdir(tree.state().c_str(), 0755) == 0);
  const std::string link = tree / "link";
  REQUIRE(::symlink("state", link.c_str()) == 0);
  const auto journal = cdi::ClaimJournal::open(link, long_enough);
  REQUIRE(journal);
  CHECK(journal->path() == link);
  CHECK(journal->directory().ends_with("/state"));
}
