// What a publisher reports of a file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <cdi/publish/publication.hpp>

namespace {

using Action = cdi::Publication::Action;

}  // namespace

TEST_CASE("An action has a name, for logs") {
  static_assert(to_string(Action::created) == "created");
  const std::pair<Action, std::string_view> names[] = {{Action::created, "created"},
                                                       {Action::replaced, "replaced"},
                                                       {Action::unchanged, "unchanged"},
                                                       {Action::removed, "removed"},
                                                       {Action::absent, "absent"}};
  for (const auto& [action, name] : names) CHECK(to_string(action) == name);
}

TEST_CASE("Two reports are equal if they are about the same file and the same action") {
  const cdi::Publication report{"/etc/cdi/v.yaml", Action::created};
  CHECK(report == cdi::Publication{"/etc/cdi/v.yaml", Action::created});
  CHECK(report != cdi::Publication{"/etc/cdi/w.yaml", Action::created});
  CHECK(report != cdi::Publication{"/etc/cdi/v.yaml", Action::replaced});
}
