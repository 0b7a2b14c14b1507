// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <cdi/rules/root_changes.hpp>
#include <cdi/text/json_text.hpp>

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
