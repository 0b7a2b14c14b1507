// The spec of a claim, with a device for each of its GPUs and partitions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../base/options.hpp"
#include "../cdi_specs/prepared_spec.hpp"
#include "../survey/survey.hpp"
#include "found_device.hpp"

namespace prepare {

/// The options that determine the content of a claim's spec. The journal stores them, so that later
/// calls with different options make the same spec.
std::map<std::string, std::string> kept_options(const Options& options);

/// The options with which a claim was prepared; without a version if it follows the installed
/// engines.
Options options_of(const Claim& claim, Options options);

/// The devices of a claim in their current state, in the same order. Fails if one cannot be handed
/// out.
cdi::Result<std::vector<FoundDevice>> find_again(const Survey& survey, const Claim& claim);

/// Why the spec of a claim does not match its current devices; nullopt if it does.
std::optional<std::string> fault_in(const cdi::Spec& spec, const Claim& claim,
                                    const std::vector<FoundDevice>& found);

/// The spec of a claim for the devices that `find_again` has found. Fails if one of them cannot be
/// included.
cdi::Result<PreparedSpec> claim_spec(const Survey& survey, const Claim& claim,
                                     const std::vector<FoundDevice>& found, const Options& options);

}  // namespace prepare
