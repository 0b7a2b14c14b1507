// Everything an NRI plugin needs: fill `nri::Plugin`, and pass it to `nri::serve`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_NRI_PROTOCOL_NRI_HPP
#define CDI_TOOLS_NRI_PROTOCOL_NRI_HPP

// IWYU pragma: begin_exports
#include "plugin.hpp"
#include "serve.hpp"
// IWYU pragma: end_exports

#endif  // CDI_TOOLS_NRI_PROTOCOL_NRI_HPP
