// Everything that needs no third-party header: models, rules, `apply` and registry.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CORE_HPP
#define CDI_CORE_HPP

// IWYU pragma: begin_exports
#include <cdi/apply/apply.hpp>
#include <cdi/apply/editor_parts.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/fwd.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/copy_as.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/targets/oci_editor.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/write.hpp>
#include <cdi/version.hpp>
// IWYU pragma: end_exports

#ifdef CDI_SOURCE
#include <cdi/text/models.hpp>
#endif

#endif  // CDI_CORE_HPP
