// Tests for include/cdi/publish/reconciliation.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/publish/publish.hpp>
#include <cdi/publish/reconciliation.hpp>

#include "../../support/publisher_tree.hpp"
#include "../../support/traced_child.hpp"

namespace {

namespace fs = std::filesystem;
using cdi::DryRun;
using cdi::Publisher;

/// Calls a function while no file can have more than 5000 bytes, as if the disk were full.
template <class Function>
auto on_full_disk(Function function) {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 5000, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  auto result = function();
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  return result;
}

}  // namespace

TEST_CASE(
    "A directory is reconciled: missing and different files are written, others are removed") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const Publisher other{"other", dir.path()};
  for (const std::string name : {"changed.json", "orphan.json", "orphan.yaml", "same.yaml"}) {
    REQUIRE(publisher.write(name, spec_of("old")));
  }
  REQUIRE(other.write("other.json", spec_of("old")));
  put_file(dir / "foreign.json", foreign);
  put_file(dir / "rubbish.json", "rubbish");
  put_file(dir / "notes.txt", text_of("me"));
  put_file(dir / "torn.json", "");
  put_file(dir / ".orphan.json.1-0.cdi-tmp", "left by a killed writer");
  put_file(dir / ".orphan.json.1-0.tmp", "of another program");
  const std::map<std::string, cdi::Spec> expected{{"changed.json", spec_of("new")},
                                                  {"missing.json", spec_of("new", "v.com/d")},
                                                  {"same.yaml", spec_of("old")},
                                                  {"torn.json", spec_of("new", "v.com/e")}};
  const std::string all =
      "replaced changed.json, created missing.json, removed orphan.json, removed orphan.yaml, "
      "unchanged same.yaml, replaced torn.json";
  const auto before = dir.names();
  const auto same = info_of(dir / "same.yaml");

  auto done = publisher.reconcile(expected, DryRun::yes);
  CHECK(report(done) == all);
  REQUIRE(done);
  CHECK(done->temporaries == std::vector{dir / ".orphan.json.1-0.cdi-tmp"});
  CHECK(dir.names() == before);
  CHECK(device_in(dir / "changed.json") == "old");

  done = publisher.reconcile(expected);
  CHECK(report(done) == all);
  REQUIRE(done);
  CHECK(done->errors.empty());
  CHECK(done->unreadable.empty());
  CHECK(done->temporaries == std::vector{dir / ".orphan.json.1-0.cdi-tmp"});
  CHECK(dir.names() == std::set<std::string>{".orphan.json.1-0.tmp", "changed.json", "foreign.json",
                                             "missing.json", "notes.txt", "other.json",
                                             "rubbish.json", "same.yaml", "torn.json"});
  for (const auto& [name, spec] : expected) CHECK(device_in(dir / name) == spec.devices[0].name);
  CHECK(get_file(dir / "foreign.json") == foreign);
  CHECK(get_file(dir / "rubbish.json") == "rubbish");
  CHECK(device_in(dir / "other.json") == "old");
  CHECK(info_of(dir / "same.yaml").st_ino == same.st_ino);
  CHECK(*publisher.files() ==
        std::vector<std::string>{"changed.json", "missing.json", "same.yaml", "torn.json"});
  CHECK(*other.files() == std::vector<std::string>{"other.json"});

  CHECK(report(publisher.reconcile(expected)) ==
        "unchanged changed.json, unchanged missing.json, unchanged same.yaml, unchanged torn.json");
  CHECK(report(publisher.prune({"changed.json", "foreign.json", "gone.json"}, DryRun::yes)) ==
        "unchanged changed.json, removed missing.json, removed same.yaml, removed torn.json");
  CHECK(report(publisher.reconcile({{"same.yaml", spec_of("new")}}, DryRun::yes, {"torn.json"})) ==
        "removed changed.json, removed missing.json, replaced same.yaml, unchanged torn.json");
  CHECK_FALSE(publisher.reconcile({}, DryRun::yes, {"../a.json"}));
  CHECK(report(publisher.reconcile({})) ==
        "removed changed.json, removed missing.json, removed same.yaml, removed torn.json");
  CHECK(device_in(dir / "other.json") == "old");
  CHECK(get_file(dir / "foreign.json") == foreign);
}

TEST_CASE("A conflict or an invalid spec is found before the first change") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  REQUIRE(publisher.write("orphan.json", spec_of("old")));
  put_file(dir / "foreign.json", foreign);
  put_file(dir / ".x.json.1-0.cdi-tmp", "");
  const auto before = dir.names();
  auto bad = spec_of("d");
  bad.kind = "v.com";
  for (const auto& [name, spec] :
       {std::pair{"foreign.json", spec_of("d")}, std::pair{"z.json", bad}}) {
    const auto done = publisher.reconcile({{"a.json", spec_of("new")}, {name, spec}});
    REQUIRE_FALSE(done);
    CHECK(done.error().position.file == dir / name);
    CHECK(dir.names() == before);
  }
}

