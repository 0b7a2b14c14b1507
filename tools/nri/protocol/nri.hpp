// Everything an NRI plugin needs: fill `nri::Plugin`, and pass it to `nri::serve`.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

// IWYU pragma: begin_exports
#include "plugin.hpp"
#include "serve.hpp"
// IWYU pragma: end_exports
