// The static library: the bodies of the functions that headers only declare if CDI_COMPILED is
// defined. src/meson.build and packaging/cmake/targets.cmake build it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#define CDI_SOURCE

#include <cdi/annotations.hpp>
#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/file.hpp>
#include <cdi/host.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/json.hpp>
#include <cdi/nlohmann.hpp>
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

// Only programs include it.
#include <cdi/base/shell_word.hpp>
