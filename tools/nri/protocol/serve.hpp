// `nri::serve`: runs a plugin on the NRI socket of a runtime.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_PROTOCOL_SERVE_HPP
#define CDI_TOOLS_NRI_PROTOCOL_SERVE_HPP

#include <functional>
#include <string>
#include <sys/socket.h>

#include "plugin.hpp"

namespace nri {

/// The socket where runtimes expect plugins.
inline constexpr const char* default_socket = "/var/run/nri/nri.sock";

/// How a plugin reaches its runtime.
struct ServeOptions {
  std::string socket = default_socket;
  /// Called with the reason why there is no connection, once for each reason.
  std::function<void(const cdi::Error&)> disconnected{};
};

/// Takes name and index from the environment if the runtime has launched this process.
void use_launched_name(Plugin& plugin);

/// Runs a plugin. If the runtime has launched this process, returns when it closes the connection.
/// Otherwise connects again whenever the runtime goes away, after a pause of 50 ms that doubles up
/// to 1 s, and returns only if the plugin is refused or the socket cannot exist, with the error.
Result<void> serve(const Plugin& plugin, const ServeOptions& options = {});

}  // namespace nri

#endif  // CDI_TOOLS_NRI_PROTOCOL_SERVE_HPP
