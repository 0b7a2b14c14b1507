// The text of a config, a JSON document and the model ask for the same devices; each has a valid
// name, and is named once where the rules say so.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/config_json.hpp>
#include <cdi/json.hpp>
#include <cdi/name.hpp>
#include <cdi/oci/spec.hpp>
#include <cdi/requests.hpp>
#include <cdi/text/parse_json.hpp>

#include "fuzz.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Gathered = cdi::Result<std::vector<cdi::RequestedDevice>>;

void require_same(const Gathered& a, const Gathered& b, std::string_view property) {
  fuzz::require(a.has_value() == b.has_value() && (!a || *a == *b), property,
                fuzz::fault_of(a) + "\n" + fuzz::fault_of(b));
}

void check_devices(const std::vector<cdi::RequestedDevice>& devices, cdi::RequestRules rules) {
  std::set<std::string> names;
  for (const auto& device : devices) {
    const bool once = names.insert(device.name).second;
    fuzz::require(once || rules == cdi::RequestRules::cri_o, "names are not repeated", device.name);
    fuzz::require(cdi::parse_name(device.name).has_value(), "a name is valid", device.name);
    const bool has_key = device.origin == cdi::RequestOrigin::variable
                             ? device.key == cdi::visible_devices_variable
                             : device.key.starts_with(cdi::annotation_prefix);
    fuzz::require(has_key, "a device has its origin", device.key);
  }
}

void check(std::string_view text, cdi::RequestRules rules) {
  const cdi::RequestOptions options{.rules = rules, .variable = cdi::visible_devices_variable};
  const auto in_text = cdi::gather_requests(cdi::ConfigJson{.text = std::string{text}}, options);
  if (fuzz::is_read(in_text, text)) check_devices(*in_text, rules);
  if (!cdi::parse_json(text)) return;
  const auto document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return;  // a number is too large for nlohmann
  require_same(in_text, cdi::gather_requests(document, options), "a document asks for the same");
  if (!in_text && in_text.error().code == cdi::Errc::schema) return;  // a member in another case
  if (const auto model = cdi::read_json<cdi::oci::Spec>(text)) {
    require_same(in_text, cdi::gather_requests(*model, options), "the model asks for the same");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  for (const auto rules :
       {cdi::RequestRules::each_once, cdi::RequestRules::containerd, cdi::RequestRules::cri_o}) {
    check(text, rules);
  }
  return 0;
}
