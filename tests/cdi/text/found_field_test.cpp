// Tests for include/cdi/text/found_field.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/text/found_field.hpp>

using cdi::detail::find_field;

namespace {

const cdi::detail::Type& mount = cdi::detail::table_of<cdi::Mount>();

std::string_view key_of(const cdi::detail::FoundField& found) {
  return found.index == mount.field_count ? "none" : mount.fields[found.index].key;
}

}  // namespace

TEST_CASE("A field is found in any case, wherever the search begins") {
  for (std::size_t next = 0; next <= mount.field_count; ++next) {
    CHECK(key_of(find_field(mount, "hostPath", next)) == "hostPath");
    CHECK(find_field(mount, "hostPath", next).same_case);
    CHECK(key_of(find_field(mount, "HOSTPATH", next)) == "hostPath");
    CHECK_FALSE(find_field(mount, "HOSTPATH", next).same_case);
    CHECK(key_of(find_field(mount, "ho\xC5\xBFtPath", next)) == "hostPath");  // U+017F
    CHECK(key_of(find_field(mount, "hostPat", next)) == "none");
    CHECK(key_of(find_field(mount, "", next)) == "none");
  }
}

TEST_CASE("The names of fields are listed for messages") {
  CHECK(cdi::detail::name_fields(mount) == "hostPath, containerPath, options, type");
}

TEST_CASE("A key that is not ASCII is a field only if it reads like one") {
  CHECK(key_of(find_field(mount, "h\xC3\xB6stPath")) == "none");
  CHECK(key_of(find_field(mount, "\xC5\xBF")) == "none");
}

TEST_CASE("Fields that the current version lacks are not offered") {
  CHECK(cdi::detail::name_fields(cdi::detail::table_of<cdi::IntelRdt>()) ==
        "closID, l3CacheSchema, memBwSchema, schemata, enableMonitoring");
}
