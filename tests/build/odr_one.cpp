// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "use_all.hpp"

bool other_object_uses_all();
std::array<const void*, 4> places_in_other_object();

int main() {
  return use_all() && other_object_uses_all() && shared_places() == places_in_other_object() ? 0
                                                                                             : 1;
}
