// The limits of objects of the Kubernetes API.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>

#include <cdi/text/limits.hpp>

namespace dra {

/// Limits for an object of the API and for the slices of a node. A larger text is not such an
/// object, and could use all the driver's memory. The API server stores at most 1.5 MiB for an
/// object. The slices of 4096 devices have 104,000 values.
inline constexpr cdi::Limits api_limits{.bytes = std::size_t{4} << 20, .values = 200'000};

}  // namespace dra
