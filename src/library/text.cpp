// Results and models; JSON and YAML, and the editors of JSON text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "declarations.hpp"

// Before the bodies.
#include "bodies.hpp"

#include <cdi/base/order.inl>
#include <cdi/base/path.inl>
#include <cdi/base/result.inl>
#include <cdi/base/shell_word.inl>
#include <cdi/model/any_value.inl>
#include <cdi/model/copy_as.inl>
#include <cdi/model/spec_version.inl>
#include <cdi/model/type.inl>
#include <cdi/targets/config_json.inl>
#include <cdi/targets/json_patch.inl>
#include <cdi/text/document.inl>
#include <cdi/text/json.inl>
#include <cdi/text/json_layout.inl>
#include <cdi/text/line_index.inl>
#include <cdi/text/member_case.inl>
#include <cdi/text/parse_json.inl>
#include <cdi/text/read.inl>
#include <cdi/text/write.inl>
#include <cdi/text/yaml/parse_yaml.inl>
#include <cdi/text/yaml/yaml.inl>
