// `requests` and `visible`: the devices that containerd, CRI-O and the Kata agent inject.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_REQUESTS_HPP
#define CDI_TOOLS_POD_REQUESTS_HPP

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/annotations.hpp>
#include <cdi/name.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/requests.hpp>

#include "answer.hpp"
#include "input.hpp"

// Other prefixes: NVIDIA's runtime reads the prefixes in its option annotation-prefixes, and NRI
// plugins read cdi-devices.nri.io/container.NAME or nvidia.cdi.k8s.io/container.NAME.

namespace pod {

/// The options of `requests`.
struct RequestsOptions {
  std::string runtime = "containerd";
  std::vector<std::string> prefixes{};  // of annotations, in addition to cdi.k8s.io/
  bool cdi = true;
  bool origins = false;
};

namespace detail {

/// The annotations in an object; all values must be strings.
inline std::map<std::string, std::string> annotations_at(const Member& object,
                                                         std::string_view key) {
  std::map<std::string, std::string> out;
  const auto found = object.find(key);
  if (!found) return out;
  for (const auto& [name, value] : found->members()) out[name] = value.text();
  return out;
}

/// Whether a value is a nonempty list of qualified device names.
inline bool is_list_of_devices(const std::string& value) {
  const auto parsed =
      cdi::parse_annotations(std::map<std::string, std::string>{{"key", value}}, "");
  return parsed && !parsed->devices.empty();
}

/// Whether an ignored annotation looks like a request for devices: with another prefix of CDI or
/// NRI plugins, or with a misspelt prefix before device names.
inline bool looks_like_request(const std::string& key, const std::string& value) {
  constexpr std::string_view usual = "cdi.k8s.io";
  constexpr std::size_t max_wrong_letters = 2;
  const auto prefix = std::string_view{key}.substr(0, key.find('/'));
  if (prefix.ends_with(".cdi.k8s.io") || prefix.starts_with("cdi-devices.")) return true;
  return cdi::detail::edit_distance(prefix, usual, max_wrong_letters) <= max_wrong_letters &&
         is_list_of_devices(value);
}

/// The annotations that a runtime reads, with warnings about others that look like requests.
inline std::map<std::string, std::string> read_annotations(
    const std::map<std::string, std::string>& all, const RequestsOptions& options, Answer& answer) {
  std::map<std::string, std::string> read;
  for (const auto& [key, value] : all) {
    bool is_read = key.starts_with(cdi::annotation_prefix);
    for (const auto& prefix : options.prefixes) is_read = is_read || key.starts_with(prefix);
    if (is_read) {
      read[key] = value;
    } else if (looks_like_request(key, value)) {
      answer.warnings.push_back(
          "annotation " + cdi::quoted(key) + " looks like a request, but " + options.runtime +
          " reads only keys that begin with cdi.k8s.io/; if another runtime "
          "or an NRI plugin reads this annotation, pass its prefix with --prefix");
    }
  }
  return read;
}

inline std::string origin_text(const cdi::RequestedDevice& device) {
  return device.origin == cdi::RequestOrigin::field ? "cri" : "annotation " + device.key;
}

/// `enable_cdi = false`: containerd 2.2 rejects the field, and ignores annotations.
inline Answer without_cdi(const std::vector<std::string>& field) {
  if (field.empty()) {
    return {.value = {{"devices", Json::array()}},
            .warnings = {"CDI is off: containerd ignores annotations silently"}};
  }
  throw Rejection{"CDI is off, but cri[0] requests " + cdi::quoted(field.front()) +
                  ": containerd 2.2 rejects the container, older versions ignore the field; set "
                  "enable_cdi = true"};
}

}  // namespace detail

/// The device names that a runtime injects, in order. containerd and CRI-O visit annotations in
/// random order; here they are sorted by key.
inline Answer answer_requests(const Member& input, const RequestsOptions& options) {
  input.allow({"cri", "annotations"});
  const auto cri = input.find("cri");
  const auto field = cri ? cri->texts() : std::vector<std::string>{};
  const auto annotations = detail::annotations_at(input, "annotations");
  const bool crio = options.runtime == "crio";
  if (!options.cdi && crio) throw Rejection{"--cdi off: CRI-O has no switch for CDI"};
  if (!options.cdi) return detail::without_cdi(field);
  Answer answer{.value = {{"devices", Json::array()}}};
  cdi::Requests requests{crio ? cdi::RequestRules::cri_o : cdi::RequestRules::containerd};
  requests.add_field(field);
  const auto read = detail::read_annotations(annotations, options, answer);
  if (auto done = requests.add_annotations(read, ""); !done) throw Rejection{done.error()};
  for (const auto& device : requests.devices()) {
    answer.value["devices"].push_back(device.name);
    if (options.origins) answer.value["origins"].push_back(detail::origin_text(device));
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (cdi::parse_name(field[i])) continue;
    answer.warnings.push_back("cri[" + std::to_string(i) + "]: the injection will fail: " +
                              to_string(cdi::qualified_name_error(field[i])));
  }
  return answer;
}

/// The devices that a `VISIBLE_CDI_DEVICES` value selects.
inline Answer answer_visible(std::string_view value) {
  return {.value = {{"devices", value_or_throw(cdi::parse_selector(value))}}};
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_REQUESTS_HPP
