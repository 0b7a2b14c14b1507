// Tests for include/cdi/files/text_file.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/text_file.hpp>

#include "../../support/temp_tree.hpp"

namespace {

std::function<void()> before_read;  // done once, before the next `read`

}  // namespace

// In place of the one of the C library, so that a file can change while it is read.
extern "C" ssize_t read(int descriptor, void* to, std::size_t size) {
  if (before_read) std::exchange(before_read, nullptr)();
  return ::syscall(SYS_read, descriptor, to, size);
}

namespace {

constexpr std::size_t max_bytes = 1U << 20;

cdi::Result<cdi::TextFile> read_text(const std::string& path, std::size_t limit = max_bytes,
                                     bool reject_writable = false) {
  return cdi::read_file_at(AT_FDCWD, path, path, limit, reject_writable);
}

/// Whether the file is refused for what others may write.
bool is_rejected(const std::string& path) {
  const auto file = read_text(path, max_bytes, true);
  if (file) return false;
  CHECK(file.error().code == cdi::Errc::denied);
  CHECK(file.error().position.file == path);
  return true;
}

}  // namespace

TEST_CASE("A file is read with its signature, of a directory or by its path") {
  const TempTree tree;
  tree.put("a", std::string_view{"one\0two\n", 8});
  struct stat info = {};
  REQUIRE(::stat((tree / "a").c_str(), &info) == 0);
  const auto file = read_text(tree / "a");
  REQUIRE(file);
  CHECK(file->text == std::string_view{"one\0two\n", 8});
  CHECK(file->signature == cdi::signature_of(info));

  const cdi::Descriptor directory{::open((tree / "").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  REQUIRE(directory);
  const auto there = cdi::read_file_at(directory.get(), "a", "the path", max_bytes);
  REQUIRE(there);
  CHECK(there->text == file->text);
  const auto gone = cdi::read_file_at(directory.get(), "b", "the path", max_bytes);
  REQUIRE_FALSE(gone);
  CHECK(to_string(gone.error()) == "the path: cannot open the file: No such file or directory");
}

TEST_CASE("A file just written is not settled, an old one is") {
  const TempTree tree;
  bool stable = true;
  for (int tries = 0; stable && tries < 100; ++tries) {  // each has 20 milliseconds
    tree.put("a", "text");
    const auto file = read_text(tree / "a");
    REQUIRE(file);
    stable = file->stable;
    CHECK(file->age >= 0);
    CHECK(bool{file->opened} == !stable);
  }
  CHECK_FALSE(stable);
  const auto old = read_text("/etc/passwd");
  if (!old) {
    MESSAGE("skipped 'no old file that may be read'");
    return;
  }
  CHECK(old->stable);
  CHECK(old->age > 20);
  CHECK_FALSE(old->opened);
}

TEST_CASE("The limit is checked before the file is read") {
  const TempTree tree;
  tree.put("a", "12345");
  bool was_read = false;
  before_read = [&] {
    was_read = true;
  };
  const auto file = read_text(tree / "a", 4);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == cdi::Errc::limit);
  CHECK(to_string(file.error()) == tree / "a" + ": the file is larger than 4 bytes");
  CHECK_FALSE(was_read);
  CHECK(read_text(tree / "a", 5)->text == "12345");
  CHECK(was_read);
}

TEST_CASE("A sparse file of a tebibyte costs nothing") {
  const TempTree tree;
  tree.put("a", "");
  if (::truncate((tree / "a").c_str(), off_t{1} << 40) != 0) {
    MESSAGE("skipped 'the file system has no files of a tebibyte'");
    return;
  }
  CHECK(cdi::read_file(tree / "a").error().code == cdi::Errc::limit);
}

TEST_CASE("A change while a file is read is a temporary error") {
  const TempTree tree;
  for (const std::string_view text : {"longer text", "1", ""}) {
    CAPTURE(text);
    tree.put("a", "text");
    before_read = [&] {
      tree.put("a", text);
    };
    const auto file = read_text(tree / "a");
    REQUIRE_FALSE(file);
    CHECK(file.error().code == cdi::Errc::system);
    CHECK(file.error().system == EAGAIN);
    CHECK(to_string(file.error()) == tree / "a" + ": the file changed during the read");
    CHECK(read_text(tree / "a")->text == text);
  }
}

TEST_CASE("A file that grows over the limit while it is read is refused") {
  const TempTree tree;
  tree.put("a", "1234");
  before_read = [&] {
    tree.put("a", "12345");
  };
  const auto file = read_text(tree / "a", 4);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == cdi::Errc::limit);
}

