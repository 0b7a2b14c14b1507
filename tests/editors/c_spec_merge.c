/* examples/editors/c_spec_merge.h, compiled as C.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
/* clang-format off */
#include <cdi/cdi.h>

#include "../../examples/editors/c_spec.h"
#include "../../examples/editors/c_spec_merge.h"
/* clang-format on */

int merge_for_test(runtime_spec_schema_config_schema* spec, const cdi_edits* edits);
void remove_for_test(char** items, size_t* length, size_t at);

int merge_for_test(runtime_spec_schema_config_schema* spec, const cdi_edits* edits) {
  return c_spec_merge(spec, edits);
}

void remove_for_test(char** items, size_t* length, size_t at) {
  MERGE_REMOVE(items, *length, at);
}
