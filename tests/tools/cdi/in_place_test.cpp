// Tests for tools/cdi/base/in_place.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/cdi/base/in_place.hpp"

#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/temporary.hpp>
#include <cdi/publish.hpp>
#include <cdi/spec.hpp>

#include "../../support/temp_tree.hpp"

namespace {

using Names = std::set<std::string>;

void move(const std::string& from, const std::string& to) {
  REQUIRE(::rename(from.c_str(), to.c_str()) == 0);
}

/// Checks that a file is not replaced since it is not the one that was read.
void check_left_alone(const FileInPlace& file) {
  const auto done = replace_in_place(file, "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().code == cdi::Errc::conflict);
  CHECK(to_string(done.error()) == file.path +
                                       ": the file was changed or replaced after it was read, "
                                       "and is left alone: try again");
}

}  // namespace

TEST_CASE("A file is replaced where it is, with its mode, and its links stay") {
  const TempTree tree;
  tree.make_dir("dir");
  tree.put("dir/file", "old");
  REQUIRE(::chmod((tree / "dir/file").c_str(), 0640) == 0);
  tree.link("dir", "dir_link");
  tree.link("../dir_link/./file", "dir/one");
  tree.link((tree / "dir/one").c_str(), "two");
  for (const std::string_view name :
       {"dir/file", "dir//file", "dir/../dir/file", "dir_link/file", "dir/one", "two"}) {
    CAPTURE(name);
    tree.put("dir/file", "old");
    const auto file = read_in_place(tree / name);
    REQUIRE_MESSAGE(file, to_string(file.error()));
    CHECK(file->text == "old");
    CHECK(replace_in_place(*file, "new"));
    CHECK(get_file(tree / "dir/file") == "new");
    CHECK(mode_of(tree / "dir/file") == 0640);
  }
  struct stat info = {};
  for (const std::string_view name : {"dir/one", "two", "dir_link"}) {
    CHECK(::lstat((tree / name).c_str(), &info) == 0);
    CHECK(S_ISLNK(info.st_mode));
  }
  CHECK(tree.names() == Names{"dir", "dir_link", "two"});
}

TEST_CASE("A link that replaces the file is neither followed nor replaced") {
  const TempTree tree;
  tree.put("file", "old");
  tree.put("secret", "root's");
  const auto file = read_in_place(tree / "file");
  REQUIRE(file);
  REQUIRE(::unlink((tree / "file").c_str()) == 0);
  tree.link("secret", "file");
  check_left_alone(*file);
  CHECK(get_file(tree / "secret") == "root's");
  CHECK(tree.names() == Names{"file", "secret"});
}

TEST_CASE("Files that were changed, replaced or removed meanwhile are left alone") {
  const TempTree tree;
  tree.put("file", "old");
  auto file = read_in_place(tree / "file");
  REQUIRE(file);
  tree.put("other", "old");
  move(tree / "other", tree / "file");
  check_left_alone(*file);

  file = read_in_place(tree / "file");
  tree.put("file", "longer");
  check_left_alone(*file);
  CHECK(get_file(tree / "file") == "longer");

  file = read_in_place(tree / "file");
  REQUIRE(::unlink((tree / "file").c_str()) == 0);
  CHECK(replace_in_place(*file, "new").error().system == ENOENT);
  CHECK(tree.names().empty());
}

TEST_CASE("A directory that is replaced meanwhile is not written to") {
  const TempTree tree;
  for (const std::string_view name : {"dir", "other"}) tree.make_dir(name);
  tree.put("dir/file", "old");
  tree.put("other/file", "other's");
  const auto file = read_in_place(tree / "dir/file");
  REQUIRE(file);
  move(tree / "dir", tree / "moved");
  tree.link("other", "dir");
  CHECK(replace_in_place(*file, "new"));
  CHECK(get_file(tree / "other/file") == "other's");
  CHECK(get_file(tree / "moved/file") == "new");
}

TEST_CASE("A link of another user is refused anywhere in the path") {
  const TempTree tree;
  tree.make_dir("dir");
  tree.put("dir/file", "old");
  tree.link("dir", "dir_link");
  tree.link("dir/file", "link");
  constexpr uid_t somebody = 4242;
  for (const std::string_view name : {"dir_link", "link"}) {
    if (::lchown((tree / name).c_str(), somebody, somebody) == 0) continue;
    MESSAGE("skipped 'only root makes links of others'");
    return;
  }
  for (const std::string_view name : {"dir_link/file", "link"}) {
    CAPTURE(name);
    const auto file = read_in_place(tree / name);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == cdi::Errc::denied);
    const auto link = std::string{name.substr(0, name.find('/'))};
    CHECK(to_string(file.error()) == tree / name +
                                         ": the path contains a link owned by user 4242, who is "
                                         "neither root nor the user running this process: name "
                                         "the target of \"" +
                                         link + "\"");
  }
  CHECK(read_in_place(tree / "dir/file"));
}

