// Tests for include/cdi/rules/mount_options.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/rules/mount_options.hpp>

namespace {

using Options = std::vector<std::string_view>;

}  // namespace

TEST_CASE("A mount is a bind mount by its options, or if its type is not a file system") {
  struct {
    std::vector<std::string> options;
    std::string type;
    bool has_bind, is_bind_mount;
  } const rows[] = {
      {{}, "", false, true},
      {{"ro"}, "none", false, true},
      {{}, "bind", false, true},
      {{}, "rbind", false, true},
      {{"ro", "binding"}, "tmpfs", false, false},
      {{"ro", "rbind"}, "tmpfs", true, true},  // runc ignores the type
      {{"bind"}, "", true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.type);
    const cdi::Mount mount{.options = row.options, .type = row.type};
    CHECK(cdi::detail::has_bind(mount.options) == row.has_bind);
    CHECK(cdi::detail::is_bind_mount(mount) == row.is_bind_mount);
  }
}

TEST_CASE("The last of ro and rw decides, and rro and rrw decide over both") {
  struct {
    Options options;
    bool read_only, may_be_writable;
  } const rows[] = {
      {{}, false, true},
      {{"bind", "nosuid"}, false, true},
      {{"bind", "ro"}, true, false},
      {{"ro", "rw"}, false, true},
      {{"rw", "ro"}, true, false},
      {{"ro", "rw", "ro"}, true, false},
      {{"rro"}, true, true},  // old runtimes ignore it
      {{"rro", "rw"}, true, true},
      {{"ro", "rro"}, true, false},
      {{"rrw"}, false, true},
      {{"rrw", "ro"}, false, true},
      {{"rro", "rrw"}, false, true},
      {{"ro", "rrw", "rro"}, true, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.options);
    CHECK(cdi::detail::is_read_only(row.options) == row.read_only);
    CHECK(cdi::detail::may_be_writable(row.options) == row.may_be_writable);
  }
}
