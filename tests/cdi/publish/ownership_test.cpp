// Tests for include/cdi/publish/ownership.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/publish/ownership.hpp>
#include <cdi/publish/publish.hpp>
#include <cdi/text/document.hpp>

#include "../../support/publisher_tree.hpp"

namespace {

namespace fs = std::filesystem;
using cdi::DryRun;
using cdi::Publisher;

}  // namespace

TEST_CASE("The table of ownerships is in the order of the enumerators") {
  std::size_t i = 0;
  for (const auto& row : cdi::detail::ownership_rows) {
    CHECK(static_cast<std::size_t>(row.ownership) == i++);
    CHECK((row.replaceable && row.removable) == row.why_not.empty());
  }
}

TEST_CASE("The ownership of a file depends on its kind and on the owner that it records") {
  using Ownership = cdi::detail::Ownership;
  const TempDir dir;
  const std::string owner = "me";
  const cdi::Descriptor directory{::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const cdi::detail::PublishDir owner_dir{directory.get(), dir.path(), owner};
  dir.put("own.json", text_of("me"));
  dir.put("other.json", text_of("other"));
  dir.put("unrecorded.json", foreign);
  const std::string twice = R"({"kind":"v/c","kind":"v/c","annotations":{"x":"y"}})";
  dir.put("twice.json", twice);
  dir.put("twice.yaml", twice);
  dir.put("text.yaml", "text");
  dir.make_dir("dir.json");
  dir.link("own.json", "own_link.json");
  dir.link("text.yaml", "text_link.yaml");
  dir.link("gone", "dangling.json");
  dir.link("dir.json", "dir_link.json");
  dir.link("other.json", "other_link.json");
  dir.link("unrecorded.json", "unrecorded_link.json");
  const std::pair<std::string, Ownership> rows[] = {
      {"missing.json", Ownership::absent},   {"own.json", Ownership::own},
      {"other.json", Ownership::other},      {"unrecorded.json", Ownership::unrecorded},
      {"text.yaml", Ownership::not_a_spec},  {"dir.json", Ownership::special},
      {"own_link.json", Ownership::link},    {"text_link.yaml", Ownership::link},
      {"dangling.json", Ownership::link},    {"dir_link.json", Ownership::link},
      {"other_link.json", Ownership::other}, {"unrecorded_link.json", Ownership::unrecorded},
      {"twice.json", Ownership::unrecorded}, {"twice.yaml", Ownership::unrecorded},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first);
    const auto found = cdi::detail::find_owner(owner_dir, row.first);
    REQUIRE(found);
    CHECK(static_cast<int>(found->ownership) == static_cast<int>(row.second));
    const auto own = cdi::detail::is_own_file(owner_dir, row.first);
    REQUIRE(own);
    CHECK(*own == (row.second == Ownership::own));
  }
}