TEST_CASE("A directory to write in stays the same, even if its path changes") {
  const TempTree tree;
  for (const std::string_view name : {"dir", "other"}) tree.make_dir(name);
  const auto directory = open_to_write(tree / "dir", IfMissing::fail);
  REQUIRE(directory);
  move(tree / "dir", tree / "moved");
  tree.link("other", "dir");
  const cdi::Publisher publisher{"me", directory->get(), tree / "dir"};
  cdi::Spec spec{.version = "0.6.0", .kind = "a.com/b"};
  spec.devices.push_back({.name = "0", .container_edits = {.env = {"A=1"}}});
  CHECK(publisher.write("a.yaml", spec));
  CHECK(get_file(tree / "moved/a.yaml").find("a.com/b") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(tree / "other/a.yaml"));
  CHECK(publisher.remove("a.yaml"));
  CHECK_FALSE(std::filesystem::exists(tree / "moved/a.yaml"));
}

TEST_CASE("A missing directory to write in is made only on request") {
  const TempTree tree;
  tree.link("far/away", "link");
  const auto missing = open_to_write(tree / "link/a/b/", IfMissing::fail);
  REQUIRE(missing);
  CHECK_FALSE(*missing);
  CHECK_FALSE(std::filesystem::exists(tree / "far"));
  const auto old = ::umask(077);
  CHECK(open_to_write(tree / "link/a/b/", IfMissing::make_directories));
  ::umask(old);
  for (const std::string_view name : {"far", "far/away", "far/away/a", "far/away/a/b"}) {
    struct stat info = {};
    CHECK(::stat((tree / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0755);
  }
  tree.put("file", "");
  for (const std::string_view name : {"file", "file/a"}) {
    const auto wrong = open_to_write(tree / name, IfMissing::make_directories);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().system == ENOTDIR);
  }
  if (::lchown((tree / "link").c_str(), 4242, 4242) != 0) return;  // only root can
  for (const auto if_missing : {IfMissing::fail, IfMissing::make_directories}) {
    CHECK(open_to_write(tree / "link/c", if_missing).error().code == cdi::Errc::denied);
  }
}

TEST_CASE("A path that cannot be replaced is an error that names the path") {
  const TempTree tree;
  tree.put("file", "old");
  tree.link("loop", "loop");
  tree.link("gone", "dangling");
  tree.link("file/", "slash");
  struct {
    std::string path;
    int system;
  } const rows[] = {
      {"", ENOENT},
      {tree / "missing", ENOENT},
      {tree / "dangling", ENOENT},
      {tree / "missing/file", ENOENT},
      {tree / "file/file", ENOTDIR},
      {tree / "file/", ENOTDIR},
      {tree / "slash", ENOTDIR},
      {tree / "loop", ELOOP},
      {tree / ".", EISDIR},
      {"/", EISDIR},
      {"/dev/null", EINVAL},
      {tree / std::string_view{"file\0", 5}, EINVAL},
      {tree / std::string(256, 'n'), ENAMETOOLONG},
  };
  const auto before = open_files();
  for (const auto& row : rows) {
    CAPTURE(row.path);
    const auto file = read_in_place(row.path);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == cdi::Errc::system);
    CHECK(file.error().system == row.system);
    CHECK(file.error().position.file == row.path);
  }
  CHECK(open_files() == before);
}

