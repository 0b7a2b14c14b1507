// Pseudo-random numbers, the same in each run, for tests against naive models.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint32_t seed) : state_{seed} {}

  /// A number from 0 to `end - 1`.
  std::uint32_t below(std::uint32_t end) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % end;
  }

 private:
  std::uint32_t state_;
};
