// Tests for include/cdi/files/descriptor.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

namespace {

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

/// Both ends of a pipe; what is written to one end is read at the other.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    out = cdi::Descriptor{ends[0]};
    in = cdi::Descriptor{ends[1]};
  }

  cdi::Descriptor out{-1};
  cdi::Descriptor in{-1};
};

}  // namespace

static_assert(!std::is_copy_constructible_v<cdi::Descriptor>);
static_assert(!std::is_copy_assignable_v<cdi::Descriptor>);
static_assert(std::is_nothrow_move_constructible_v<cdi::Descriptor>);
static_assert(std::is_nothrow_move_assignable_v<cdi::Descriptor>);

TEST_CASE("A descriptor closes itself once, also after moves") {
  int number = -1;
  {
    cdi::Descriptor first{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    REQUIRE(first);
    number = first.get();
    cdi::Descriptor second{std::move(first)};
    cdi::Descriptor third{-1};
    CHECK_FALSE(third);
    third = std::move(second);
    CHECK(third.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
}

TEST_CASE("The former descriptor is closed after an assignment") {
  const int kept = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int closed = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    cdi::Descriptor target{closed};
    target = cdi::Descriptor{kept};
    CHECK(is_open(kept));
    CHECK_FALSE(is_open(closed));
  }
  CHECK_FALSE(is_open(kept));
}

TEST_CASE("A released descriptor stays open") {
  int number = -1;
  {
    cdi::Descriptor descriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    number = descriptor.release();
    CHECK_FALSE(descriptor);
  }
  CHECK(is_open(number));
  ::close(number);
}

TEST_CASE("An error of a file has the path, the action and the reason of the system") {
  errno = ENOENT;
  const auto error = cdi::file_error("/no/file", "cannot open the file");
  CHECK(error.code == cdi::Errc::system);
  CHECK(error.system == ENOENT);
  CHECK(to_string(error) == "/no/file: cannot open the file: No such file or directory");
}

TEST_CASE("A file is read to its end, up to the limit") {
  const std::string text(50'000, 'x');  // more than one read takes, less than a pipe holds
  for (const std::size_t limit : {text.size() + 1, text.size(), text.size() - 1}) {
    CAPTURE(limit);
    Pipe pipe;
    REQUIRE(::write(pipe.in.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    pipe.in = cdi::Descriptor{-1};
    const auto read = cdi::read_all(pipe.out.get(), "name", limit);
    CHECK(read.has_value() == (limit >= text.size()));
    if (read) {
      CHECK(*read == text);
    } else {
      CHECK(read.error().code == cdi::Errc::limit);
      CHECK(to_string(read.error()) == "name: the file is larger than 49999 bytes");
    }
  }
}

TEST_CASE("A file of the expected size is read by one call, another one to its end") {
  for (const std::size_t expected : {0U, 3U, 4U, 5U}) {
    CAPTURE(expected);
    Pipe pipe;
    REQUIRE(::write(pipe.in.get(), "text", 4) == 4);
    // While the other end is open, a second call would wait for ever.
    if (expected != 4) pipe.in = cdi::Descriptor{-1};
    const auto read = cdi::read_all(pipe.out.get(), "name", 100, expected);
    REQUIRE(read);
    CHECK(*read == "text");
  }
}

TEST_CASE("A file that cannot be read is a system error") {
  const cdi::Descriptor directory{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  const auto read = cdi::read_all(directory.get(), "/", 10);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == cdi::Errc::system);
  CHECK(read.error().system == EISDIR);
}

TEST_CASE("A name with a NUL byte is not opened as the part before it") {
  const std::string name{"/dev/null\0x", 11};
  CHECK(cdi::detail::open_at(AT_FDCWD, name, O_RDONLY) == -1);
  CHECK(errno == EINVAL);
  const cdi::Descriptor good{cdi::detail::open_at(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC)};
  CHECK(good);
}