TEST_CASE("Only temporary files of killed writers of the file are removed") {
  const TempTree tree;
  tree.put("file", "old");
  tree.put("file.bak", "old");
  const Names others = {".file.bak.1-2.cdi-tmp", ".file.1-.cdi-tmp", ".other.1-2.cdi-tmp",
                        "file.1-2"};
  for (const auto& name : others) tree.put(name, "");
  for (const std::string_view name : {".file.1-0.cdi-tmp", ".file.7-99.cdi-tmp"})
    tree.put(name, "");
  const auto directory = cdi::Descriptor{::open(tree.path().c_str(), O_RDONLY | O_DIRECTORY)};
  const cdi::detail::Temporary living{directory.get(), "file"};
  auto file = read_in_place(tree / "file");
  REQUIRE(file);
  CHECK(replace_in_place(*file, "new"));
  Names left = others;
  left.insert({"file", "file.bak", living.name()});
  CHECK(tree.names() == left);

  const std::string longest(255, 'n');  // of which a temporary name has a part
  tree.put(longest, "old");
  tree.put("." + longest.substr(0, 200) + ".1-2.cdi-tmp", "");
  file = read_in_place(tree / longest);
  REQUIRE(file);
  CHECK(replace_in_place(*file, "new"));
  left.insert(longest);
  CHECK(tree.names() == left);
}

TEST_CASE("The backup has the old text, mode and a name that no file had") {
  const TempTree tree;
  for (const std::string_view backup : {"file.bak", "file.bak.2", "file.bak.3"}) {
    tree.put("file", "old");
    REQUIRE(::chmod((tree / "file").c_str(), 0640) == 0);
    const auto file = read_in_place(tree / "file");
    REQUIRE(file);
    const auto done = replace_with_backup(*file, "new");
    REQUIRE(done);
    CHECK(*done == tree / backup);
    CHECK(get_file(tree / backup) == "old");
    CHECK(mode_of(tree / backup) == 0640);
    CHECK(get_file(tree / "file") == "new");
  }
  CHECK(tree.names() == Names{"file", "file.bak", "file.bak.2", "file.bak.3"});
}

TEST_CASE("A file with a thousand backups is not replaced") {
  const TempTree tree;
  tree.put("file", "old");
  const auto file = read_in_place(tree / "file");
  REQUIRE(file);
  tree.put("file.bak", "");
  for (int i = 2; i <= 1000; ++i) tree.put("file.bak." + std::to_string(i), "");
  const auto done = replace_with_backup(*file, "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().message == "the file has 1000 backups");
  CHECK(get_file(tree / "file") == "old");
  CHECK(tree.names().size() == 1001);
}

TEST_CASE("Without a replacement there is no backup, and without a backup no replacement") {
  const TempTree tree;
  tree.put("file", "old");
  const auto file = read_in_place(tree / "file");
  REQUIRE(file);
  tree.put("file", "another");
  CHECK(replace_with_backup(*file, "new").error().code == cdi::Errc::conflict);
  CHECK(get_file(tree / "file") == "another");
  CHECK(tree.names() == Names{"file"});
  REQUIRE(::unlink((tree / "file").c_str()) == 0);
  CHECK(replace_with_backup(*file, "new").error().system == ENOENT);
  CHECK(tree.names().empty());

  const std::string longest(255, 'n');
  tree.put(longest, "old");
  const auto no_room = read_in_place(tree / longest);
  REQUIRE(no_room);
  CHECK(replace_with_backup(*no_room, "new").error().system == ENAMETOOLONG);
  CHECK(get_file(tree / longest) == "old");
  CHECK(tree.names() == Names{longest});
}
