// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/nvidia/root_changes.hpp>
#include <cdi/text/json.hpp>

TEST_CASE("Changes are written as JSON and read again") {
  const cdi::RootChanges changes{
      .links = {{"/usr/lib/libcuda.so", "libcuda.so.1"}},
      .modes = {{"/opt/x", 0}},
      .files = {{"/etc/x", "text\n"}},
      .cuda_compat = {{"/usr/local/cuda/compat", "570.1.2", ""}},
      .library_folders = {"/usr/lib"},
      .masked_params = true,
  };
  const auto text = cdi::write_json(changes, -1);
  REQUIRE(text);
  CHECK(*text ==
        R"({"links":[{"path":"/usr/lib/libcuda.so","target":"libcuda.so.1"}],)"
        R"("modes":[{"path":"/opt/x","mode":0}],"files":[{"path":"/etc/x","text":"text\n"}],)"
        R"("cudaCompat":[{"folder":"/usr/local/cuda/compat","hostDriverVersion":"570.1.2"}],)"
        R"("libraryFolders":["/usr/lib"],"maskedParams":true})");
  const auto read = cdi::read_json<cdi::RootChanges>(*text);
  REQUIRE(read);
  CHECK(*read == changes);
}

TEST_CASE("A change that is not known is refused") {
  const auto read = cdi::read_json<cdi::RootChanges>(R"({"links":[{"path":"/a"}]})");
  REQUIRE_FALSE(read);
  CHECK(read.error().where == "links[0].target");
  CHECK_FALSE(cdi::read_json<cdi::RootChanges>(R"({"removals":["/etc"]})"));
  CHECK(cdi::read_json<cdi::RootChanges>("{}"));
}

TEST_CASE("Changes are added once, and the later one of a path stays") {
  cdi::RootChanges all{.links = {{"/a", "1"}, {"/b", "1"}}, .library_folders = {"/l"}};
  const cdi::RootChanges some{.links = {{"/a", "2"}, {"/c", "3"}},
                              .modes = {{"/m", 0700}},
                              .files = {{"/f", "text"}},
                              .cuda_compat = {{"/compat", "1", "2"}},
                              .library_folders = {"/l", "/k"},
                              .masked_params = true};
  for (int round = 0; round < 2; ++round) {
    cdi::merge(all, some);
    CHECK(all.links == std::vector<cdi::RootLink>{{"/a", "2"}, {"/b", "1"}, {"/c", "3"}});
    CHECK(all.modes == some.modes);
    CHECK(all.files == some.files);
    CHECK(all.cuda_compat == some.cuda_compat);
    CHECK(all.library_folders == std::vector<std::string>{"/l", "/k"});
    CHECK(all.masked_params);
  }
}

TEST_CASE(
    "Of changes that are repeated within one list, the last stays in the place of the first") {
  cdi::RootChanges all{.links = {{"/b", "1"}, {"/a", "1"}, {"/b", "2"}},
                       .library_folders = {"/l", "/k", "/l"}};
  cdi::merge(all, {.links = {{"/c", "1"}, {"/a", "2"}, {"/c", "2"}, {"/a", "3"}},
                   .cuda_compat = {{"/x", "1", ""}, {"/x", "2", ""}, {"/x", "1", ""}}});
  CHECK(all.links == std::vector<cdi::RootLink>{{"/b", "2"}, {"/a", "3"}, {"/c", "2"}});
  CHECK(all.library_folders == std::vector<std::string>{"/l", "/k"});
  CHECK(all.cuda_compat == std::vector<cdi::CudaCompat>{{"/x", "1", ""}, {"/x", "2", ""}});
}
