// An OCI spec that the model reads is the same after it is written and read again; edits have the
// same result in the model, in a JSON document and in the text.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <cdi/apply.hpp>
#include <cdi/config_json.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/oci.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/spec.hpp>
#include <cdi/text/parse_json.hpp>

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

/// Whatever the text is, edits of it and of a document give the same, or fail in both.
void compare_with_text(std::string_view text) {
  cdi::ConfigJson config{std::string{text}};
  auto document = Ordered::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !cdi::parse_json(text)) return;
  const auto in_text = cdi::apply(edits(), config, no_host);
  const auto in_document = cdi::apply(edits(), document, no_host);
  fuzz::require(in_text.has_value() == in_document.has_value(),
                "edits fail in the text and the document, or in neither",
                fuzz::fault_of(in_text) + "\n" + fuzz::fault_of(in_document));
  if (!in_text) return fuzz::require(config.text == text, "the text is unchanged", config.text);
  fuzz::require(Ordered::parse(config.text) == document, "edits have the same result in the text",
                config.text + "\n" + document.dump());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  compare_with_text(text);
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
