// Programs that are started without standard streams.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/standard_streams.hpp"

#include <cerrno>
#include <fcntl.h>
#include <initializer_list>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

/// Whether `is_good` holds in a process that has closed some of its standard streams.
template <class Check>
bool holds_without(std::initializer_list<int> closed, Check is_good) {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int number : closed) ::close(number);
    tools::reserve_standard_streams();
    ::_exit(is_good() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status == 0;
}

bool fails_as_if_closed(int number) {
  char byte = 0;
  const bool reads = ::read(number, &byte, 1) >= 0 || errno != EBADF;
  const bool writes = ::write(number, &byte, 1) >= 0 || errno != EBADF;
  return !reads && !writes && (::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0;
}

}  // namespace

TEST_CASE("No file gets the number of a standard stream that is closed") {
  CHECK(holds_without({0, 1, 2}, [] {
    return ::open("/", O_RDONLY) > 2 && fails_as_if_closed(0) && fails_as_if_closed(1) &&
           fails_as_if_closed(2);
  }));
  CHECK(holds_without({1}, [] { return ::open("/", O_RDONLY) > 2 && fails_as_if_closed(1); }));
}

TEST_CASE("Standard streams that are there stay") {
  CHECK(holds_without({2}, [] { return (::fcntl(1, F_GETFD) & FD_CLOEXEC) == 0; }));
}
