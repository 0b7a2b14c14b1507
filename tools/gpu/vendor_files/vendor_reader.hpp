// Reads vendor files, and checks what they say.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>

#include "vendor_file.hpp"

namespace prepare {

/// Reads the text of a vendor file; `path` is for messages.
cdi::Result<VendorFile> parse_vendor_file(std::string_view text, const std::string& path);

}  // namespace prepare
