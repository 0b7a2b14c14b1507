// Calls a driver as the kubelet does, to try it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "../socket_names.hpp"
#include "results.hpp"

namespace dra {

/// Prepares or unprepares the claims of a JSON file in one call. Only their names and UIDs are
/// sent.
cdi::Result<CallResult> call_driver(std::string_view what, const SocketNames& sockets,
                                    const std::string& driver, const std::string& file);

}  // namespace dra
