// The result of `doctor` as a static HTML page.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_DOCTOR_PAGE_HPP
#define CDI_TOOLS_PREPARE_DOCTOR_PAGE_HPP

#include <string>

#include "../../gpu/base/json_output.hpp"

// The page has no script, needs no other file, and can be read without its style.

namespace prepare {

/// A page for a support case, made from the record that `-o json` prints.
std::string diagnosis_page(const Json& record);

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_DOCTOR_PAGE_HPP
