// Tests for include/cdi/sandbox/image_root.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/base/result.hpp>
#include <cdi/sandbox/image_root.hpp>

#include "../../support/opened.hpp"
#include "../../support/temp_tree.hpp"

namespace {

using cdi::detail::ImageRoot;

ImageRoot image_at(const std::string& path) {
  auto opened = ImageRoot::open(path);
  REQUIRE_MESSAGE(opened, (opened ? "" : to_string(opened.error())));
  return *std::move(opened);
}

/// The path that a path leads to; "none" if there is no file.
std::string resolved(const ImageRoot& image, std::string_view path) {
  return image.resolve(path).value_or("none");
}

std::string read_text(const ImageRoot& image, std::string_view path, std::size_t limit = 100) {
  return image.read(path, limit).value_or("none");
}

/// An image with files in usr/lib, beside a directory that is not part of it.
struct SmallImage {
  SmallImage() {
    for (const auto* name : {"outside", "image", "image/usr", "image/usr/lib"}) tree.make_dir(name);
    tree.put("outside/secret", "secret");
    tree.put("image/usr/lib/a", "a");
    tree.put("image/b", "b");
  }
  ImageRoot open() const { return image_at(tree / "image"); }
  void link(const std::string& to, std::string_view name) const {
    tree.link(to.c_str(), "image/" + std::string{name});
  }

  TempTree tree{};
};

}  // namespace

TEST_CASE("Paths without links lead to themselves, in their clean form") {
  const SmallImage files;
  const auto image = files.open();
  CHECK(resolved(image, "/b") == "/b");
  CHECK(resolved(image, "/usr/lib/a") == "/usr/lib/a");
  CHECK(resolved(image, "//usr/./lib//") == "/usr/lib");
  CHECK(resolved(image, "/usr/../b") == "/b");
  CHECK(resolved(image, "/../../b") == "/b");
  CHECK(resolved(image, "/") == "/");
  for (const auto* path : {"", "b", "./b", "../b", "/c", "/usr/c", "/b/c", "/missing/b"}) {
    CAPTURE(path);
    CHECK(resolved(image, path) == "none");
  }
  using namespace std::string_view_literals;
  CHECK(resolved(image, "/b\0"sv) == "none");
}

TEST_CASE("Links of an image lead to its files, from its root or their directory") {
  const SmallImage files;
  files.link("usr/lib", "lib");
  files.link("/usr/lib", "lib64");
  files.link("a", "usr/lib/a.1");
  files.link("../../b", "usr/lib/up");
  files.link("/lib/a.1", "chain");
  files.link("../../../../../usr/lib/../lib/a", "usr/lib/far");
  const auto image = files.open();
  CHECK(resolved(image, "/lib") == "/usr/lib");
  CHECK(resolved(image, "/lib/a") == "/usr/lib/a");
  CHECK(resolved(image, "/lib64/a.1") == "/usr/lib/a");
  CHECK(resolved(image, "/lib64/up") == "/b");
  CHECK(resolved(image, "/chain") == "/usr/lib/a");
  CHECK(resolved(image, "/usr/lib/far") == "/usr/lib/a");
  CHECK(resolved(image, "/lib/../../b") == "/b");
  CHECK(read_text(image, "/chain") == "a");
  CHECK(read_text(image, "/lib64/up") == "b");
}

TEST_CASE("Links to nothing, to themselves and through files lead nowhere") {
  const SmallImage files;
  files.link("missing", "dangling");
  files.link("self", "self");
  files.link("pong", "ping");
  files.link("ping", "pong");
  files.link("b/c", "through");
  const auto image = files.open();
  for (const auto* path : {"/dangling", "/dangling/c", "/self", "/self/a", "/ping", "/through"}) {
    CAPTURE(path);
    CHECK(resolved(image, path) == "none");
    CHECK(read_text(image, path) == "none");
    CHECK_FALSE(image.open_file(path));
  }
}

TEST_CASE("Links never lead out of an image") {
  const SmallImage files;
  const auto outside = files.tree / "outside";
  files.link(outside, "absolute");
  files.link("../outside", "relative");
  files.link("../../outside/secret", "usr/secret");
  files.link(outside + "/secret", "file");
  files.link("/proc/self/root" + outside, "proc");
  const auto image = files.open();
  for (const auto* path : {"/absolute", "/absolute/secret", "/relative", "/relative/secret",
                           "/usr/secret", "/file", "/proc/secret", "/../outside/secret"}) {
    CAPTURE(path);
    CHECK(resolved(image, path) == "none");
    CHECK(read_text(image, path) == "none");
    CHECK_FALSE(image.open_file(path));
  }
}

TEST_CASE("A root that another process replaces by a link is not left") {
  const SmallImage files;
  const auto image = files.open();
  files.tree.put("outside/b", "outside");
  REQUIRE(::rename((files.tree / "image").c_str(), (files.tree / "moved").c_str()) == 0);
  files.tree.link("outside", "image");
  CHECK(resolved(image, "/secret") == "none");
  CHECK(read_text(image, "/secret") == "none");
  CHECK(read_text(image, "/b") == "b");
  REQUIRE(::mkdir((files.tree / "outside/new").c_str(), 0755) == 0);
  CHECK_FALSE(image.open_file("/new"));
}

TEST_CASE("A text is read up to a limit, and only from a regular file") {
  const SmallImage files;
  files.tree.put("image/empty", "");
  files.tree.put("image/five", "12345");
  const auto image = files.open();
  CHECK(image.read("/empty", 0) == "");
  CHECK(image.read("/five", 5) == "12345");
  CHECK_FALSE(image.read("/five", 4));
  CHECK_FALSE(image.read("/five", 0));
  CHECK_FALSE(image.read("/usr", 100));
  CHECK_FALSE(image.read("/missing", 100));
  CHECK(image.open_file("/usr"));
}

