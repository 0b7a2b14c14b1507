// Tests for include/cdi/dirs/scan.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/dirs/scan.hpp>

#include "../../support/cache_tree.hpp"

namespace {

Names files(const std::vector<cdi::Error>& errors) {
  Names files;
  for (const auto& error : errors) files.push_back(error.position.file);
  return files;
}

}  // namespace

TEST_CASE("A later directory has priority over an earlier one, whatever the names of the files") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("a/z.yaml", "d");
  tree.put_spec("a/only.yaml", "e");
  tree.put_spec("b/a.yaml", "d");
  const auto ab = cdi::scan_spec_dirs({a, b});
  CHECK(from(*ab, "v/c=d") == "b/a.yaml");
  CHECK(from(*ab, "v/c=e") == "a/only.yaml");
  CHECK(from(*cdi::scan_spec_dirs({b, a}), "v/c=d") == "a/z.yaml");
  CHECK(ab->errors().empty());
  CHECK(ab->specs().size() == 3);
}

TEST_CASE("The same directory given twice is not a conflict") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  const auto registry = cdi::scan_spec_dirs({a, a + "/", a});
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  CHECK(registry->errors().empty());
}

TEST_CASE(
    "Two files of one directory with the same device conflict, reported by pairs in order of "
    "names") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/y.yaml", "d");
  tree.put_spec("a/x.yaml", "d");
  tree.link("x.yaml", "a/z.yaml");
  const auto registry = cdi::scan_spec_dirs({a});
  CHECK(from(*registry, "v/c=d").empty());
  CHECK(files(registry->errors()) ==
        Names{a + "/x.yaml", a + "/y.yaml", a + "/x.yaml", a + "/z.yaml"});
}

TEST_CASE("A directory that is missing, unlistable or a file does not affect the others") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put("file", "");
  tree.link("loop", "loop");
  tree.link("gone", "dangling");
  tree.link("b", "link");
  tree.put_spec("a/x.yaml", "d");
  tree.put_spec("b/x.yaml", "e");
  const auto registry = cdi::scan_spec_dirs(
      {a, tree / "gone", tree / "file", tree / "loop", tree / "dangling", tree / "link"});
  CHECK(registry->devices() == Names{"v/c=d", "v/c=e"});
  CHECK(files(registry->errors()) == Names{tree / "file", tree / "loop"});
  CHECK(registry->errors()[0].system == ENOTDIR);
  CHECK(registry->errors()[1].system == ELOOP);

  using State = cdi::SpecDir::State;
  const State states[] = {State::read,       State::missing, State::unreadable,
                          State::unreadable, State::missing, State::read};
  const auto dirs = registry->dirs();
  REQUIRE(dirs.size() == std::size(states));
  for (std::size_t i = 0; i < dirs.size(); ++i) {
    CAPTURE(dirs[i].path);
    CHECK(dirs[i].state == states[i]);
    CHECK(dirs[i].priority == static_cast<int>(i));
    CHECK(dirs[i].specs == (states[i] == State::read ? 1 : 0));
  }
}

TEST_CASE("A directory without permission does not affect the others") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("b/x.yaml", "d");
  REQUIRE(::chmod(a.c_str(), 0) == 0);
  const auto registry = cdi::scan_spec_dirs({a, b});
  CHECK(registry->devices() == Names{"v/c=d"});
  CHECK(files(registry->errors()) == Names{a});
}

TEST_CASE("An invalid file affects only its own devices, and a file of lower priority counts") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  tree.put_spec("a/x.yaml", "d");
  tree.put("b/1.json", "{");
  tree.put("b/2.yaml", "cdiVersion: 1.0.0\nkind: w/c\ndevices: [{name: d}]\n");
  tree.put("b/3.yaml", "");
  tree.put("b/4.json", std::string("\0\xff", 2));
  REQUIRE(::mkfifo((tree / "b/5.json").c_str(), 0600) == 0);
  tree.link("gone", "b/6.json");
  tree.link("7.json", "b/7.json");
  tree.link("/dev/zero", "b/8.json");
  tree.link("../a", "b/9.json");
  tree.put_spec("b/good.yaml", "e");
  const auto registry = cdi::scan_spec_dirs({a, b});
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  CHECK(from(*registry, "v/c=e") == "b/good.yaml");
  CHECK(registry->vendors() == std::vector<std::string_view>{"v"});
  CHECK(files(registry->errors()) == Names{b + "/1.json", b + "/2.yaml", b + "/3.yaml",
                                           b + "/4.json", b + "/5.json", b + "/6.json",
                                           b + "/7.json", b + "/8.json", b + "/9.json"});
  for (const auto& error : registry->errors()) CHECK_FALSE(error.message.empty());
}

