// Reads and writes the `cdi.k8s.io/...` annotations of Kubernetes device plugins.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_ANNOTATIONS_HPP
#define CDI_ANNOTATIONS_HPP

#include <cdi/requests/annotations.hpp>  // IWYU pragma: export

#endif  // CDI_ANNOTATIONS_HPP