TEST_CASE("FIFOs, sockets and devices of an image are found, but not opened") {
  const SmallImage files;
  REQUIRE(::mkfifo((files.tree / "image/fifo").c_str(), 0666) == 0);
  files.link("fifo", "to-fifo");
  const bool has_node = ::mknod((files.tree / "image/node").c_str(), S_IFCHR | 0666, 0x103) == 0;
  const auto image = files.open();
  Opened opened{files.tree / "image"};
  for (const auto* path : {"/fifo", "/to-fifo", "/node"}) {
    CAPTURE(path);
    CHECK_FALSE(image.open_file(path));
    CHECK(read_text(image, path) == "none");
  }
  for (const auto& name : opened.take()) CHECK(name == "");
  CHECK(resolved(image, "/to-fifo") == "/fifo");
  CHECK(resolved(image, "/node") == (has_node ? "/node" : "none"));
}

TEST_CASE("A file of an image that cannot be read is like a missing text") {
  const SmallImage files;
  for (const auto* name : {"", "image"}) REQUIRE(::chmod((files.tree / name).c_str(), 0755) == 0);
  REQUIRE(::chmod((files.tree / "image/b").c_str(), 0200) == 0);
  REQUIRE(::chmod((files.tree / "image/usr").c_str(), 0600) == 0);
  const auto image = files.open();
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  CHECK(resolved(image, "/b") == "/b");
  CHECK(read_text(image, "/b") == "none");
  CHECK(resolved(image, "/usr/lib/a") == "none");
}

TEST_CASE("A file can be mounted over a file, or where one can be made") {
  const SmallImage files;
  files.link("usr/lib", "lib");
  files.link("/missing", "dangling");
  const auto image = files.open();
  for (const auto* path : {"/b", "/lib/a", "/lib/new", "/new", "/new/sub/file"}) {
    CAPTURE(path);
    CHECK(image.can_mount_at(path));
  }
  CHECK_FALSE(image.can_mount_at("/b/file"));
  CHECK_FALSE(image.can_mount_at("/b/sub/file"));
  CHECK_FALSE(image.can_mount_at("/dangling"));  // where crun 1.8 fails
}

TEST_CASE("Nothing new can be mounted in a directory that is read-only") {
  const SmallImage files;
  for (const auto* name : {"", "image", "image/usr", "image/usr/lib"}) {
    REQUIRE(::chmod((files.tree / name).c_str(), 0755) == 0);
  }
  REQUIRE(::chmod((files.tree / "image/usr/lib").c_str(), 0777) == 0);
  const auto image = files.open();
  CHECK(image.can_mount_at("/usr/new"));
  const UnprivilegedUser unprivileged;
  if (!unprivileged || ::access((files.tree / "image").c_str(), F_OK) != 0) return;
  CHECK(image.can_mount_at("/b"));
  CHECK(image.can_mount_at("/usr/lib/new"));
  CHECK_FALSE(image.can_mount_at("/usr/new"));
  CHECK_FALSE(image.can_mount_at("/new/sub/file"));
}

TEST_CASE("A root directory must be a directory; its path becomes absolute and clean") {
  const SmallImage files;
  CHECK(image_at(files.tree / "image").on_host("/b") == files.tree / "image/b");
  CHECK(image_at(files.tree / "image//").on_host("/b") == files.tree / "image/b");
  CHECK(image_at("/").on_host("/b") == "/b");
  CHECK(image_at("///").on_host("/b") == "/b");
  CHECK(resolved(image_at("/"), "/") == "/");
  for (const std::string& path : {files.tree / "none", files.tree / "image/b", std::string{}}) {
    CAPTURE(path);
    const auto opened = ImageRoot::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == cdi::Errc::system);
    CHECK(opened.error().position.file == path);
  }
  char* const before = ::get_current_dir_name();
  REQUIRE(::chdir(files.tree.path().c_str()) == 0);
  const auto image = image_at("image");
  CHECK(::chdir(before) == 0);
  std::free(before);
  CHECK(image.on_host("/b") == files.tree / "image/b");
  CHECK(read_text(image, "/b") == "b");
}

TEST_CASE("The linkers of an image are those in /lib and /lib64") {
  const SmallImage files;
  const auto linkers = [&] {
    return linkers_of(files.open());
  };
  const auto put = [&](std::string_view name) {
    files.tree.put("image/" + std::string{name}, "");
  };
  put("usr/lib/ld-linux-x86-64.so.2");
  CHECK_FALSE(linkers().glibc);
  CHECK(linkers().musl.empty());
  files.tree.make_dir("image/lib64");
  for (const auto* other : {"lib64/libc.so.6", "lib64/ld-other.so.1", "lib64/ld-musl-x86_64.path",
                            "lib64/ld-musl-.so.1", "lib64/xld-linux.so.2"}) {
    put(other);
  }
  CHECK_FALSE(linkers().glibc);
  CHECK(linkers().musl.empty());
  put("lib64/ld64.so.2");
  CHECK(linkers().glibc);
  put("lib64/ld-musl-aarch64.so.1");
  CHECK(linkers().musl == std::vector<std::string>{"aarch64"});
}

TEST_CASE("A linker that is in /lib and /lib64 is one linker") {
  const SmallImage files;
  files.link("usr/lib", "lib");
  files.link("lib", "lib64");
  files.tree.put("image/usr/lib/ld-musl-x86_64.so.1", "");
  files.link("ld-musl-x86_64.so.1", "usr/lib/ld-musl-i386.so.1");
  const auto linkers = linkers_of(files.open());
  CHECK_FALSE(linkers.glibc);
  CHECK(linkers.musl == std::vector<std::string>{"i386", "x86_64"});
}
