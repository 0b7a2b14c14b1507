// Calls in a child process that may hang, crash or write endlessly.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../examples/tools/shared/host/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../support/cache_tree.hpp"
#include "../../support/temp_tree.hpp"

namespace {

using namespace std::chrono_literals;
using tools::ask_child;

constexpr auto long_enough = 60s;  // only reached if the test fails

void answer(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(tools::child::answer_fd, text.data(), text.size());
    if (written <= 0) ::_exit(9);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
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

TEST_CASE("The parent gets what the child writes, and how the child ended") {
  const std::string text(100'000, 'x');  // more than a pipe holds
  const auto got = ask_child(long_enough, [&] { answer(text); });
  REQUIRE(got);
  CHECK(got->text == text);
  REQUIRE(got->status);
  CHECK(*got->status == 0);
  const auto failed = ask_child(long_enough, [] {
    answer("part");
    ::_exit(3);
  });
  REQUIRE(failed);
  CHECK(failed->text == "part");
  REQUIRE(failed->status);
  CHECK(WEXITSTATUS(*failed->status) == 3);
}

TEST_CASE("A child that crashes gives what it wrote before") {
  const auto got = ask_child(long_enough, [] {
    answer("before");
    ::raise(SIGSEGV);
  });
  REQUIRE(got);
  CHECK(got->text == "before");
  REQUIRE(got->status);
  CHECK(WIFSIGNALED(*got->status));
}

TEST_CASE("A child that does not answer in time is killed") {
  const auto got = ask_child(50ms, [] {
    for (;;) ::pause();
  });
  REQUIRE_FALSE(got);
  CHECK(got.error().code == cdi::Errc::timeout);
  CHECK(got.error().message == "no answer within 50 ms");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
  CHECK_FALSE(ask_child(0ms, [] { answer("late"); }));
}

TEST_CASE("A child that writes without end is killed") {
  const auto got = ask_child(long_enough, [] {
    const std::string block(65536, 'x');
    for (;;) answer(block);
  });
  REQUIRE_FALSE(got);
  CHECK(got.error().code == cdi::Errc::limit);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("A child has no files of its parent, and its output is not seen") {
  TempTree tree;
  tree.put("file", "text");
  const cdi::Descriptor file{::open((tree / "file").c_str(), O_RDONLY)};
  const cdi::Descriptor output{::open((tree / "out").c_str(), O_WRONLY | O_CREAT, 0600)};
  const int before = ::dup(STDOUT_FILENO);
  REQUIRE(::dup2(output.get(), STDOUT_FILENO) == STDOUT_FILENO);
  const auto got = ask_child(long_enough, [] {
    static_cast<void>(::write(STDOUT_FILENO, "noise", 5));
    int open = 0;
    for (int fd = 0; fd < 256; ++fd) open += ::fcntl(fd, F_GETFD) != -1 ? 1 : 0;
    answer(std::to_string(open));
  });
  REQUIRE(::dup2(before, STDOUT_FILENO) == STDOUT_FILENO);
  ::close(before);
  REQUIRE(got);
  CHECK(got->text == "4");  // input, output, errors and the answer
  CHECK(get_file(tree / "out").empty());
}

TEST_CASE("A child has no handlers and no blocked signals of its parent") {
  const Handler ignored{SIGTERM, SIG_IGN};
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto got = ask_child(long_enough, [] {
    ::raise(SIGTERM);
    answer("still there");
  });
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(got);
  CHECK(got->text.empty());
  REQUIRE(got->status);
  CHECK(WTERMSIG(*got->status) == SIGTERM);
}

TEST_CASE("Signals to the parent do not end its waiting") {
  const Handler handled{SIGUSR1, [](int) {
                        }};
  const auto parent = ::getpid();
  const auto got = ask_child(long_enough, [parent] {
    for (int i = 0; i < 1000; ++i) {
      ::kill(parent, SIGUSR1);
      answer("x");
    }
  });
  REQUIRE(got);
  CHECK(got->text.size() == 1000);
}

TEST_CASE("The status of a child is unknown if SIGCHLD is ignored") {
  const Handler ignored{SIGCHLD, SIG_IGN};
  const auto got = ask_child(long_enough, [] { answer("text"); });
  REQUIRE(got);
  CHECK(got->text == "text");
  CHECK_FALSE(got->status);
}

TEST_CASE("Without descriptors, no child is started") {
  const auto got = [] {
    const NoMoreFiles none;
    return ask_child(long_enough, [] { answer("text"); });
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
