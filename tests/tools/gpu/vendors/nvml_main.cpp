// The main function of the tests that ask NVML. It begins as in each program that asks NVML.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "../../../../tools/gpu/vendors/nvml_library.hpp"

int main(int argc, char** argv) {
  prepare::answer_nvml(argc, argv);
  return doctest::Context{argc, argv}.run();
}
