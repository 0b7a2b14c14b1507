// `Quantity`: amounts of resources as Kubernetes writes them, such as `500m`, `1.5Gi` and `1e3`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

// Grammar, rounding and limits follow resource.Quantity in Kubernetes 1.34
// (k8s.io/apimachinery/pkg/api/resource/quantity.go). Here, a negative amount is an error, and so
// are two texts that Kubernetes accepts: an amount above 2^63 - 1, which it clamps or lets
// overflow, and a text without digits, such as `Gi`, which it reads as 0.

namespace pod {

/// A nonnegative amount in billionths, the precision of Kubernetes.
struct Quantity {
  std::int64_t whole = 0;
  std::uint32_t nano = 0;  ///< below 10^9

  friend auto operator<=>(const Quantity&, const Quantity&) = default;
};

inline constexpr std::int64_t max_units = std::numeric_limits<std::int64_t>::max();

/// The sum; nullopt if it is larger than 2^63 - 1.
std::optional<Quantity> sum(const Quantity& a, const Quantity& b);

/// The amount in whole units, rounded up, like `Value()` in Kubernetes.
std::int64_t units(const Quantity& amount);

/// The amount in thousandths, rounded up, like `MilliValue()` in Kubernetes; nullopt if it is
/// larger than 2^63 - 1.
std::optional<std::int64_t> thousandths(const Quantity& amount);

/// The amount in MiB, rounded up.
std::int64_t mebibytes(const Quantity& amount);

/// A number of units as Kubernetes prints it in its decimal format: `4`, `2k`.
std::string decimal_text(std::int64_t units);

/// Parses an amount. `Errc::invalid` for other text, for a negative amount, and for an amount above
/// 2^63 - 1.
cdi::Result<Quantity> parse_quantity(std::string_view text);

}  // namespace pod
