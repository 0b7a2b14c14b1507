// `cdi-dra serve`: a driver on its node, until it is stopped.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_SERVE_SERVE_HPP
#define CDI_TOOLS_DRA_SERVE_SERVE_HPP

#include <cdi/result.hpp>

#include "../settings.hpp"

namespace dra {

/// Prepares the claims that the kubelet names, until a signal ends this process. Blocks the signals
/// SIGTERM, SIGINT and SIGHUP.
cdi::Result<void> serve(Settings settings);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_SERVE_SERVE_HPP
