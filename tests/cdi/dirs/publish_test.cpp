// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/publish.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/file.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>

#include "../../temp_tree.hpp"

namespace {

namespace fs = std::filesystem;
using Action = cdi::Publication::Action;
using cdi::DryRun;
using cdi::Publisher;

/// In memory where that can be had, since these tests sync a lot.
struct TempDir : TempTree {
  TempDir() : TempTree{"/dev/shm"} {}
};

struct stat info_of(const std::string& path) {
  struct stat info = {};
  CHECK(::lstat(path.c_str(), &info) == 0);
  return info;
}

cdi::Spec spec_of(std::string device, std::string kind = "v.com/c") {
  return {.version = "0.6.0",
          .kind = std::move(kind),
          .devices = {{.name = std::move(device), .container_edits = {.env = {"A=1"}}}}};
}

/// The one device of a spec file; empty when it cannot be read.
std::string device_in(const std::string& path) {
  const auto loaded = cdi::read_spec_file(path);
  return loaded ? loaded->spec.devices.at(0).name : "";
}

/// What was done, in the words of the tests: `created a.json, removed b.json`.
std::string told(const std::vector<cdi::Publication>& files) {
  constexpr const char* words[] = {"created", "replaced", "unchanged", "removed", "absent"};
  std::string out;
  for (const auto& [path, action] : files) {
    out.append(out.empty() ? "" : ", ").append(words[static_cast<std::size_t>(action)]);
    out.append(" ").append(path.substr(path.rfind('/') + 1));
  }
  return out;
}

std::string told(const cdi::Result<cdi::Publication>& done) {
  if (!done) return to_string(done.error());
  return told(std::vector{*done});
}

std::string told(const cdi::Result<cdi::Reconciled>& done) {
  return done ? told(done->files) : to_string(done.error());
}

const std::string foreign = R"({"cdiVersion":"0.3.0","kind":"v.com/c","devices":)"
                            R"([{"name":"foreign","containerEdits":{"env":["A=1"]}}]})";

/// A spec that records an owner; `version` may be one of the future.
std::string text_of(std::string_view owner, std::string_view version = "0.6.0") {
  std::string text = R"({"cdiVersion":")";
  text.append(version).append(R"(","kind":"v.com/c","annotations":{")");
  text.append(cdi::owner_annotation).append(R"(":")").append(owner);
  return text.append(R"("},"devices":[{"name":"d","containerEdits":{"env":["A=1"]}}]})");
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("A spec is written with its owner, readable by all, and not again when it is there") {
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
    CHECK(told(publisher.write(name, spec_of("d"))) == "unchanged " + name);
    CHECK(told(publisher.write(name, expected)) == "unchanged " + name);
    CHECK(info_of(path).st_ino == before.st_ino);
    CHECK(told(publisher.write(name, spec_of("e"))) == "replaced " + name);
    CHECK(device_in(path) == "e");
    CHECK(info_of(path).st_ino != before.st_ino);

    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    CHECK(told(publisher.write(name, spec_of("e"))) == "replaced " + name);
    CHECK(mode_of(path) == 0644);
    CHECK(told(publisher.remove(name)) == "removed " + name);
    CHECK(told(publisher.remove(name)) == "absent " + name);
  }
  ::umask(umask);
  CHECK(dir.names().empty());
}

