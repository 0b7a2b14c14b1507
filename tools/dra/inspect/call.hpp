// Calls a driver as the kubelet does, to try it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_DRA_INSPECT_CALL_HPP
#define CDI_TOOLS_DRA_INSPECT_CALL_HPP

#include <string>
#include <string_view>

#include "../../gpu/base/json_output.hpp"
#include "../socket_names.hpp"

namespace dra {

/// The answer of a driver as JSON, in the form of the protocol.
struct CallAnswer {
  prepare::Json json{};
  bool is_good = true;  // no claim has an error
};

/// Prepares or unprepares the claims of a JSON file in one call. Only their names and UIDs are
/// sent.
cdi::Result<CallAnswer> call_driver(std::string_view what, const SocketNames& sockets,
                                    const std::string& driver, const std::string& file);

}  // namespace dra

#endif  // CDI_TOOLS_DRA_INSPECT_CALL_HPP
