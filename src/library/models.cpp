// The instances of templates over the models: tables of their types, readers, copies.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/text/models.hpp>
