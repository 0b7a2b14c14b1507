// Waits for a fixed time, or while a program may still be writing a file.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_PATIENCE_HPP
#define CDI_FILES_PATIENCE_HPP

#include <cerrno>
#include <chrono>
#include <ctime>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Waits at least this long, despite signals. Including <thread> would be expensive.
inline void sleep_for(std::chrono::nanoseconds time) {
  using Seconds = std::chrono::duration<time_t>;
  using Rest = std::chrono::duration<long, std::nano>;
  if (time.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<Seconds>(time);
  timespec left{.tv_sec = seconds.count(),
                .tv_nsec = std::chrono::duration_cast<Rest>(time - seconds).count()};
  while (::nanosleep(&left, &left) == -1 && errno == EINTR) continue;
}

/// Waits briefly while a program may still be writing a file. Returns false when no time is left.
struct Patience {
  explicit Patience(std::chrono::milliseconds most)
      : end{std::chrono::steady_clock::now() + (most < longest ? most : longest)} {}

  bool operator()() const {
    constexpr std::chrono::milliseconds step{2};
    if (std::chrono::steady_clock::now() + step > end) return false;
    detail::sleep_for(step);
    return true;
  }

  static constexpr std::chrono::milliseconds longest{std::chrono::hours{1}};
  std::chrono::steady_clock::time_point end;
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_PATIENCE_HPP
