// Programs that may hang, crash or write endlessly.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../../support/cache_tree.hpp"
#include "../../../support/temp_tree.hpp"

namespace {

using namespace std::chrono_literals;
constexpr auto long_enough = 60s;  // only reached if the test fails

/// What a shell script prints.
cdi::Result<tools::ProgramAnswer> ask(std::string script,
                                      std::chrono::milliseconds deadline = long_enough) {
  return tools::ask_program(deadline,
                            {.path = "/bin/sh", .arguments = {"sh", "-c", std::move(script)}});
}

/// Sets the handler of a signal for its lifetime.
class Handler {
 public:
  Handler(int number, void (*handler)(int)) : number_{number} {
    struct sigaction action = {};
    action.sa_handler = handler;  // without SA_RESTART
    REQUIRE(::sigaction(number, &action, &before_) == 0);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  ~Handler() { ::sigaction(number_, &before_, nullptr); }

 private:
  int number_;
  struct sigaction before_ = {};
};

}  // namespace

TEST_CASE("The output of a program, and how it ended") {
  const auto got = ask("head -c 100000 /dev/zero");  // more than a pipe holds
  REQUIRE(got);
  CHECK(got->text == std::string(100'000, '\0'));
  REQUIRE(got->status);
  CHECK(*got->status == 0);
  const auto failed = ask("printf part; exit 3");
  REQUIRE(failed);
  CHECK(failed->text == "part");
  REQUIRE(failed->status);
  CHECK(WEXITSTATUS(*failed->status) == 3);
}

TEST_CASE("A program gets its arguments and its environment") {
  std::string variable = "GIVEN=one";
  char* const environment[] = {variable.data(), nullptr};
  const auto got = tools::ask_program(
      long_enough, {.path = "/bin/sh",
                    .arguments = {"name", "-c", "echo $0 $1 $GIVEN", "with a", "space"},
                    .environment = &environment[0]});
  REQUIRE(got);
  CHECK(got->text == "with a space one\n");
}

TEST_CASE("A program that cannot be executed is an error that says why") {
  const TempTree tree;
  const auto got = tools::ask_program(long_enough, {.path = tree / "none", .arguments = {"none"}});
  REQUIRE_FALSE(got);
  CHECK(got.error().code == cdi::Errc::host);
  CHECK(got.error().system == ENOENT);
  CHECK(got.error().message == "the program cannot be executed: No such file or directory");
  const auto folder = tools::ask_program(long_enough, {.path = tree / "", .arguments = {"none"}});
  REQUIRE_FALSE(folder);
  CHECK(folder.error().system == EACCES);
}

TEST_CASE("A program may exit as if it could not be executed") {
  for (const std::string text : {"", "why", "why\n", "no way"}) {
    const auto got = ask("printf '" + text + "'; exit 126");
    REQUIRE(got);
    CHECK(got->text == text);
    CHECK(WEXITSTATUS(*got->status) == 126);
  }
}

TEST_CASE("A program that crashes gives what it wrote before") {
  const auto got = ask("printf before; kill -SEGV $$");
  REQUIRE(got);
  CHECK(got->text == "before");
  REQUIRE(got->status);
  CHECK(WIFSIGNALED(*got->status));
}

TEST_CASE("A program that does not answer in time is killed") {
  const auto got = ask("exec sleep 3600", 50ms);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == cdi::Errc::timeout);
  CHECK(got.error().message == "no answer within 50 ms");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
  CHECK_FALSE(ask("echo late", 0ms));
}

TEST_CASE("A program that writes without end is killed") {
  const auto got = ask("exec cat /dev/zero");
  REQUIRE_FALSE(got);
  CHECK(got.error().code == cdi::Errc::limit);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("A program has no files of its parent, and its standard error is not seen") {
  TempTree tree;
  tree.put("file", "text");
  const int file = ::open((tree / "file").c_str(), O_RDONLY);  // inherited by other programs
  const cdi::Descriptor errors{::open((tree / "errors").c_str(), O_WRONLY | O_CREAT, 0600)};
  const int before = ::dup(STDERR_FILENO);
  REQUIRE(::dup2(errors.get(), STDERR_FILENO) == STDERR_FILENO);
  const auto got =
      ask("echo noise >&2; i=0; while [ $i -lt 100 ]; do [ -e /proc/$$/fd/$i ] && echo $i; "
          "i=$((i + 1)); done");
  REQUIRE(::dup2(before, STDERR_FILENO) == STDERR_FILENO);
  ::close(before);
  ::close(file);
  REQUIRE(got);
  CHECK(got->text == "0\n1\n2\n");
  CHECK(get_file(tree / "errors").empty());
}

TEST_CASE("A program is asked by a process without standard files") {
  std::fflush(stdout);
  for (int first = 0; first < 3; ++first) {
    const auto parent = ::fork();
    if (parent == 0) {
      for (int fd = first; fd < 3; ++fd) ::close(fd);
      const auto got = ask("echo noise >&2; echo answer");
      ::_exit(got && got->text == "answer\n" ? 0 : 1);
    }
    int status = -1;
    CHECK(::waitpid(parent, &status, 0) == parent);
    CHECK(status == 0);
  }
}

TEST_CASE("A program has no ignored and no blocked signals of its parent") {
  const Handler ignored{SIGTERM, SIG_IGN};
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto got = ask("kill -TERM $$; echo still there");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(got);
  CHECK(got->text.empty());
  REQUIRE(got->status);
  CHECK(WTERMSIG(*got->status) == SIGTERM);
}

TEST_CASE("Signals to the parent do not end its waiting") {
  const Handler handled{SIGUSR1, [](int) {
                        }};
  const auto got = ask("for i in 0 1 2 3 4 5 6 7 8 9; do kill -USR1 $PPID; printf x; done");
  REQUIRE(got);
  CHECK(got->text.size() == 10);
}

TEST_CASE("The status of a program is unknown if SIGCHLD is ignored") {
  const Handler ignored{SIGCHLD, SIG_IGN};
  const auto got = ask("printf text");
  REQUIRE(got);
  CHECK(got->text == "text");
  CHECK_FALSE(got->status);
}

TEST_CASE("Without descriptors, no program is started") {
  const auto got = [] {
    const NoMoreFiles none;
    return ask("printf text");
  }();
  REQUIRE_FALSE(got);
  CHECK(got.error().system == EMFILE);
  CHECK(got.error().message.starts_with("cannot make a pipe: "));
}

TEST_CASE("A pipe that cannot be read is an error") {
  const auto text = tools::child::read_pipe(-1, 50ms);
  CHECK_FALSE(text);
  TempTree tree;
  const cdi::Descriptor only_written{::open((tree / "f").c_str(), O_WRONLY | O_CREAT, 0600)};
  const auto failed = tools::child::read_pipe(only_written.get(), 50ms);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().system == EBADF);
  CHECK(failed.error().message.starts_with("cannot read the answer: "));
}
