// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/nvidia/container_outline.hpp>

TEST_CASE("The innermost mount counts, and of two at one place the later") {
  const cdi::SortedOutline mounted{{.mounts = {{"/", "bind"},
                                               {"/a", "1"},
                                               {"/a/b/c", "2"},
                                               {"/a/b-c", "3"},
                                               {"a//b/c/", "4"},
                                               {"/dev", "tmpfs"}},
                                    .nodes = {{"/dev//a/b", "c", 1}}}};
  const auto type_over = [&](std::string_view path) {
    const auto* const mount = mounted.mount_over(path);
    return mount == nullptr ? std::string{} : mount->type;
  };
  CHECK(type_over("/a/b/c/d") == "4");
  CHECK(type_over("/a/b/c") == "4");
  CHECK(type_over("/a/b/cd") == "1");
  CHECK(type_over("/a/b") == "1");
  CHECK(type_over("/a/b-c") == "3");
  CHECK(type_over("/ab").empty());
  CHECK(type_over("/b").empty());
  CHECK(mounted.has_node("/dev/a/b"));
  CHECK_FALSE(mounted.has_node("/dev/a"));
  CHECK(mounted.has_node_below("/dev/a"));
  CHECK_FALSE(mounted.has_node_below("/dev/a/b"));
  CHECK_FALSE(mounted.has_node_below("/de"));
}

TEST_CASE("The numbers of the GPUs are those of NVIDIA's nodes") {
  const cdi::SortedOutline gpus{{.nodes = {{"/dev/nvidia3", "c", 3},
                                           {"/dev//nvidia4", "c", 5},
                                           {"/dev/nvidia7", "b", 7},
                                           {"/dev/nvidia64", "c", 64},
                                           {"/dev/nvidia8", "c", 64},
                                           {"/dev/nvidia9", "c", -1},
                                           {"/dev/nvidiactl", "c", 255}}}};
  CHECK(gpus.gpu_minors() == (1U << 3 | 1U << 5));
  CHECK(cdi::SortedOutline{{}}.gpu_minors() == 0);
}

TEST_CASE("The environment is known or not, and a variable ends at the first =") {
  const cdi::SortedOutline unknown{{}};
  CHECK_FALSE(unknown.has_variable("A").has_value());
  const cdi::SortedOutline known{{.environment = {{"B=A=1", "AB=", "C", "=D"}}}};
  for (const auto* name : {"B", "AB", "C", ""}) {
    CAPTURE(name);
    CHECK(known.has_variable(name) == std::optional{true});
  }
  for (const auto* name : {"A", "D", "B=A", "c"}) {
    CAPTURE(name);
    CHECK(known.has_variable(name) == std::optional{false});
  }
}
