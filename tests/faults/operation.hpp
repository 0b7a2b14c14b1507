// An operation of the library whose allocations out_of_memory_test.cpp lets fail.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "world.hpp"

using Prepare = void (*)(World& world);

/// An operation, and what it leaves when memory runs out.
struct Operation {
  enum class Leaves {
    all_as_before,
    before_or_after,  // some files are as before, the others as after
    valid_objects,    // some members of an object may have changed
    as_killed,        // what the next call finishes or undoes, as after a kill
  };

  std::string_view name;
  std::string (*call)(World& world);  // returns the result as text
  Leaves leaves = Leaves::all_as_before;
  Prepare prepare = [](World&) {
  };  // before the call; no allocation fails
};

inline constexpr auto as_before = Operation::Leaves::all_as_before;
inline constexpr auto in_files = Operation::Leaves::before_or_after;
inline constexpr auto in_objects = Operation::Leaves::valid_objects;
inline constexpr auto as_killed = Operation::Leaves::as_killed;

using W = World&;

// The call of an operation with the result of an expression, which may use the world `w`.
#define CDI_CALL(...)                                \
  [](World& w) {                                     \
    return static_cast<void>(w), shown(__VA_ARGS__); \
  }