TEST_CASE("Replace::any replaces files of other owners, but not a directory") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto write = [&](DryRun dry_run) {
    return report(publisher.write("a.json", spec_of("d"), dry_run, cdi::Replace::any));
  };
  CHECK(write(DryRun::no) == "created a.json");
  CHECK(write(DryRun::no) == "unchanged a.json");
  for (const auto& text : {text_of("other"), foreign, std::string(10'000, '['),
                           "# cdi-publisher/owner: me\n" + foreign}) {
    put_file(dir / "a.json", text);
    CHECK(write(DryRun::yes) == "replaced a.json");
    CHECK(get_file(dir / "a.json") == text);
    CHECK(write(DryRun::no) == "replaced a.json");
    CHECK(device_in(dir / "a.json") == "d");
  }
  put_file(dir / "other.json", foreign);
  fs::remove(dir / "a.json");
  fs::create_symlink("other.json", dir / "a.json");
  CHECK(write(DryRun::no) == "replaced a.json");
  CHECK(get_file(dir / "other.json") == foreign);
  fs::remove(dir / "a.json");
  fs::create_directory(dir / "a.json");
  CHECK(contains(write(DryRun::no), "not a regular file"));
}

TEST_CASE("Files of other owners are neither replaced nor removed") {
  struct {
    std::string name;
    std::string text;
    std::string written;  // the result of `write`, or a part of its error
    std::string removed;  // likewise `remove`
  } const rows[] = {
      {"other.json", text_of("other"), "the file records owner \"other\": choose another name",
       "the file records owner \"other\": remove it as that owner"},
      {"future.json", text_of("other", "9.0.0"), "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as that owner"},
      {"none.json", foreign, "the file is a spec that records no owner: choose another name, or",
       "the file is a spec that records no owner: remove it by hand"},
      {"none.yaml", "kind: v.com/c\nDevices: []\n", "the file is a spec that records no owner",
       "the file is a spec that records no owner"},
      {"invalid.json", text_of("me", "9.0.0"), "replaced invalid.json", "removed invalid.json"},
      {"yaml.json", "annotations: {cdi-publisher/owner: me}\n", "replaced yaml.json",
       "removed yaml.json"},
      {"json.yaml", text_of("me"), "replaced json.yaml", "removed json.yaml"},
      {"empty.json", "", "replaced empty.json", "the file is not a spec, and records no owner"},
      {"cut.json", text_of("other").substr(0, 120), "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as"},
      {"my-cut.json", text_of("me").substr(0, 120), "replaced my-cut.json",
       "the file is not a spec"},
      {"twice.yaml",
       "# cdi-publisher/owner: me\nkind: v.com/c\n"
       "annotations: {'cdi-publisher/owner' : \"other\"}\ndevices: []\ndevices: []\n",
       "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as"},
      {"my-twice.json", R"({"annotations": {"cdi-publisher/owner": "me"}, "kind": "", "kind": ""})",
       "replaced my-twice.json", "the file is not a spec"},
      {"binary.yaml", "kind: v.com/c\ndevices: [{name: !!binary ZA==}]\n",
       "the file is a spec that records no owner", "the file is a spec that records no owner"},
      {"other-binary.yaml",
       "kind: v.com/c\nannotations: {cdi-publisher/owner: !!binary b3RoZXI=}\n",
       "the file records owner \"!!binary b3RoZXI=\": choose", "the file records owner"},
      {"my-binary.yaml", "# cdi-publisher/owner: me\nkind: !!binary di5jb20vYw==\n",
       "replaced my-binary.yaml", "removed my-binary.yaml"},
      {"none-twice.json", R"({"kind": "v.com/c", "kind": "v.com/c"})",
       "the file is a spec that records no owner", "the file is a spec that records no owner"},
      {"latin.yaml", "annotations: {cdi-publisher/owner: other , a: \"\xe9\"}\n",
       "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as"},
      {"cut.yaml", "cdiVersion: 0.6.0\nkind: v.c", "the file is a spec that records no owner",
       "the file is a spec that records no owner"},  // another process may be writing it
      {"broken.yaml", "# cdi-publisher/owner: other\nkind: [\n",
       "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as"},
      {"mine.yaml", "# cdi-publisher/owner: me\nkind: [\n", "replaced mine.yaml",
       "removed mine.yaml"},
      {"text.yaml", "text", "replaced text.yaml", "the file is not a spec"},
      {"zeros.json", std::string(4096, '\0'), "replaced zeros.json", "the file is not a spec"},
      {"deep.json", std::string(10'000, '['), "more than", "more than"},
  };
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto as_report = [](const std::string& reported, const std::string& expected) {
    return reported == expected || contains(reported, ": " + expected);
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    for (const bool write : {false, true}) {
      put_file(dir / row.name, row.text);
      const auto& expected = write ? row.written : row.removed;
      const auto act = [&](DryRun dry_run) {
        return write ? publisher.write(row.name, spec_of("new"), dry_run)
                     : publisher.remove(row.name, dry_run);
      };
      const auto planned = report(act(DryRun::yes));
      CHECK(get_file(dir / row.name) == row.text);
      const auto done = act(DryRun::no);
      CAPTURE(report(done));
      CHECK(report(done) == planned);
      CHECK(as_report(report(done), expected));
      if (!done) {
        const bool limit = row.name == "deep.json";
        CHECK(done.error().code == (limit ? cdi::Errc::limit : cdi::Errc::conflict));
        CHECK(done.error().position.file == dir / row.name);
        CHECK(get_file(dir / row.name) == row.text);
      }
    }
    REQUIRE(::unlink((dir / row.name).c_str()) == 0);
  }
  CHECK(dir.names().empty());
}

TEST_CASE("The owner of a damaged file is found in the form in which it was written") {
  const TempDir dir;
  for (const std::string owner : {"me", "Foo, Inc.", "a\"b", "C:\\x", "it's", "x}", "true", "#1"}) {
    CAPTURE(owner);
    const Publisher publisher{owner, dir.path()};
    for (const std::string name : {"a.yaml", "a.json"}) {
      CAPTURE(name);
      REQUIRE(publisher.write(name, spec_of("old")));
      const auto text = get_file(dir / name);
      const auto end = text.find('\n', text.find("cdi-publisher/owner"));
      // The beginning of a YAML text is often a text that can be parsed.
      for (std::size_t size = name == "a.json" ? 0 : end + 1; size < text.size(); ++size) {
        CAPTURE(size);
        put_file(dir / name, text.substr(0, size) + (size > end ? "\nkind: [\n" : ""));
        CHECK(publisher.write(name, spec_of("d"), DryRun::yes));
        if (size <= end) continue;
        CHECK(contains(report(Publisher{"Foo", dir.path()}.write(name, spec_of("d"))),
                       "the file records owner"));
      }
      REQUIRE(::unlink((dir / name).c_str()) == 0);
    }
  }
}

TEST_CASE("Values of an owner in a damaged file") {
  struct {
    std::string value;
    std::string other;  // empty: none, or this owner
  } const rows[] = {
      {"", ""},
      {" ", ""},
      {" \"\"", ""},
      {" ''", ""},
      {" me", ""},
      {" me }", ""},
      {" \"me\", a", ""},
      {" 'me' # a", ""},
      {" m", ""},
      {" 'm", ""},
      {" \"m", ""},
      {" m\n", "m"},
      {" mee", "mee"},
      {" me, b", "me, b"},
      {" you, b", "you"},
      {" 'you' , b", "you"},
      {" \"m\"", "m"},
      {" 'me, b", "me, b"},
      {" \"you\n", "you"},
      {" you } ", "you"},
      {"\n  me: 1\n", ""},
  };
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  for (const auto& row : rows) {
    CAPTURE(row.value);
    put_file(dir / "a.yaml", "kind: [{\ncdi-publisher/owner:" + row.value);
    const auto reported = report(publisher.write("a.yaml", spec_of("d"), DryRun::yes));
    CAPTURE(reported);
    if (row.other.empty()) {
      CHECK(reported == "replaced a.yaml");
    } else {
      CHECK(contains(reported, "the file records owner \"" + row.other + "\":"));
    }
  }
}

TEST_CASE("A damaged file of a hundred thousand records is searched in one pass") {
  const TempDir dir;
  std::string text = "x: [\n";
  for (int i = 0; i < 100'000; ++i) text += "cdi-publisher/owner:\"\" ";
  put_file(dir / "a.yaml", text + "cdi-publisher/owner:you");
  CHECK(contains(report(Publisher{"me", dir.path()}.write("a.yaml", spec_of("d"))), "\"you\""));
}

TEST_CASE("A link is replaced unless it leads to a file of another owner, and never removed") {
  const TempDir dir;
  const TempDir elsewhere;
  put_file(elsewhere / "foreign", foreign);
  put_file(elsewhere / "mine", text_of("me"));
  put_file(elsewhere / "rubbish", "rubbish");
  struct {
    std::string target;
    bool replaced;
  } const rows[] = {
      {elsewhere / "foreign", false}, {elsewhere / "mine", true}, {elsewhere / "rubbish", true},
      {elsewhere / "missing", true},  {"link.json", true},        {"/dev/null", true},
      {elsewhere.path(), true},
  };
  const Publisher publisher{"me", dir.path()};
  for (const auto& row : rows) {
    CAPTURE(row.target);
    REQUIRE(::symlink(row.target.c_str(), (dir / "link.json").c_str()) == 0);
    CHECK_FALSE(publisher.remove("link.json"));
    CHECK(publisher.files()->empty());
    CHECK(report(publisher.prune({})).empty());
    CHECK(S_ISLNK(info_of(dir / "link.json").st_mode));
    const auto done = publisher.write("link.json", spec_of("d"));
    CHECK(report(done).starts_with("replaced link.json") == row.replaced);
    CHECK(S_ISREG(info_of(dir / "link.json").st_mode) == row.replaced);
    REQUIRE(::unlink((dir / "link.json").c_str()) == 0);
  }
  CHECK(get_file(elsewhere / "foreign") == foreign);
  CHECK(get_file(elsewhere / "mine") == text_of("me"));
  CHECK(get_file(elsewhere / "rubbish") == "rubbish");
  CHECK(elsewhere.names().size() == 3);
}

TEST_CASE("Only regular files are accepted, and a FIFO does not block") {
  const TempDir dir;
  REQUIRE(::mkdir((dir / "dir.json").c_str(), 0755) == 0);
  REQUIRE(::mkfifo((dir / "fifo.json").c_str(), 0644) == 0);
  const Publisher publisher{"me", dir.path()};
  for (const std::string name : {"dir.json", "fifo.json"}) {
    CAPTURE(name);
    for (const auto& done : {publisher.write(name, spec_of("d")), publisher.remove(name)}) {
      REQUIRE_FALSE(done);
      CHECK(done.error().code == cdi::Errc::conflict);
      CHECK(contains(to_string(done.error()), name + ": not a regular file: "));
    }
    CHECK_FALSE(publisher.reconcile({{name, spec_of("d")}}));
  }
  CHECK(report(publisher.reconcile({{"a.json", spec_of("d")}})) == "created a.json");
  CHECK(report(publisher.prune({})) == "removed a.json");
  CHECK(dir.names() == std::set<std::string>{"dir.json", "fifo.json"});
}

TEST_CASE("A file over the size limit is left alone") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  put_file(dir / "big.json", text_of("me"));
  fs::resize_file(dir / "big.json", cdi::Limits{}.bytes + 1);
  const auto done = publisher.write("big.json", spec_of("d"));
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::limit);
  CHECK(publisher.prune({})->unreadable.size() == 1);
  CHECK(fs::file_size(dir / "big.json") == cdi::Limits{}.bytes + 1);
}

TEST_CASE("An unreadable file does not count as a file without owner") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  put_file(dir / "a.json", foreign);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0) == 0);
  const auto done = publisher.write("a.json", spec_of("d"));
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EACCES);
  CHECK(publisher.prune({})->unreadable.size() == 1);
}
