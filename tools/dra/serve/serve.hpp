// `cdi-dra serve`: a driver on its node, until it is stopped.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cdi/result.hpp>

#include "../settings.hpp"

namespace dra {

/// Prepares the claims that the kubelet names, until a signal ends this process. Blocks the signals
/// SIGTERM, SIGINT and SIGHUP.
cdi::Result<void> serve(Settings settings);

}  // namespace dra