TEST_CASE("Only files of the directory itself whose names end in .json or .yaml are read") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.make_dir("a/sub.yaml");
  tree.put_spec("a/sub.yaml/x.yaml", "in-subdirectory");
  const std::pair<std::string, bool> rows[] = {
      {"1.yaml", true},      {"2.json", true}, {".yaml", true},   {".3.yaml", true},
      {" 4 .yaml", true},    {"5.yml", false}, {"6.YAML", false}, {"7.yaml~", false},
      {"8.yaml.tmp", false}, {"yaml", false},
  };
  Names expected;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto device = "d" + std::to_string(i);
    tree.put_spec("a/" + rows[i].first, device);
    if (rows[i].second) expected.push_back("v/c=" + device);
  }
  const auto registry = cdi::scan_spec_dirs({a});
  CHECK(registry->devices() == expected);
  CHECK(registry->errors().empty());
}

TEST_CASE("Paths of directories are normalised") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  for (const std::string text : {"a/", "a///", "./a/.", "b/../a", "a/b/../../a/"}) {
    CAPTURE(text);
    const auto registry = cdi::scan_spec_dirs({tree / text});
    CHECK(registry->dirs()[0].path == a);
    REQUIRE(registry->specs().size() == 1);
    CHECK(registry->specs()[0]->path == a + "/x.yaml");
  }
}

TEST_CASE("Limits hold for each file") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/x.yaml", "d");
  tree.put("a/big.json", std::string(2000, ' '));
  const auto registry = cdi::scan_spec_dirs({a}, {.limits = {.bytes = 1000}});
  CHECK(from(*registry, "v/c=d") == "a/x.yaml");
  REQUIRE(registry->errors().size() == 1);
  CHECK(registry->errors()[0].code == cdi::Errc::limit);
}