TEST_CASE("The version stays as it is given, and the owner is recorded where it has a place") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  struct {
    std::string name;
    std::string given;
    std::string written;
    bool in_comment;
  } const rows[] = {{"a.yaml", "0.3.0", "0.3.0", true},  {"a.yaml", "v0.5.0", "v0.5.0", true},
                    {"a.yaml", "0.6.0", "0.6.0", false}, {"a.yaml", "1.1.0", "1.1.0", false},
                    {"a.json", "0.6.0", "0.6.0", false}, {"a.json", "v1.1.0", "v1.1.0", false},
                    {"a.yaml", "", "0.3.0", true},       {"a.json", "", "0.6.0", false}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CAPTURE(row.given);
    auto spec = spec_of("d");
    spec.version = row.given;
    spec.annotations = {{std::string{cdi::owner_annotation}, "other"}};
    REQUIRE(publisher.write(row.name, spec));
    CHECK(told(publisher.write(row.name, spec)) == "unchanged " + row.name);
    CHECK(*publisher.files() == std::vector{row.name});
    const auto loaded = cdi::read_spec_file(dir / row.name);
    REQUIRE(loaded);
    CHECK(loaded->spec.version == row.written);
    const auto text = cdi::read_file(dir / row.name);
    REQUIRE(text);
    CHECK(text->starts_with("# cdi-publisher/owner: me\n") == row.in_comment);
    CHECK(loaded->spec.annotations.contains(std::string{cdi::owner_annotation}) != row.in_comment);
    CHECK(contains(told(Publisher("other", dir.path()).write(row.name, spec)),
                   "the file records owner \"me\""));
    CHECK(contains(told(Publisher("other", dir.path()).remove(row.name)),
                   "the file records owner \"me\""));
    CHECK(told(publisher.remove(row.name)) == "removed " + row.name);
  }
}

TEST_CASE("An empty version is the oldest that holds the spec") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  auto spec = spec_of("0");
  spec.version.clear();
  const auto written = [&](const std::string& name) {
    const auto done = publisher.reconcile({{name, spec}});
    REQUIRE_MESSAGE(done, (done ? "" : to_string(done.error())));
    const auto loaded = cdi::read_spec_file(dir / name);
    REQUIRE(loaded);
    return loaded->spec.version;
  };
  CHECK(written("a.yaml") == "0.5.0");  // for the digit that the name begins with
  CHECK(written("a.json") == "0.6.0");
  spec.container_edits.additional_gids = {44};
  CHECK(written("a.yaml") == "0.7.0");
  CHECK(written("a.json") == "0.7.0");
  spec.container_edits.additional_gids.clear();
  spec.annotations = {{"kept", "1"}};
  CHECK(written("a.yaml") == "0.6.0");
}

TEST_CASE("A JSON file of a release without annotations is refused") {
  const TempDir dir;
  auto spec = spec_of("d");
  spec.version = "0.5.0";
  const auto done = Publisher("me", dir.path()).write("a.json", spec);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::unsupported);
  CHECK(done.error().position.file == dir / "a.json");
  CHECK(contains(done.error().message, "version \"0.5.0\" cannot record its owner"));
  CHECK(dir.names().empty());
}

TEST_CASE("A version too old for the spec is named as it was given") {
  const TempDir dir;
  auto spec = spec_of("d");
  spec.version = "0.5.0";
  spec.container_edits.additional_gids = {44};
  const auto told_of = told(Publisher("me", dir.path()).write("a.yaml", spec));
  CHECK(contains(told_of, "\"0.5.0\""));
  CHECK_FALSE(contains(told_of, "\"0.6.0\""));
}

TEST_CASE("A comment below the first line, or an annotation of another owner, counts otherwise") {
  const TempDir dir;
  const std::string comment = "# cdi-publisher/owner: me\n";
  const std::string spec = "kind: v.com/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n";
  const Publisher publisher{"me", dir.path()};
  dir.put("a.yaml", "cdiVersion: 0.3.0\n" + comment + spec);
  CHECK(contains(told(publisher.remove("a.yaml")), "records no owner"));
  dir.put("a.yaml",
          comment + "cdiVersion: 0.6.0\nannotations: {cdi-publisher/owner: other}\n" + spec);
  CHECK(contains(told(publisher.remove("a.yaml")), "records owner \"other\""));
  dir.put("a.yaml", comment + "cdiVersion: 0.3.0\n" + spec);
  CHECK(told(publisher.remove("a.yaml")) == "removed a.yaml");
}

