// The effects of edits, plans, and policies.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/apply/device_nodes.inl>
#include <cdi/apply/host.inl>
#include <cdi/apply/host_options.inl>
#include <cdi/apply/joined_edits.inl>
#include <cdi/apply/list_edits.inl>
#include <cdi/apply/list_merge.inl>
#include <cdi/plan/change.inl>
#include <cdi/plan/change_origin.inl>
#include <cdi/plan/entry_text.inl>
#include <cdi/plan/list_changes.inl>
#include <cdi/plan/plan.inl>
#include <cdi/policy/decision.inl>
#include <cdi/policy/policy.inl>
#include <cdi/targets/oci_editor.inl>
