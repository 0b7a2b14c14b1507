// Reads the devices that the annotations of a pod request for a container.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "requests.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <cdi/yaml.hpp>

#include "../kit/base/text.hpp"

namespace nri {

namespace {

/// The annotation of a family that applies to a container; nothing if there is none.
std::optional<std::pair<std::string, std::string>> annotation_for(
    const PodSandbox& pod, const std::string& container, const std::vector<std::string>& family) {
  for (const auto& form : {"/container." + container, std::string{"/pod"}, std::string{}}) {
    for (const auto& prefix : family) {
      const auto found = pod.annotations().find(prefix + form);
      if (found != pod.annotations().end()) return std::pair{found->first, found->second};
    }
  }
  return std::nullopt;
}

/// A comma-separated list without blanks around its items.
std::string without_blanks(std::string_view list) {
  std::string out;
  while (true) {
    const auto comma = std::min(list.find(','), list.size());
    out += tools::trim(list.substr(0, comma));
    if (comma == list.size()) return out;
    out += ',';
    list.remove_prefix(comma + 1);
  }
}

/// The error about a value that is not a list of names.
cdi::Error no_list(const std::string& why, const cdi::Position& position) {
  return {.code = cdi::Errc::schema,
          .message = why,
          .advice = "write names such as vendor.com/class=device, with commas or as a YAML list",
          .position = position};
}

/// Fails for more names than any container needs: Kubernetes allows 256 KiB of annotations, and
/// other containers wait for the answer.
cdi::Result<void> check_count(const std::string& key, std::string_view list) {
  constexpr std::ptrdiff_t most = 1000;
  if (std::count(list.begin(), list.end(), ',') < most) return {};
  return cdi::Error{.code = cdi::Errc::limit,
                    .message = "annotation " + cdi::quoted(key) + " has more than " +
                               std::to_string(most) + " device names",
                    .advice = "request a device that stands for all, such as vendor.com/class=all"};
}

}  // namespace

AnnotationFamilies annotation_families(const std::vector<std::string>& more) {
  AnnotationFamilies families{{"cdi.k8s.io"},
                              {"cdi-devices.noderesource.dev", "cdi-devices.nri.io"},
                              {"nvidia.cdi.k8s.io"}};
  for (auto prefix : more) {
    while (prefix.ends_with('/')) prefix.pop_back();
    families.push_back({std::move(prefix)});
  }
  return families;
}

cdi::Result<std::vector<cdi::RequestedDevice>> pod_requests(const PodSandbox& pod,
                                                            const Container& container,
                                                            const AnnotationFamilies& families) {
  cdi::Requests requests{cdi::RequestRules::each_once};
  for (const auto& family : families) {
    const auto found = annotation_for(pod, container.name(), family);
    if (!found) continue;
    const auto list = detail::comma_list(found->first, found->second);
    if (!list) return list.error();
    if (list->empty()) continue;
    if (auto done = check_count(found->first, *list); !done) return done.error();
    const std::map<std::string, std::string> annotation{{found->first, *list}};
    if (auto done = requests.add_annotations(annotation, ""); !done) return done.error();
  }
  return std::move(requests).devices();
}

cdi::Result<std::vector<cdi::RequestedDevice>> container_requests(const PodSandbox& pod,
                                                                  const Container& container) {
  std::map<std::string, std::string> own;
  for (const auto& [key, value] : container.annotations()) {
    const auto of_pod = pod.annotations().find(key);
    if (of_pod == pod.annotations().end() || of_pod->second != value) own.emplace(key, value);
  }
  cdi::Requests requests{cdi::RequestRules::each_once};
  if (auto done = requests.add_annotations(own); !done) return done.error();
  return std::move(requests).devices();
}

bool is_request(const std::string& key, const AnnotationFamilies& families) {
  for (const auto& family : families) {
    for (const auto& prefix : family) {
      if (key == prefix || key.starts_with(prefix + "/")) return true;
    }
  }
  return false;
}

}  // namespace nri

namespace nri::detail {

cdi::Result<std::string> comma_list(const std::string& key, const std::string& value) {
  const auto text = tools::trim(value);
  if (text.empty()) return std::string{};
  // Names do not begin like a list, a mark or a comment.
  constexpr std::string_view begins_yaml = "[-#";
  if (begins_yaml.find(text.front()) == std::string_view::npos) return without_blanks(text);
  const auto document = cdi::parse_yaml(value, "annotation " + key);
  if (!document) return document.error();
  if (const auto rest = document->rest()) return no_list("text follows the list", *rest);
  const auto root = document->root();
  if (root.kind() != cdi::Document::Kind::list) {
    return no_list("the value is not a list", root.position());
  }
  std::string list;
  for (const auto item : root.items()) {
    if (!item.is_scalar()) {
      return no_list("this is not a device name", item.position());
    }
    list.append(list.empty() ? "" : ",").append(item.text());
  }
  return list;
}

}  // namespace nri::detail
