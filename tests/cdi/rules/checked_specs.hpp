// A valid spec, and what `validate` says of others, for the tests of rules.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <doctest/doctest.h>

#include <cdi/model/spec.hpp>
#include <cdi/rules/validate.hpp>

inline cdi::Spec whole_spec() {
  return {.version = "1.1.0",
          .kind = "vendor.com/gpu",
          .devices = {{.name = "0", .container_edits = {.env = {"A=1"}}}}};
}

/// `where: message` of what is wrong; empty when nothing is.
template <class T>
std::string fault(const T& value) {
  const auto good = cdi::validate(value);
  if (good) return "";
  CHECK((good.error().code == cdi::Errc::invalid || good.error().code == cdi::Errc::invalid_name));
  return to_string(good.error());
}

inline cdi::ContainerEdits& edits_of(cdi::Spec& spec) {
  return spec.container_edits;
}
