// The core and JSON in a program without exceptions and RTTI.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "use_core.hpp"

int main() {
  return use_core() ? 0 : 1;
}
