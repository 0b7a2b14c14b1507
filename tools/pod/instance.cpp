// `instance` and `slices`: the instance types of a cloud, one that fits the VM of a peer pod, and
// ResourceSlices in which they are the devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace pod {

namespace {

/// The best fit, with a warning if the two searches differ.
std::string best_fit(const InstanceTypes& types, const InstanceType& request, bool compatible,
                     Answer& answer) {
  const auto right = types.smallest(request, request.gpus > 0);
  const auto upstream = types.searched(request);
  const auto& chosen = compatible ? upstream : right;
  if (chosen.empty()) {
    types.place.reject("no type fits " + request.text() +
                       (right.empty() ? "" : " in the binary search, which misses " + right));
  }
  if (right != upstream) {
    answer.warn("cloud-api-adaptor's binary search finds {}; the first type that fits is {}",
                upstream.empty() ? "no type" : upstream, right);
  }
  return chosen;
}

/// The type with devices that cloud-api-adaptor does not count.
std::string fit_for_devices(const InstanceTypes& types, const InstanceType& request,
                            Answer& answer) {
  auto chosen = types.smallest(request, true);
  if (chosen.empty()) types.place.reject("no type fits " + request.text());
  answer.warn("cloud-api-adaptor counts only NVIDIA GPUs: name the type in the annotation {}",
              instance_annotation);
  return chosen;
}

/// Checks that the provider allows the chosen type: `validTypes`, or by default all of `types`. An
/// empty list allows only the default.
void check_valid(const GivenTypes& given, const std::string& chosen, const Place& root) {
  std::vector<std::string> valid;
  if (given.valid_types) {
    valid = *given.valid_types;
  } else {
    for (const auto& type : given.types) valid.push_back(type.name);
  }
  if (valid.empty() ? chosen == given.fallback
                    : std::find(valid.begin(), valid.end(), chosen) != valid.end()) {
    return;
  }
  root.at(given.valid_types ? "validTypes" : "types")
      .reject(fmt::format("does not contain the chosen type {}{}", cdi::quoted(chosen),
                          valid.empty() ? ", and an empty list allows only the default" : ""));
}

/// A C identifier for a resource, such as `amd_com_gpu`: the name of an attribute.
std::string attribute_name(std::string_view resource) {
  constexpr std::size_t max_name = 32;
  std::string name;
  for (const char c : resource) {
    const char lower = cdi::detail::ascii_lower(c);
    const bool digit = c >= '0' && c <= '9';
    if (digit && name.empty()) name.push_back('_');
    name.push_back(digit || (lower >= 'a' && lower <= 'z') ? c : '_');
  }
  return name.substr(0, max_name);
}

/// The device that stands for an instance type.
kubernetes::SliceDevice instance_device(const InstanceType& type, const Place& place) {
  constexpr std::size_t max_label = 63;       // of a DNS label; a text may have 64
  constexpr std::size_t max_attributes = 32;  // of a device
  kubernetes::SliceDevice out{.name = instance_label(type.name),
                              .attributes = {{"instanceType", {.text = type.name}},
                                             {"vcpus", {.number = type.vcpus}},
                                             {"memoryMiB", {.number = type.memory_mib}},
                                             {"gpus", {.number = type.gpus}}},
                              .is_shared = true};
  const auto& label = out.name;
  const auto name = cdi::quoted(type.name);
  if (label.size() > max_label || label.starts_with('-') || label.ends_with('-')) {
    place.reject(name + " cannot be made a DNS label of at most 63 characters");
  }
  if (type.devices.size() > max_attributes - out.attributes.size()) {
    place.reject(name + " has more than the 32 attributes of a device");
  }
  for (const auto& [resource, count] : type.devices) {
    const auto attribute = attribute_name(resource);
    if (!out.attributes.try_emplace(attribute, kubernetes::SliceAttribute{.number = count})
             .second) {
      place.reject(fmt::format("{} of {} needs the attribute {}, which the device already has",
                               cdi::quoted(resource), name, attribute));
    }
  }
  return out;
}

}  // namespace

bool InstanceType::fits(const InstanceType& request) const {
  for (const auto& [resource, count] : request.devices) {
    const auto found = devices.find(resource);
    if (count > (found == devices.end() ? 0 : found->second)) return false;
  }
  return gpus >= request.gpus && vcpus >= request.vcpus && memory_mib >= request.memory_mib;
}

