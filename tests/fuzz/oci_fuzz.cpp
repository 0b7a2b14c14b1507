// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

// An OCI spec that the model reads is the same after it is written and read again; edits have the
// same result in the model and in a JSON document.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <cdi/apply.hpp>
#include <cdi/json.hpp>
#include <cdi/oci/editor.hpp>
#include <cdi/oci/json_editor.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/spec.hpp>

#include "fuzz.hpp"

namespace {

using Json = nlohmann::json;  // for comparison in any order of members
using Ordered = nlohmann::ordered_json;

cdi::Result<cdi::HostNode> no_host(std::string_view) {
  return cdi::Error{.code = cdi::Errc::host, .message = "not available"};
}

/// Edits of every kind, with keys that the texts of the corpus also have.
cdi::ContainerEdits edits() {
  return {
      .env = {"A=1", "B=2"},
      .device_nodes = {{.path = "/dev/d", .type = "c", .major = 5, .file_mode = 0600}},
      .net_devices = {{.host_interface_name = "e", .name = "n"}},
      .hooks = {{.hook_name = "poststop", .path = "/h", .args = {"h"}, .timeout = 1}},
      .mounts = {{.host_path = "/h", .container_path = "/c/", .options = {"rbind"}},
                 {.host_path = "/h", .container_path = "/"}},
      .intel_rdt = cdi::IntelRdt{.clos_id = "c"},
      .additional_gids = {7, 8},
  };
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  const auto read = cdi::read_json<cdi::oci::Spec>(text, "f");
  if (!fuzz::is_read(read, text)) return 0;
  const auto written = cdi::write_json(*read);
  fuzz::require(static_cast<bool>(written), "what was read can be written",
                fuzz::fault_of(written));
  const auto again = cdi::read_json<cdi::oci::Spec>(*written);
  fuzz::require(again && *again == *read, "what is written reads back", *written);

  auto model = *read;
  auto json = Ordered::parse(*written, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return 0;  // a number is too large for nlohmann
  const auto in_model = cdi::apply(edits(), model, no_host);
  const auto in_json = cdi::apply(edits(), json, no_host);
  fuzz::require(static_cast<bool>(in_model) == static_cast<bool>(in_json),
                "edits fail in both or in neither",
                fuzz::fault_of(in_model) + "\n" + fuzz::fault_of(in_json));
  if (!in_model) return 0;
  const auto from_model = cdi::to_json_value<Json>(model);
  fuzz::require(from_model == Json::parse(json.dump()), "edits have the same result in both",
                json.dump() + "\n" + from_model.dump());
  return 0;
}
