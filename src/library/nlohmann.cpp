// The editors of nlohmann_json's documents.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"
// After it.
#include <cdi/nlohmann.hpp>

// Before the bodies.
#include "bodies.hpp"

#include <cdi/nlohmann/editor.inl>