std::string InstanceType::text() const {
  auto out = fmt::format("{} GPUs, ", gpus);
  for (const auto& [resource, count] : devices) out += fmt::format("{} {}, ", count, resource);
  return fmt::format("{}{} vCPUs and {} MiB", out, vcpus, memory_mib);
}

std::vector<InstanceType> InstanceTypes::sorted(bool with_gpus, bool by_devices) const {
  std::vector<InstanceType> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name.empty()) place.item(i).at("name").reject("must not be empty");
    if (with_gpus || list[i].gpus == 0) out.push_back(list[i]);
  }
  const auto key = [&](const InstanceType& type) {
    std::uint64_t devices = 0;
    for (const auto& one : type.devices) devices += by_devices ? one.second : 0;
    return std::tuple{type.gpus, devices, type.memory_mib, type.vcpus};
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return out;
}

std::string InstanceTypes::smallest(const InstanceType& request, bool with_gpus) const {
  for (const auto& type : sorted(with_gpus, true)) {
    if (type.fits(request)) return type.name;
  }
  return {};
}

std::string InstanceTypes::searched(const InstanceType& request) const {
  const auto types = sorted(request.gpus > 0, false);
  const auto found = std::partition_point(types.begin(), types.end(),
                                          [&](const auto& type) { return !type.fits(request); });
  return found == types.end() ? std::string{} : found->name;
}

Answer answer_instance(const cdi::Document& input, bool compatible) {
  auto given = read_as<GivenTypes>(input);
  const Place root{&input, {}};
  if (!given.request) root.at("request").reject("is missing");
  const InstanceTypes types{given.types, root.at("types")};
  InstanceType& request = *given.request;
  std::erase_if(request.devices, [](const auto& device) { return device.second == 0; });
  Answer answer;
  if (!request.name.empty()) {
    answer.instance = request.name;
    answer.rule = "machineType";
  } else if (!request.devices.empty()) {
    answer.instance = fit_for_devices(types, request, answer);
    answer.rule = "devices";
  } else if (request.gpus > 0 || (request.vcpus != 0 && request.memory_mib != 0)) {
    answer.instance = best_fit(types, request, compatible, answer);
    answer.rule = request.gpus > 0 ? "gpus" : "vcpus and memory";
  } else if (given.fallback.empty()) {
    root.at("request").reject(
        "needs GPUs, or both vcpus and memoryMiB, because there is no default");
  } else {
    answer.instance = given.fallback;
    answer.rule = "default";
    return answer;
  }
  check_valid(given, answer.instance, root);
  return answer;
}

std::string instance_label(std::string_view type) {
  std::string label;
  for (const char c : type) {
    const char lower = cdi::detail::ascii_lower(c);
    const bool good = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    label.push_back(good ? lower : '-');
  }
  return label;
}

InstanceSlices answer_slices(const cdi::Document& input, const SlicesOptions& options) {
  constexpr std::size_t max_devices = 128;  // of a slice
  const InstanceTypes types{read_as<GivenTypes>(input).types, {&input, "types"}};
  if (types.list.empty()) types.place.reject("must contain at least one type");
  const kubernetes::SlicePool pool{.name = options.pool,
                                   .generation = options.generation,
                                   .count = (types.list.size() - 1) / max_devices + 1};
  std::map<std::string, std::string> labels;
  InstanceSlices out;
  for (const auto& type : types.sorted(true, true)) {
    auto device = instance_device(type, types.place);
    const auto [other, is_new] = labels.emplace(device.name, type.name);
    if (!is_new) {
      types.place.reject(fmt::format("{} and {} would have the same name as devices, {}",
                                     cdi::quoted(type.name), cdi::quoted(other->second),
                                     other->first));
    }
    if (out.items.empty() || out.items.back().spec.devices->size() == max_devices) {
      auto name = fmt::format("{}-{}", pool.name, out.items.size());
      out.items.push_back({.metadata = {.name = std::move(name)},
                           .spec = {.driver = std::string{instance_driver},
                                    .pool = pool,
                                    .all_nodes = true,
                                    .devices = std::vector<kubernetes::SliceDevice>{}}});
    }
    out.items.back().spec.devices->push_back(std::move(device));
  }
  return out;
}

}  // namespace pod