TEST_CASE(
    "The valid files of a directory are read, whatever else it contains, and nothing blocks") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  tree.put_spec("a/good.yaml", "d");
  REQUIRE(::mkfifo((tree / "a/fifo.yaml").c_str(), 0600) == 0);
  tree.link("/dev/zero", "a/endless.json");
  tree.link("/dev/tty", "a/terminal.json");
  tree.link("fifo.yaml", "a/to-fifo.json");
  tree.link("gone", "a/dangling.json");
  tree.link("loop.json", "a/loop.json");
  tree.link(".", "a/dot.json");
  tree.link("/proc/self/mem", "a/memory.yaml");
  tree.make_dir("a/directory.yaml");
  tree.put("a/brackets.json", std::string(10'000, '['));
  std::string braces;
  for (int i = 0; i < 10'000; ++i) braces += "{a: ";
  tree.put("a/braces.yaml", braces);
  tree.put("a/bombs.yaml",
           "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
           "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
           "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
           "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
           "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
           "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
           "g: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\n");
  tree.put("a/nothing.json", "");
  tree.put("a/zeros.json", std::string(1000, '\0'));
  tree.put_spec("a/odd", "odd");
  const auto odd_name = tree / "a/\xff\xfe\n.yaml";
  REQUIRE(::rename((tree / "a/odd").c_str(), odd_name.c_str()) == 0);
  tree.put("a/huge.json", "");
  REQUIRE(::truncate((tree / "a/huge.json").c_str(), 300 << 20) == 0);  // takes no space
  tree.put("a/blanks.json", std::string(2 << 20, ' '));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const auto place = tree / "a/socket.json";
  place.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(socket);

  const auto registry = cdi::scan_spec_dirs({a}, {.retry_window = {}});
  CHECK(registry->devices() == Names{"v/c=d", "v/c=odd"});
  struct {
    std::string name;
    cdi::Errc code;
    std::string words;
  } const rows[] = {
      {"blanks.json", cdi::Errc::syntax, "empty"},
      {"bombs.yaml", cdi::Errc::limit, "aliases add more than"},
      {"braces.yaml", cdi::Errc::limit, "more than 64 levels deep"},
      {"brackets.json", cdi::Errc::limit, "more than 64 levels deep"},
      {"dangling.json", cdi::Errc::system, "the target of the link does not exist"},
      {"dot.json", cdi::Errc::system, "not a regular file"},
      {"endless.json", cdi::Errc::system, "not a regular file"},
      {"fifo.yaml", cdi::Errc::system, "not a regular file"},
      {"huge.json", cdi::Errc::limit, "larger than 16777216 bytes"},
      {"loop.json", cdi::Errc::system, std::strerror(ELOOP)},
      {"memory.yaml", cdi::Errc::system, ""},
      {"nothing.json", cdi::Errc::syntax, "empty"},
      {"socket.json", cdi::Errc::system, "not a regular file"},
      {"terminal.json", cdi::Errc::system, "not a regular file"},
      {"to-fifo.json", cdi::Errc::system, "not a regular file"},
      {"zeros.json", cdi::Errc::syntax, ""},
  };
  REQUIRE(registry->errors().size() == std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto& error = registry->errors()[i];
    CAPTURE(to_string(error));
    CHECK(error.position.file == a + "/" + rows[i].name);
    CHECK(error.code == rows[i].code);
    CHECK(error.message.find(rows[i].words) != std::string::npos);
  }
  // Names that are not UTF-8 are on one line, in UTF-8.
  const auto& odd = registry->find("v/c=odd").spec->path;
  CHECK(to_string(cdi::Error{.message = "x", .position = {.file = odd}}) ==
        a + "/\\xff\\xfe\\n.yaml: x");
}

TEST_CASE("A directory with too many spec files is refused, and the error has the limit") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const auto b = tree.make_dir("b");
  for (const char* name : {"1.yaml", "2.yaml", "3.yaml"})
    tree.put_spec(std::string{"a/"} + name, name);
  tree.put_spec("b/x.yaml", "d");
  tree.put("a/no-spec", "");
  CHECK(cdi::scan_spec_dirs({a, b}, {.files = 3})->devices().size() == 4);
  const auto registry = cdi::scan_spec_dirs({a, b}, {.files = 2});
  CHECK(registry->devices() == Names{"v/c=d"});
  REQUIRE(registry->errors().size() == 1);
  CHECK(to_string(registry->errors()[0]) == a + ": the directory has more than 2 spec files");
  CHECK(registry->errors()[0].code == cdi::Errc::limit);
}

TEST_CASE("Files and directories that other users may write are refused on request") {
  const TempTree tree;
  const auto good = tree.make_dir("good");
  const auto open = tree.make_dir("open");
  tree.put_spec("good/a.yaml", "d");
  tree.put_spec("good/world.yaml", "world");
  tree.put_spec("open/b.yaml", "e");
  REQUIRE(::chmod((tree / "good/a.yaml").c_str(), 0644) == 0);
  REQUIRE(::chmod((tree / "good/world.yaml").c_str(), 0646) == 0);
  REQUIRE(::chmod(open.c_str(), 01777) == 0);  // sticky: users who may write can still add files
  CHECK(cdi::scan_spec_dirs({good, open})->devices().size() == 3);
  const auto registry = cdi::scan_spec_dirs({good, open}, {.reject_writable = true});
  CHECK(registry->devices() == Names{"v/c=d"});
  CHECK(files(registry->errors()) == Names{good + "/world.yaml", open});
  for (const auto& error : registry->errors()) CHECK(error.code == cdi::Errc::denied);
  CHECK(registry->errors()[0].message.starts_with(
      "other users may write to the file: mode 0646, owner "));
  CHECK(registry->errors()[1].message.starts_with(
      "other users may write to the directory: mode 01777, "));
}

TEST_CASE("The registry has file, line and digest of a device") {
  const TempTree tree;
  const auto a = tree.make_dir("a");
  const std::string text =
      "{\"cdiVersion\": \"1.0.0\", \"kind\": \"v/c\", \"devices\": [\n"
      "  {\"name\": \"d\", \"containerEdits\": {\"env\": [\"A=1\"]}},\n\n"
      "  {\"name\": \"e\", \"containerEdits\": {\"env\": [\"A=1\"]}}]}";
  tree.put("a/x.json", text);
  const auto size = [](std::string_view bytes) {
    return std::to_string(bytes.size());
  };
  const auto registry = cdi::scan_spec_dirs({a}, {.digest = size});
  const auto found = registry->find("v/c=e");
  REQUIRE(found.device != nullptr);
  CHECK(found.spec->path == a + "/x.json");
  CHECK(registry->find("v/c=d").line() == 2);
  CHECK(found.line() == 4);
  CHECK(found.spec->digest == std::to_string(text.size()));
}

TEST_CASE("A directory with too many names is refused, whatever their files are") {
  const TempTree tree;
  tree.make_dir("a");
  for (int i = 0; i < 30; ++i) tree.make_dir("a/d" + std::to_string(i) + ".yaml");
  tree.put("a/z.yaml",
           "cdiVersion: 0.6.0\nkind: v/c\ndevices:\n- {name: d, containerEdits: {env: [A=1]}}\n");
  const auto registry = cdi::scan_spec_dirs({tree / "a"}, {.files = 10});
  REQUIRE(registry->errors().size() == 1);
  CHECK(registry->errors()[0].code == cdi::Errc::limit);
  CHECK(cdi::scan_spec_dirs({tree / "a"}, {.files = 31})->devices().size() == 1);
}
