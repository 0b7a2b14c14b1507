// Declares all functions of the library. Each part includes it first; the bodies follow bodies.hpp.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_COMPILED  // CMake passes it to the library and its users
#define CDI_COMPILED
#endif

#include <cdi/annotations.hpp>
#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/file.hpp>
#include <cdi/host.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/json.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/publish.hpp>
#include <cdi/requests.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/scan.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/versions.hpp>
#include <cdi/watch.hpp>
#include <cdi/yaml.hpp>

// Headers that only bodies include, and that have bodies in another part.
#include <cdi/base/order.hpp>
#include <cdi/base/shell_word.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/rules/prefixes.hpp>
#include <cdi/sandbox/cuda_compat.hpp>
#include <cdi/sandbox/elf_library.hpp>
#include <cdi/sandbox/hook_changes.hpp>
#include <cdi/sandbox/image_root.hpp>
#include <cdi/sandbox/linker_cache.hpp>