TEST_CASE("An owner in the first line counts whatever ends the line, in YAML files only") {
  const TempDir dir;
  const std::string comment = "# cdi-publisher/owner: me";
  const std::string former = "# Written by cdi-prepare, which will replace or remove it.";
  const std::string spec =
      "cdiVersion: 0.5.0\nkind: v.com/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n";
  struct {
    std::string owner;
    std::string line;
    bool is_own;
  } const rows[] = {{"me", comment + "\n", true},           {"me", comment + "\r\n", true},
                    {"me", comment + "\r\r\n", false},      {"me", comment + "r\n", false},
                    {"cdi-prepare", former + "\n", true},   {"cdi-prepare", former + "\r\n", true},
                    {"cdi-prepare", former + "x\n", false}, {"me", former + "\n", false}};
  for (const auto& row : rows) {
    CAPTURE(row.line);
    const Publisher publisher{row.owner, dir.path()};
    put_file(dir / "a.yaml", row.line + spec);
    CHECK(publisher.files()->size() == (row.is_own ? 1 : 0));
    CHECK(told(publisher.write("a.yaml", spec_of("d"), DryRun::yes)).starts_with("replaced") ==
          row.is_own);
    CHECK(told(publisher.prune({})) == (row.is_own ? "removed a.yaml" : ""));
    put_file(dir / "a.json", row.line + spec);
    CHECK(publisher.files()->empty());
    const auto pruned = publisher.prune({});
    REQUIRE(pruned);
    CHECK(pruned->files.empty());
    CHECK(pruned->unreadable.size() == (row.is_own ? 1 : 0));
    const auto written = publisher.write("a.json", spec_of("d"));
    REQUIRE_FALSE(written);
    CHECK(written.error().code == cdi::Errc::conflict);
    CHECK(contains(told(written), "JSON files have no comments") == row.is_own);
    CHECK(get_file(dir / "a.json") == row.line + spec);
  }
}

