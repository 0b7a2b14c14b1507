// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "use_all.hpp"

bool other_object_uses_all();
std::array<const void*, 4> places_in_other_object();

bool other_object_uses_all() {
  return use_all();
}
std::array<const void*, 4> places_in_other_object() {
  return shared_places();
}
