// The Go reference as a process that runs as long as the fuzz target. The targets named go_* ask it
// about each input. `tests/conformance/peer` is the program; `CDI_PEER` is its path. Without it, it
// is `peer` beside the target.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"

namespace fuzz {

using Json = nlohmann::json;

/// A process that answers requests; see `runAnswers` in `peer/answers.go`.
class GoPeer {
 public:
  /// Starts the program; exits with 2 if that fails.
  explicit GoPeer(const std::string& program) {
    int to_peer[2];
    int from_peer[2];
    if (::access(program.c_str(), X_OK) != 0 || ::pipe(to_peer) != 0 || ::pipe(from_peer) != 0) {
      std::fprintf(stderr, "cannot start the Go reference: %s\n", program.c_str());
      std::exit(2);
    }
    if (::fork() == 0) {
      ::dup2(to_peer[0], 0);
      ::dup2(from_peer[1], 1);
      for (const int end : {to_peer[0], to_peer[1], from_peer[0], from_peer[1]}) ::close(end);
      ::execl(program.c_str(), "peer", "answers", nullptr);
      std::_Exit(127);
    }
    ::close(to_peer[0]);
    ::close(from_peer[1]);
    out_ = to_peer[1];
    in_ = from_peer[0];
  }
  GoPeer(const GoPeer&) = delete;
  GoPeer& operator=(const GoPeer&) = delete;

  /// The answer to a request: the name of a function, and its arguments.
  Json ask(const std::vector<std::string_view>& request) {
    std::string bytes = as_bytes(request.size());
    for (const auto text : request) bytes.append(as_bytes(text.size())).append(text);
    for (std::string_view rest = bytes; !rest.empty();) {
      rest.remove_prefix(moved([&] { return ::write(out_, rest.data(), rest.size()); }));
    }
    std::string line;
    while (!line.ends_with('\n')) {
      char part[4096];
      line.append(part, moved([&] { return ::read(in_, part, sizeof part); }));
    }
    return Json::parse(line);
  }

 private:
  static std::string as_bytes(std::size_t number) {
    const auto word = static_cast<std::uint32_t>(number);
    return {reinterpret_cast<const char*>(&word), sizeof word};
  }

  /// The bytes that a call moves. A timer of libFuzzer interrupts calls.
  template <class Call>
  static std::size_t moved(const Call& call) {
    auto size = call();
    while (size < 0 && errno == EINTR) size = call();
    require(size > 0, "the Go reference answers");
    return static_cast<std::size_t>(size);
  }

  int out_;
  int in_;
};

/// The peer, which the first call starts.
inline GoPeer& go_peer() {
  static GoPeer peer{[] {
    if (const char* program = std::getenv("CDI_PEER")) return std::string{program};
    char self[4096];
    const auto size = ::readlink("/proc/self/exe", self, sizeof self);
    const std::string path{self, size > 0 ? static_cast<std::size_t>(size) : 0};
    return path.substr(0, path.rfind('/') + 1) + "peer";
  }()};
  return peer;
}

/// Why the reference rejects an input; empty if it accepts it.
inline std::string fault_of(const Json& answer) {
  const auto& error = answer.at("error");
  return error.is_null() ? std::string{} : error.get<std::string>();
}

}  // namespace fuzz