TEST_CASE("What others may have written is replaced when that is asked for, but no directory") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto write = [&](DryRun dry_run) {
    return told(publisher.write("a.json", spec_of("d"), dry_run, cdi::Replace::any));
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

TEST_CASE("What others may have written is neither replaced nor removed; the rest is") {
  struct {
    std::string name;
    std::string text;
    std::string written;  // what `write` tells, or how its refusal goes
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
      {"empty.json", "", "replaced empty.json", "the file is no spec, and records no owner"},
      {"cut.json", text_of("other").substr(0, 120), "replaced cut.json", "the file is no spec"},
      {"cut.yaml", "cdiVersion: 0.6.0\nkind: v.c", "the file is a spec that records no owner",
       "the file is a spec that records no owner"},  // somebody may be writing it
      {"broken.yaml", "# cdi-publisher/owner: other\nkind: [\n",
       "the file records owner \"other\": choose",
       "the file records owner \"other\": remove it as"},
      {"mine.yaml", "# cdi-publisher/owner: me\nkind: [\n", "replaced mine.yaml",
       "removed mine.yaml"},
      {"text.yaml", "text", "replaced text.yaml", "the file is no spec"},
      {"zeros.json", std::string(4096, '\0'), "replaced zeros.json", "the file is no spec"},
      {"deep.json", std::string(10'000, '['), "nested more than", "nested more than"},
  };
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const auto as_told = [](const std::string& told, const std::string& expected) {
    return told == expected || contains(told, ": " + expected);
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
      const auto planned = told(act(DryRun::yes));
      CHECK(get_file(dir / row.name) == row.text);
      const auto done = act(DryRun::no);
      CAPTURE(told(done));
      CHECK(told(done) == planned);
      CHECK(as_told(told(done), expected));
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

TEST_CASE("A link is replaced, not followed, unless it shows what others wrote; none is removed") {
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
    CHECK(told(publisher.prune({})).empty());
    CHECK(S_ISLNK(info_of(dir / "link.json").st_mode));
    const auto done = publisher.write("link.json", spec_of("d"));
    CHECK(told(done).starts_with("replaced link.json") == row.replaced);
    CHECK(S_ISREG(info_of(dir / "link.json").st_mode) == row.replaced);
    REQUIRE(::unlink((dir / "link.json").c_str()) == 0);
  }
  CHECK(get_file(elsewhere / "foreign") == foreign);
  CHECK(get_file(elsewhere / "mine") == text_of("me"));
  CHECK(get_file(elsewhere / "rubbish") == "rubbish");
  CHECK(elsewhere.names().size() == 3);
}

TEST_CASE("What is no regular file is refused, and nothing waits for a FIFO") {
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
  CHECK(told(publisher.reconcile({{"a.json", spec_of("d")}})) == "created a.json");
  CHECK(told(publisher.prune({})) == "removed a.json");
  CHECK(dir.names() == std::set<std::string>{"dir.json", "fifo.json"});
}

TEST_CASE("Names that leave the directory or that no runtime reads are refused") {
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
  CHECK(told(publisher.write(longest, spec_of("d"))) == "created " + longest);
}

TEST_CASE("Owners that cannot be told apart later are refused") {
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

TEST_CASE("The directory is made when it is needed, with those above it, open to readers") {
  const TempDir dir;
  const auto umask = ::umask(077);
  const Publisher publisher{"me", dir / "a/./b//c/"};
  CHECK(told(publisher.remove("a.json")) == "absent a.json");
  CHECK(publisher.files()->empty());
  CHECK(told(publisher.prune({"a.json"})).empty());
  CHECK(told(publisher.reconcile({})).empty());
  CHECK(told(publisher.write("a.json", spec_of("d"), DryRun::yes)) == "created a.json");
  CHECK(told(publisher.reconcile({{"a.json", spec_of("d")}}, DryRun::yes)) == "created a.json");
  CHECK(dir.names().empty());

  const auto done = publisher.write("a.json", spec_of("d"));
  REQUIRE(done);
  CHECK(done->path == dir / "a/b/c/a.json");
  CHECK(device_in(dir / "a/b/c/a.json") == "d");
  for (const auto* made : {"a", "a/b", "a/b/c"}) CHECK(mode_of(dir / made) == 0755);
  CHECK(told(Publisher("me", dir / "r").reconcile({{"a.json", spec_of("d")}})) == "created a.json");
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

TEST_CASE("A directory that is open is used, whatever its name leads to now") {
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
  CHECK(told(publisher.remove("b.json")) == "removed b.json");
  CHECK(fs::is_empty(dir / "other"));
  CHECK(::fcntl(opened.get(), F_GETFD) >= 0);
}

TEST_CASE("Of a directory that its caller knows to be missing nothing is made") {
  const TempDir dir;
  dir.make_dir("there");
  const Publisher publisher{"me", -1, dir / "there"};
  CHECK(told(publisher.write("a.json", spec_of("d"), DryRun::yes)) == "created a.json");
  CHECK(contains(told(publisher.write("a.json", spec_of("d"))), "cannot use the directory"));
  CHECK(told(publisher.remove("a.json")) == "absent a.json");
  CHECK(told(publisher.prune({})).empty());
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
  CHECK(told(below) == "created a.json");
  CHECK(told(here) == "created a.json");
  CHECK(dir.names() == std::set<std::string>{"a.json", "x"});
}

TEST_CASE("A spec that is not valid is refused, and one that readers would refuse for its size") {
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

TEST_CASE("A directory is reconciled: what is missing or differs is made, orphans are removed") {
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
  CHECK(told(done) == all);
  REQUIRE(done);
  CHECK(done->temporaries == std::vector{dir / ".orphan.json.1-0.cdi-tmp"});
  CHECK(dir.names() == before);
  CHECK(device_in(dir / "changed.json") == "old");

  done = publisher.reconcile(expected);
  CHECK(told(done) == all);
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

  CHECK(told(publisher.reconcile(expected)) ==
        "unchanged changed.json, unchanged missing.json, unchanged same.yaml, unchanged torn.json");
  CHECK(told(publisher.prune({"changed.json", "foreign.json", "gone.json"}, DryRun::yes)) ==
        "unchanged changed.json, removed missing.json, removed same.yaml, removed torn.json");
  CHECK(told(publisher.reconcile({{"same.yaml", spec_of("new")}}, DryRun::yes, {"torn.json"})) ==
        "removed changed.json, removed missing.json, replaced same.yaml, unchanged torn.json");
  CHECK_FALSE(publisher.reconcile({}, DryRun::yes, {"../a.json"}));
  CHECK(told(publisher.reconcile({})) ==
        "removed changed.json, removed missing.json, removed same.yaml, removed torn.json");
  CHECK(device_in(dir / "other.json") == "old");
  CHECK(get_file(dir / "foreign.json") == foreign);
}

TEST_CASE("A conflict or a bad spec is found before anything is changed") {
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

TEST_CASE("A file that cannot be judged stays, and is told") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  put_file(dir / "deep.json", text_of("me") + std::string(10'000, '['));
  put_file(dir / "deep.yaml",
           "# " + std::string{cdi::owner_annotation} + "\n" + std::string(10'000, '['));
  put_file(dir / "deep-too.yaml", std::string(10'000, '['));  // has no owner for sure
  const auto done = publisher.reconcile({{"a.json", spec_of("d")}});
  CHECK(told(done) == "created a.json, removed deep.json");  // what follows its spec is not read
  REQUIRE(done);
  REQUIRE(done->unreadable.size() == 1);
  CHECK(done->unreadable[0].position.file == dir / "deep.yaml");
  CHECK(done->errors.empty());
  CHECK(dir.names() == std::set<std::string>{"a.json", "deep-too.yaml", "deep.yaml"});
}

TEST_CASE("A file over the limit of readers is left alone") {
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

TEST_CASE("A directory that cannot be written is told before anything else fails") {
  const Nobody nobody;
  if (!nobody) return;
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
  CHECK(told(publisher.write("a.json", spec_of("old"))) == "unchanged a.json");
  CHECK(*publisher.files() == std::vector<std::string>{"a.json", "b.json"});
}

TEST_CASE("A file without permission is not taken for nobody's") {
  const Nobody nobody;
  if (!nobody) return;
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  put_file(dir / "a.json", foreign);
  REQUIRE(::chmod((dir / "a.json").c_str(), 0) == 0);
  const auto done = publisher.write("a.json", spec_of("d"));
  REQUIRE_FALSE(done);
  CHECK(done.error().system == EACCES);
  CHECK(publisher.prune({})->unreadable.size() == 1);
}

TEST_CASE("One file that fails does not stop the others, and is told") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  REQUIRE(publisher.write("big.json", spec_of("old")));
  REQUIRE(publisher.write("orphan.json", spec_of("old")));
  auto big = spec_of("new");
  big.devices[0].container_edits.env = {"A=" + std::string(10'000, 'x')};
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 5000, .rlim_max = before.rlim_max};  // as if the disk were full
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto done = publisher.reconcile({{"a.json", spec_of("new", "v.com/d")},
                                         {"big.json", big},
                                         {"c.json", spec_of("new", "v.com/e")}});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(told(done) == "created a.json, created c.json, removed orphan.json");
  REQUIRE(done);
  REQUIRE(done->errors.size() == 1);
  CHECK(done->errors[0].system == EFBIG);
  CHECK(done->errors[0].position.file == dir / "big.json");
  CHECK(device_in(dir / "big.json") == "old");
  CHECK(dir.names() == std::set<std::string>{"a.json", "big.json", "c.json"});
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

// Killed, or overtaken, between any two system calls.

namespace {

/// A child process that does `work` and stops before and after each of its system calls. Exits 0
/// when `work` gives true.
class TracedChild {
 public:
  explicit TracedChild(const std::function<bool()>& work) {
    std::fflush(nullptr);  // or the child may print it again
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(not_permitted);
      ::raise(SIGSTOP);
      ::_exit(work() ? 0 : 1);  // past what a sanitizer does at the end
    }
    wait();
    constexpr auto options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    permitted_ = WIFSTOPPED(status_) && ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, options) == 0;
  }
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;
  ~TracedChild() { kill(); }

  bool permitted() const { return permitted_; }

  /// Goes on to the next stop. False when there is none, since the child is done.
  bool step() {
    if (!WIFSTOPPED(status_)) return false;
    REQUIRE(::ptrace(PTRACE_SYSCALL, pid_, nullptr, nullptr) == 0);
    wait();
    return WIFSTOPPED(status_);
  }

  /// Whether `next_action` can tell anything: since Linux 5.3.
  bool tells_system_calls() const {
    __ptrace_syscall_info info{};
    return permitted_ && ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info) > 0;
  }

  /// What it is about to do to a file, or nothing at other stops.
  std::string_view next_action() const {
    __ptrace_syscall_info info{};
    const bool told = ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info) > 0;
    if (!told || info.op != PTRACE_SYSCALL_INFO_ENTRY) return "";
    switch (info.entry.nr) {
      case SYS_write: return info.entry.args[0] > STDERR_FILENO ? "write " : "";
      case SYS_fsync: return "sync ";
      case SYS_unlinkat: return "unlink ";
      case SYS_renameat2: return "rename ";
#ifdef SYS_renameat
      case SYS_renameat: return "rename ";
#endif
      default: return "";
    }
  }

  /// Goes on to the end; whether `work` gave true.
  bool finish() {
    while (step()) continue;
    return WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

  void kill() {
    if (!WIFSTOPPED(status_)) return;
    ::kill(pid_, SIGKILL);
    while (WIFSTOPPED(status_)) wait();
  }

 private:
  static constexpr int not_permitted = 77;

  void wait() {
    while (::waitpid(pid_, &status_, 0) < 0) REQUIRE(errno == EINTR);
  }

  pid_t pid_ = -1;
  int status_ = 0;
  bool permitted_ = false;
};

/// Does `work` in a child again and again, each time stopped one system call stop later, and each
/// time from `prepare`; `act` looks at it there. Gives the number of stops, 0 when nobody may
/// trace.
std::size_t stop_everywhere(const std::function<void()>& prepare, const std::function<bool()>& work,
                            const std::function<void(TracedChild&, std::size_t)>& act) {
  for (std::size_t stop = 0;; ++stop) {
    prepare();
    TracedChild child{work};
    if (!child.permitted()) {
      MESSAGE("skipped 'ptrace is not permitted'");
      return 0;
    }
    std::size_t at = 0;
    while (at < stop && child.step()) ++at;
    act(child, stop);
    if (at < stop) return stop;
  }
}

/// Fails unless the directory holds the files given and, beside them, only temporary ones.
void check_names(const TempDir& dir, const std::set<std::string>& expected) {
  std::set<std::string> others;
  for (const auto& name : dir.names()) {
    if (!cdi::detail::is_temporary_name(name)) others.insert(name);
  }
  CHECK(others == expected);
}

/// Empties a directory.
void clear(const TempDir& dir) {
  for (const auto& name : dir.names()) fs::remove_all(dir / name);
}

}  // namespace

TEST_CASE("A writer killed between any two system calls leaves the old file or the new one") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  for (const std::string name : {"a.json", "a.yaml"}) {
    std::string old_text;
    std::string new_text;
    REQUIRE(publisher.write(name, spec_of("new")));
    new_text = get_file(dir / name);
    REQUIRE(publisher.write(name, spec_of("old")));
    old_text = get_file(dir / name);
    std::set<std::string> seen;
    std::size_t left_over = 0;
    const auto stops = stop_everywhere(
        [&] {
          clear(dir);
          put_file(dir / name, old_text);
        },
        [&] { return publisher.write(name, spec_of("new")).has_value(); },
        [&](TracedChild& child, std::size_t stop) {
          CAPTURE(stop);
          child.kill();
          check_names(dir, {name});
          const auto text = get_file(dir / name);
          const bool whole = text == old_text || text == new_text;
          CHECK(whole);
          seen.insert(device_in(dir / name));
          left_over += dir.names().size() - 1;
          CHECK(told(publisher.prune({name})) == "unchanged " + name);
          CHECK(dir.names() == std::set<std::string>{name});
        });
    if (stops == 0) return;
    CHECK(stops > 10);
    CHECK(left_over > 0);
    CHECK(seen == std::set<std::string>{"new", "old"});
  }
}

TEST_CASE("A writer killed in a directory that is not there yet leaves the file or none") {
  const TempDir dir;
  const Publisher publisher{"me", dir / "x/y"};
  std::set<std::string> seen;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        child.kill();
        const bool there = fs::exists(dir / "x/y/a.json");
        CHECK(device_in(dir / "x/y/a.json") == (there ? "new" : ""));
        seen.insert(there ? "file" : "none");
        CHECK(publisher.prune({"a.json"}));
        if (fs::exists(dir / "x/y")) CHECK(fs::is_empty(dir / "x/y") == !there);
        CHECK(publisher.write("a.json", spec_of("new")));
      });
  if (stops != 0) CHECK(seen.size() == 2);
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
        CHECK(told(done).ends_with("d missing.json") == !present.contains("orphan.json"));
        CHECK(dir.names() == std::set<std::string>{"changed.json", "foreign.json", "missing.json"});
        CHECK(device_in(dir / "changed.json") == "new");
        CHECK(get_file(dir / "foreign.json") == foreign);
      });
  if (stops == 0) return;
  CHECK(seen == std::set<std::string>{"old,,old,", "new,,old,", "new,new,old,", "new,new,,"});
}

TEST_CASE("A text is synced before it gets its name, and the directory afterwards") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  std::string calls;
  const auto record = [&](const std::function<bool()>& work) {
    TracedChild child{work};
    calls.clear();
    if (!child.tells_system_calls()) return false;
    while (child.step()) calls += child.next_action();
    return true;
  };
  const auto write = [&] {
    return publisher.write("a.json", spec_of("d")).has_value();
  };
  if (!record(write)) {
    MESSAGE("skipped 'ptrace is not permitted, or too old to tell system calls'");
    return;
  }
  CHECK(calls == "write sync rename sync ");
  REQUIRE(publisher.write("a.json", spec_of("e")));
  record(write);
  CHECK(calls == "write sync rename sync ");
  REQUIRE(publisher.write("a.json", spec_of("d")));
  record(write);
  CHECK(calls.empty());
  record([&] { return publisher.remove("a.json").has_value(); });
  CHECK(calls == "unlink sync ");
}

TEST_CASE("The temporary file of a living writer is left alone, wherever the writer is") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  std::size_t pruned = 0;
  const auto stops = stop_everywhere(
      [&] {
        clear(dir);
        REQUIRE(publisher.write("a.json", spec_of("old")));
      },
      [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        const auto done = publisher.prune({"a.json"});
        REQUIRE(done);
        pruned += done->temporaries.size();
        CHECK(child.finish());
        CHECK(device_in(dir / "a.json") == "new");
        CHECK(dir.names() == std::set<std::string>{"a.json"});
      });
  // Between two system calls it is made and not locked yet: then the writer makes another.
  if (stops != 0) CHECK(pruned > 0);
  if (stops != 0) CHECK(pruned < 4);
}

TEST_CASE("A writer makes another temporary file when one is about to remove its own") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const cdi::Descriptor directory{::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  std::size_t removed = 0;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        for (const auto& name : dir.names()) {
          if (!cdi::detail::is_temporary_name(name)) continue;
          const cdi::Descriptor file{::openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC)};
          if (!cdi::detail::is_abandoned(directory.get(), name, file)) continue;
          for (int i = 0; i < 6; ++i) child.step();  // while the remover has it locked
          REQUIRE(::unlink((dir / name).c_str()) == 0);
          ++removed;
        }
        CHECK(child.finish());
        CHECK(device_in(dir / "a.json") == "new");
        CHECK(dir.names() == std::set<std::string>{"a.json"});
      });
  if (stops != 0) CHECK(removed > 0);
}

TEST_CASE("Of two owners that write the same new file at a time one gets it, and one a conflict") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  const Publisher other{"other", dir.path()};
  std::set<std::string> winners;
  const auto stops = stop_everywhere(
      [&] { clear(dir); }, [&] { return publisher.write("a.json", spec_of("mine")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        const auto theirs = other.write("a.json", spec_of("theirs"));
        const bool mine = child.finish();
        CHECK(theirs.has_value() != mine);
        CHECK(device_in(dir / "a.json") == (mine ? "mine" : "theirs"));
        CHECK(dir.names() == std::set<std::string>{"a.json"});
        winners.insert(device_in(dir / "a.json"));
      });
  if (stops != 0) CHECK(winners.size() == 2);
}

TEST_CASE("Of two publishers of one owner that write a file at a time both succeed") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  for (const std::string before : {"old", ""}) {
    CAPTURE(before);
    std::set<std::string> last;
    const auto stops = stop_everywhere(
        [&] {
          clear(dir);
          if (!before.empty()) REQUIRE(publisher.write("a.json", spec_of(before)));
        },
        [&] { return publisher.write("a.json", spec_of("slow")).has_value(); },
        [&](TracedChild& child, std::size_t stop) {
          CAPTURE(stop);
          CHECK(publisher.write("a.json", spec_of("fast")));
          CHECK(child.finish());
          last.insert(device_in(dir / "a.json"));
          CHECK(dir.names() == std::set<std::string>{"a.json"});
        });
    if (stops == 0) return;
    CHECK(last == std::set<std::string>{"fast", "slow"});
  }
}

TEST_CASE("A file that becomes a FIFO meanwhile does not make a writer wait") {
  const TempDir dir;
  const TempDir aside;
  const Publisher publisher{"me", dir.path()};
  std::size_t refused = 0;
  const auto stops = stop_everywhere(
      [&] {
        clear(dir);
        REQUIRE(publisher.write("a.json", spec_of("old")));
        REQUIRE(::mkfifo((aside / "fifo").c_str(), 0644) == 0);
      },
      [&] { return publisher.write("a.json", spec_of("new")).has_value(); },
      [&](TracedChild& child, std::size_t stop) {
        CAPTURE(stop);
        REQUIRE(::rename((aside / "fifo").c_str(), (dir / "a.json").c_str()) == 0);
        if (child.finish()) return;
        ++refused;
        CHECK(S_ISFIFO(info_of(dir / "a.json").st_mode));
      });
  if (stops != 0) CHECK(refused > 0);
}

TEST_CASE("Threads that write, remove and clean at a time never leave or show a mixed file") {
  const TempDir dir;
  const Publisher publisher{"me", dir.path()};
  constexpr int writers = 4;
  constexpr int rounds = 15;
  std::atomic<int> writing{writers};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i) {
    threads.emplace_back([&, i] {
      const auto own = "own" + std::to_string(i) + ".json";
      for (int round = 0; round < rounds; ++round) {
        const auto spec = spec_of("d" + std::to_string(i) + "-" + std::to_string(round));
        const bool good = publisher.write("shared.json", spec) && publisher.write(own, spec) &&
                          publisher.remove("coming-and-going.json") &&
                          publisher.write("coming-and-going.json", spec);
        if (!good) ++wrong;
      }
      --writing;
    });
  }
  threads.emplace_back([&] {
    const std::set<std::string> keep{"shared.json", "own0.json", "own1.json",
                                     "own2.json",   "own3.json", "coming-and-going.json"};
    while (writing > 0) {
      const auto done = publisher.prune(keep);
      if (!done || !done->errors.empty()) ++wrong;
      const auto text = get_file(dir / "shared.json");
      if (text != "not read" && !cdi::parse_spec(text, "f", cdi::Format::json)) ++wrong;
    }
  });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(publisher.prune({"shared.json"}));
  CHECK(dir.names() == std::set<std::string>{"shared.json"});
  CHECK(device_in(dir / "shared.json").ends_with("-" + std::to_string(rounds - 1)));
}

TEST_CASE("Processes that write the same file at a time leave one of theirs, whole") {
  const TempDir dir;
  constexpr int writers = 4;
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int i = 0; i < writers; ++i) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool good = true;
      const Publisher publisher{"me", dir.path()};
      for (int round = 0; round < 15; ++round) {
        const auto done = publisher.reconcile({{"shared.json", spec_of("d" + std::to_string(i))}});
        good = good && done && done->errors.empty();
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(dir.names() == std::set<std::string>{"shared.json"});
  CHECK(device_in(dir / "shared.json").size() == 2);
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
