// Reads a kubeconfig: the API server and the user of its current context.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "api_access.hpp"

namespace dra {

/// Reads the text of a kubeconfig; `file` is its path. Fails with the place of the fault, and for
/// authentication by other programs.
cdi::Result<ApiAccess> parse_kubeconfig(std::string_view text, std::string_view file);

cdi::Result<ApiAccess> read_kubeconfig(const std::string& path);

}  // namespace dra