TEST_CASE("A file whose owner cannot be read stays, and is reported") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  put_file(dir / "deep.json", text_of("me") + std::string(10'000, '['));
  put_file(dir / "deep.yaml",
           "# " + std::string{cdi::owner_annotation} + "\n" + std::string(10'000, '['));
  put_file(dir / "deep-too.yaml", std::string(10'000, '['));  // has no owner for sure
  const auto done = publisher.reconcile({{"a.json", spec_of("d")}});
  CHECK(report(done) == "created a.json, removed deep.json");  // what follows its spec is not read
  REQUIRE(done);
  REQUIRE(done->unreadable.size() == 1);
  CHECK(done->unreadable[0].position.file == dir / "deep.yaml");
  CHECK(done->errors.empty());
  CHECK(dir.names() == std::set<std::string>{"a.json", "deep-too.yaml", "deep.yaml"});
}

TEST_CASE("A directory without write permission is an error before the first change") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  REQUIRE(publisher.write("a.json", spec_of("old")));
  REQUIRE(publisher.write("b.json", spec_of("old")));
  REQUIRE(::chmod(dir.path().c_str(), 0500) == 0);
  const auto done = publisher.reconcile({{"a.json", spec_of("new")}});
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EACCES);
  CHECK(done.error().position.file == dir.path());
  CHECK_FALSE(publisher.write("a.json", spec_of("new")));
  CHECK_FALSE(publisher.remove("a.json"));
  CHECK(report(publisher.write("a.json", spec_of("old"))) == "unchanged a.json");
  CHECK(*publisher.files() == std::vector<std::string>{"a.json", "b.json"});
}

TEST_CASE("A file that fails is reported, and others are written, but none is removed") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  REQUIRE(publisher.write("big.json", spec_of("old")));
  REQUIRE(publisher.write("orphan.json", spec_of("old")));
  auto big = spec_of("new");
  big.devices[0].container_edits.env = {"A=" + std::string(10'000, 'x')};
  const auto done = on_full_disk([&] {
    return publisher.reconcile({{"a.json", spec_of("new", "v.com/d")},
                                {"big.json", big},
                                {"c.json", spec_of("new", "v.com/e")}});
  });
  CHECK(report(done) == "created a.json, created c.json");
  REQUIRE(done);
  REQUIRE(done->errors.size() == 1);
  CHECK(done->errors[0].system == EFBIG);
  CHECK(done->errors[0].position.file == dir / "big.json");
  CHECK(device_in(dir / "big.json") == "old");
  CHECK(dir.names() == std::set<std::string>{"a.json", "big.json", "c.json", "orphan.json"});
}

TEST_CASE("If no file can be written, none is removed") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  REQUIRE(publisher.write("old.json", spec_of("old")));
  auto big = spec_of("old");
  big.devices[0].container_edits.env = {"A=" + std::string(10'000, 'x')};
  const auto done = on_full_disk([&] { return publisher.reconcile({{"new.json", big}}); });
  REQUIRE(done);
  CHECK(done->errors.size() == 1);
  CHECK(dir.names() == std::set<std::string>{"old.json"});
}

TEST_CASE("Two expected files that define the same device are refused before the first change") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto done = publisher.reconcile({{"a.json", spec_of("d")}, {"b.json", spec_of("d")}});
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::conflict);
  CHECK(to_string(done.error()) == dir / "b.json" +
                                       ": device \"v.com/c=d\" is also defined by \"a.json\": keep "
                                       "only one");
  CHECK(dir.names().empty());
  CHECK(publisher.reconcile({{"a.json", spec_of("d")}, {"b.json", spec_of("e")}}));
}

TEST_CASE(
    "A reconciliation killed between any two system calls leaves each file old, new or gone") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const std::map<std::string, cdi::Spec> expected{{"changed.json", spec_of("new")},
                                                  {"missing.json", spec_of("new", "v.com/d")}};
  std::set<std::string> seen;
  const auto stops = stop_everywhere(
      [&] {
        clear(dir);
        REQUIRE(publisher.write("changed.json", spec_of("old")));
        REQUIRE(publisher.write("orphan.json", spec_of("old")));
        put_file(dir / "foreign.json", foreign);
      },
      [&] {
        const auto done = publisher.reconcile(expected);
        return done && done->errors.empty();
      },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        child.kill();
        std::string state;
        std::set<std::string> present{"changed.json", "foreign.json"};
        for (const std::string name : {"changed.json", "missing.json", "orphan.json"}) {
          if (fs::exists(dir / name)) present.insert(name);
          const auto device = device_in(dir / name);
          CHECK(device.empty() == !present.contains(name));
          state.append(device).append(",");
        }
        seen.insert(state);
        check_names(dir, present);
        const auto done = publisher.reconcile(expected);
        CHECK(report(done).ends_with("d missing.json") == !present.contains("orphan.json"));
        CHECK(dir.names() == std::set<std::string>{"changed.json", "foreign.json", "missing.json"});
        CHECK(device_in(dir / "changed.json") == "new");
        CHECK(get_file(dir / "foreign.json") == foreign);
      });
  if (stops == 0) return;
  CHECK(seen == std::set<std::string>{"old,,old,", "new,,old,", "new,new,old,", "new,new,,"});
}
