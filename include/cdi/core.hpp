// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// Everything that needs no third-party header and nothing to link: models, rules, engine, registry.

#ifndef CDI_CORE_HPP
#define CDI_CORE_HPP

// IWYU pragma: begin_exports
#include <cdi/annotation_key.hpp>
#include <cdi/annotations.hpp>
#include <cdi/apply.hpp>
#include <cdi/convert.hpp>
#include <cdi/document.hpp>
#include <cdi/engine_releases.hpp>
#include <cdi/fields.hpp>
#include <cdi/fwd.hpp>
#include <cdi/host.hpp>
#include <cdi/lower.hpp>
#include <cdi/member_path.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/oci/editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/path.hpp>
#include <cdi/read.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/rules.hpp>
#include <cdi/spec.hpp>
#include <cdi/storage.hpp>
#include <cdi/type.hpp>
#include <cdi/unresolved.hpp>
#include <cdi/validate.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>
#include <cdi/write.hpp>
// IWYU pragma: end_exports

#ifdef CDI_SOURCE
#include <cdi/impl/core.hpp>
#endif

#endif  // CDI_CORE_HPP