TEST_CASE("A file that is replaced after it was opened is read completely") {
  const TempTree tree;
  tree.put("a", "old");
  tree.put("b", "new");
  before_read = [&] {
    CHECK(::rename((tree / "b").c_str(), (tree / "a").c_str()) == 0);
  };
  const auto file = read_text(tree / "a");
  REQUIRE(file);
  CHECK(file->text == "old");
  struct stat info = {};
  REQUIRE(::stat((tree / "a").c_str(), &info) == 0);
  CHECK(file->signature != cdi::signature_of(info));  // the next look reads it again
  CHECK(read_text(tree / "a")->text == "new");
}

TEST_CASE("A file that only lost its name was read completely") {
  struct stat info = {};
  info.st_ino = 7;
  info.st_size = 4;
  info.st_nlink = 1;
  info.st_mtim.tv_sec = 100;
  info.st_ctim.tv_sec = 200;
  const auto before = cdi::signature_of(info);
  CHECK(cdi::detail::is_same_content(before, info));
  struct {
    nlink_t names;
    time_t changed;
    time_t modified;
    off_t size;
    bool same;
  } const rows[] = {
      {0, 200, 100, 4, true},   // the clock of the file system has steps
      {0, 201, 100, 4, true},   // replaced or removed
      {1, 201, 100, 4, false},  // written, and its time of modification set back
      {2, 201, 100, 4, false},  // another name
      {0, 201, 101, 4, false},  // written, too
      {0, 201, 100, 5, false},
  };
  for (const auto& row : rows) {
    info.st_nlink = row.names;
    info.st_ctim.tv_sec = row.changed;
    info.st_mtim.tv_sec = row.modified;
    info.st_size = row.size;
    CAPTURE(row.names);
    CAPTURE(row.changed);
    CHECK(cdi::detail::is_same_content(before, info) == row.same);
  }
}

TEST_CASE("Only regular files are read, and other files do not block") {
  const TempTree tree;
  tree.make_dir("dir");
  REQUIRE(::mkfifo((tree / "fifo").c_str(), 0600) == 0);
  REQUIRE(::mknod((tree / "socket").c_str(), S_IFSOCK | 0600, 0) == 0);
  tree.link("fifo", "link");
  tree.link("/dev/zero", "zero");
  struct {
    std::string_view name;
    int system;
  } const rows[] = {
      {"dir", EISDIR}, {"fifo", EINVAL}, {"socket", EINVAL}, {"link", EINVAL}, {"zero", EINVAL}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const auto file = read_text(tree / row.name);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == cdi::Errc::system);
    CHECK(file.error().system == row.system);
    CHECK(file.error().message == "not a regular file");
    CHECK(file.error().position.file == tree / row.name);
  }
}

TEST_CASE("A name with a NUL byte does not name the file before that byte") {
  const TempTree tree;
  tree.put("a", "text");
  const auto file = read_text(tree / std::string_view{"a\0.json", 7});
  REQUIRE_FALSE(file);
  CHECK(file.error().system == EINVAL);
}

TEST_CASE("The error of an unreadable file has its mode, its owner and the user of the process") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  tree.put("a", "text");
  REQUIRE(::chmod((tree / "a").c_str(), 0240) == 0);
  const auto file = read_text(tree / "a");
  REQUIRE_FALSE(file);
  CHECK(file.error().system == EACCES);
  const auto user = std::to_string(::geteuid());
  const auto group = std::to_string(::getegid());
  CHECK(to_string(file.error()) == tree / "a" + ": cannot open the file: Permission denied" +
                                       ": mode 0240, owner " + user + ", group " + group +
                                       "; this process is user " + user + ", group " + group);
}

TEST_CASE("The error has no mode for a file in a directory that may not be searched") {
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  const TempTree tree;
  tree.make_dir("dir");
  tree.put("dir/a", "text");
  REQUIRE(::chmod((tree / "dir").c_str(), 0600) == 0);
  const auto file = read_text(tree / "dir/a");
  REQUIRE_FALSE(file);
  CHECK(file.error().system == EACCES);
  CHECK(file.error().message.find("mode") == std::string::npos);
}

TEST_CASE("A file that other users may write is refused on request, also behind a link") {
  const TempTree tree;
  tree.put("a", "text");
  tree.link("a", "link");
  REQUIRE(::chmod((tree / "a").c_str(), 0644) == 0);
  CHECK_FALSE(is_rejected(tree / "a"));
  CHECK_FALSE(is_rejected(tree / "link"));
  REQUIRE(::chmod((tree / "a").c_str(), 0646) == 0);
  CHECK(is_rejected(tree / "a"));
  CHECK(is_rejected(tree / "link"));
  CHECK(read_text(tree / "a"));
  const auto error = read_text(tree / "a", max_bytes, true).error();
  CHECK(error.message.starts_with("other users may write to the file: mode 0646, owner "));
}
