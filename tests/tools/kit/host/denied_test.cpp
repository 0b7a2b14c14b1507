// The error of a writer that may not write to its directory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../../tools/kit/host/denied.hpp"

#include <cerrno>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../../support/temp_tree.hpp"

using tools::with_access;
using tools::with_denied_advice;

namespace {

const cdi::Error denied{.message = "denied", .system = EACCES};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the next directory that exists is described") {
  const TempTree place;
  const auto error = with_access(denied, place / "none/none");
  CHECK(says(error.message, "denied in \"" + place.path() + "\": mode 0700, owner "));
  CHECK(says(with_access(denied, "none/none").message, " in \".\": mode 0"));
  CHECK(says(with_access(denied, "/none/none").message, " in \"/\": mode 0"));
}

TEST_CASE("other errors stay") {
  const cdi::Error other{.message = "gone", .system = ENOENT};
  CHECK(with_access(other, "/").message == "gone");
  CHECK(with_denied_advice(other, "-d").advice.empty());
}

TEST_CASE("only who is not root is told to be root") {
  if (::geteuid() == 0) CHECK(with_denied_advice(denied, "-d").advice.empty());
  const UnprivilegedUser unprivileged;
  if (!unprivileged) return;
  CHECK(says(with_denied_advice(denied, "--here").advice, "--here"));
  auto advised = denied;
  advised.advice = "ask";
  CHECK(with_denied_advice(advised, "--here").advice == "ask");
}
