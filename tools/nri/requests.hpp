// Reads the devices that the annotations of a pod request for a container.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <nri.pb.h>
#include <string>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/requests.hpp>

namespace nri {

/// The prefixes of annotations. Within a family, the first key that exists counts, in the order
/// `PREFIX/container.NAME`, `PREFIX/pod` and `PREFIX`, and for each the prefixes in this order. The
/// requests of all families are joined.
using AnnotationFamilies = std::vector<std::vector<std::string>>;

/// The prefixes of CDI, of NRI's device injector and of NVIDIA's plugin; then `more`.
AnnotationFamilies annotation_families(const std::vector<std::string>& more);

namespace detail {

/// The value as the comma-separated list that CDI defines; a YAML list is the form of NRI's device
/// injector.
cdi::Result<std::string> comma_list(const std::string& key, const std::string& value);

}  // namespace detail

/// The devices that a pod's annotations request for one of its containers, each once. Fails with
/// the key of an annotation that is not a list of qualified names.
cdi::Result<std::vector<cdi::RequestedDevice>> pod_requests(const PodSandbox& pod,
                                                            const Container& container,
                                                            const AnnotationFamilies& families);

/// The devices that the container itself requests, in the CRI's annotations `cdi.k8s.io/`. Leaves
/// out annotations that it inherited from its pod.
cdi::Result<std::vector<cdi::RequestedDevice>> container_requests(const PodSandbox& pod,
                                                                  const Container& container);

/// Whether an annotation is one of the families.
bool is_request(const std::string& key, const AnnotationFamilies& families);

}  // namespace nri
