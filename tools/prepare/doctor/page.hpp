// The result of `doctor` as a static HTML page.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include "../results.hpp"

// The page has no script, needs no other file, and can be read without its style.

namespace prepare {

/// A page for a support case.
std::string diagnosis_page(const DoctorResult& result);

}  // namespace prepare
