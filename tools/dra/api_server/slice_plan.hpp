// Plans the changes that bring the published ResourceSlices up to date.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api_error.hpp"

// The scheduler uses only the newest generation of a pool, and only if all its slices are there. So
// a single slice can change alone. If several change, all get a new generation, and no device is
// known until the last new slice is written.

namespace dra {

/// A slice in the API server. Its spec is as in v1.
struct ExistingSlice {
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  ApiJson owners{};  // null if it has none
  ApiJson spec{};    // an object

  ApiJson pool() const { return spec.value("pool", ApiJson::object()); }
  std::string pool_name() const { return text_in(pool(), "name"); }
  std::int64_t generation() const { return number("generation"); }
  std::int64_t count() const { return number("resourceSliceCount"); }

 private:
  /// A number of the pool; 0 if the next number would not be valid, which no driver causes.
  std::int64_t number(const char* key) const;
};

/// A change of one slice.
struct SliceChange {
  enum class Action : std::uint8_t { create, update, remove };

  Action action{};
  ExistingSlice slice{};  // its spec is the new one; only the spec if it is created

  friend bool operator==(const SliceChange& a, const SliceChange& b) {
    return a.action == b.action && a.slice.name == b.slice.name && a.slice.spec == b.slice.spec;
  }
};

/// The ordered changes from the slices of a driver on a node to the desired ones. The specs in
/// `desired` belong to one pool. Slices of other pools and superfluous slices are removed last.
std::vector<SliceChange> plan_slices(const std::vector<ApiJson>& desired,
                                     const std::vector<ExistingSlice>& existing);

/// The pool's generation after a plan; 0 if no slice changes.
std::int64_t generation_of(const std::vector<SliceChange>& changes);

}  // namespace dra
