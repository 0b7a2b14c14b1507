// Whether a value can be written, for the tests of sinks.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cdi/base/result.hpp>
#include <cdi/text/write.hpp>

/// Whether all texts and numbers of a value can be read again.
template <class T>
cdi::Result<void> check_writable(const T& value) {
  cdi::detail::WriteCheck check;
  cdi::write(value, check);
  return check.result;
}
