// `requests` and `visible`: the devices that containerd, CRI-O and the Kata agent gather.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_POD_REQUESTS_HPP
#define CDI_POD_REQUESTS_HPP

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/name.hpp>
#include <cdi/requests.hpp>

#include "answer.hpp"
#include "input.hpp"

namespace pod {

/// What the command line of `requests` sets.
struct RequestsOptions {
  std::string runtime = "containerd";
  bool cdi = true;
  bool origins = false;
};

namespace detail {

/// The annotations of an object; all must be strings.
inline std::map<std::string, std::string> annotations_at(const Member& object,
                                                         std::string_view key) {
  std::map<std::string, std::string> out;
  const auto found = object.find(key);
  if (!found) return out;
  for (const auto& [name, value] : found->members()) out[name] = value.text();
  return out;
}

inline std::string origin_text(const cdi::RequestedDevice& device) {
  switch (device.origin) {
    case cdi::RequestOrigin::field: return "cri";
    case cdi::RequestOrigin::annotation: return "annotation " + device.key;
    case cdi::RequestOrigin::variable: return "variable " + device.key;
    case cdi::RequestOrigin::command_line: break;
  }
  return "command line";
}

/// `enable_cdi = false`: containerd 2.2 refuses the field, and ignores annotations.
inline Answer without_cdi(const std::vector<std::string>& field) {
  if (field.empty()) {
    return {.value = {{"devices", Json::array()}},
            .warnings = {"CDI is off: containerd ignores annotations silently"}};
  }
  throw Refusal{
      "CDI is off, and cri[0] asks for " + cdi::quoted(field.front()) +
      ": containerd 2.2 refuses the container, older ones ignore the field; set enable_cdi = true"};
}

}  // namespace detail

/// The names that a runtime gives to its injection, in order. containerd and CRI-O visit
/// annotations in random order; here it is the order of keys.
inline Answer answer_requests(const Member& input, const RequestsOptions& options) {
  input.allow({"cri", "annotations"});
  const auto cri = input.find("cri");
  const auto field = cri ? cri->texts() : std::vector<std::string>{};
  const auto annotations = detail::annotations_at(input, "annotations");
  const bool crio = options.runtime == "crio";
  if (!options.cdi && crio) throw Refusal{"--cdi off: CRI-O has no switch for CDI"};
  if (!options.cdi) return detail::without_cdi(field);
  cdi::Requests requests{crio ? cdi::RequestRules::cri_o : cdi::RequestRules::containerd};
  requests.add_field(field);
  if (auto done = requests.add_annotations(annotations); !done) throw Refusal{done.error()};
  Answer answer{.value = {{"devices", Json::array()}}};
  for (const auto& device : requests.devices()) {
    answer.value["devices"].push_back(device.name);
    if (options.origins) answer.value["origins"].push_back(detail::origin_text(device));
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (cdi::parse_name(field[i])) continue;
    answer.warnings.push_back("cri[" + std::to_string(i) + "]: the injection will fail: " +
                              cdi::qualified_name_error(field[i]).message);
  }
  return answer;
}

/// The devices that a value of `VISIBLE_CDI_DEVICES` names.
inline Answer answer_visible(std::string_view value) {
  return {.value = {{"devices", value_or_throw(cdi::parse_selector(value))}}};
}

}  // namespace pod

#endif  // CDI_POD_REQUESTS_HPP
