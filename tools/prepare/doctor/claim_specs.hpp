// Checks of claims: journals and specs.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <vector>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/survey/survey.hpp"

// Nothing is locked: a cdi-prepare call may run at the same time.

namespace prepare::doctor {

/// Checks the claims in the journal in `state_dir`, and in the journals recorded in specs.
void check_claims(const Survey& survey, const std::string& state_dir,
                  const std::vector<std::string>& dirs, Findings& findings);

}  // namespace prepare::doctor
