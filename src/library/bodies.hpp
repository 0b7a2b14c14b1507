// From here on, headers define what they only declared before.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#define CDI_SOURCE
#undef CDI_BODIES
#define CDI_BODIES 1
