// Spec files and directories, the registry, requests, and the publisher.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/claims/claim.inl>
#include <cdi/claims/claim_directory.inl>
#include <cdi/claims/claim_journal.inl>
#include <cdi/claims/claim_json.inl>
#include <cdi/claims/claim_specs.inl>
#include <cdi/claims/claims.inl>
#include <cdi/dirs/cache.inl>
#include <cdi/dirs/inject_json.inl>
#include <cdi/dirs/scan.inl>
#include <cdi/dirs/watch.inl>
#include <cdi/dirs/watched_paths.inl>
#include <cdi/files/descriptor.inl>
#include <cdi/files/file.inl>
#include <cdi/files/make_registry.inl>
#include <cdi/files/replace_file.inl>
#include <cdi/files/signature.inl>
#include <cdi/files/spec_errors.inl>
#include <cdi/files/spec_text.inl>
#include <cdi/files/temporary.inl>
#include <cdi/publish/publish.inl>
#include <cdi/registry/device_index.inl>
#include <cdi/registry/joined_texts.inl>
#include <cdi/registry/loaded_spec.inl>
#include <cdi/registry/registry.inl>
#include <cdi/registry/unresolved.inl>
#include <cdi/requests/annotations.inl>
#include <cdi/requests/config_requests.inl>
#include <cdi/requests/requests.inl>
