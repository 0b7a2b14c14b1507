// The grammar of `VISIBLE_CDI_DEVICES`, the environment variable of the Kata agent.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REQUESTS_SELECTOR_HPP
#define CDI_REQUESTS_SELECTOR_HPP

#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The environment variable with which a container in a Kata guest requests devices.
inline constexpr std::string_view visible_devices_variable = "VISIBLE_CDI_DEVICES";

/// Returns the qualified names that a selector such as `nvidia.com/gpu=all : nvidia.com/ib=0, 1`
/// selects, in order: three in this example. A colon separates entries. An entry consists of a
/// kind, `=`, and either `all` or indices separated by commas; blanks around these parts are
/// ignored. The index `+07` selects the device `7`. Empty text, `none` and `void` select nothing.
/// `all` is the name of a device, as vendors define it.
///
/// `Errc::invalid_name` reports a missing or invalid kind; `Errc::invalid` reports a device that is
/// neither `all` nor an index below 2^32, or `all` next to indices.
Result<std::vector<std::string>> parse_selector(std::string_view text);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/requests/selector.inl>
#endif

#endif  // CDI_REQUESTS_SELECTOR_HPP
