// `instance`: the cloud instance type that fits the VM of a peer pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_INSTANCE_HPP
#define CDI_TOOLS_POD_INSTANCE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"
#include "kata_annotations.hpp"

// cloud-api-adaptor fbdde75, src/cloud-providers/util.go.

namespace pod {

namespace detail {

inline constexpr std::int64_t max_device_count = 1'000'000;  // of one resource, in sums

/// An instance type, or a request for one.
struct InstanceType {
  std::string name{};
  std::int64_t gpus = 0;
  std::int64_t vcpus = 0;
  std::int64_t memory_mib = 0;
  std::map<std::string, std::int64_t> devices{};  // other than NVIDIA GPUs, by resource name
};

/// The number of all devices in a map.
inline std::int64_t device_count(const InstanceType& type) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : type.devices) sum += std::min(count, max_device_count);
  return sum;
}

inline bool has_devices(const InstanceType& type, const InstanceType& request) {
  for (const auto& [name, count] : request.devices) {
    const auto found = type.devices.find(name);
    if (found == type.devices.end() || found->second < count) return false;
  }
  return true;
}

inline bool fits(const InstanceType& type, const InstanceType& request) {
  return type.gpus >= request.gpus && type.vcpus >= request.vcpus &&
         type.memory_mib >= request.memory_mib && has_devices(type, request);
}

inline InstanceType read_amounts(const Member& member, std::string name) {
  InstanceType out{std::move(name), count_at(member, "gpus"), count_at(member, "vcpus"),
                   count_at(member, "memoryMiB")};
  if (const auto devices = member.find("devices")) {
    for (const auto& [resource, count] : devices->members()) out.devices[resource] = count.count();
  }
  return out;
}

/// The types, if not `with_gpus` without those that have GPUs, as in FilterOutGPUInstances.
inline std::vector<InstanceType> read_types(const Member& list, bool with_gpus) {
  std::vector<InstanceType> types;
  for (const auto& item : list.items()) {
    const auto name = item.at("name");
    auto type = read_amounts(item, name.text());
    if (type.name.empty()) name.reject("must not be empty");
    if (with_gpus || type.gpus == 0) types.push_back(std::move(type));
  }
  return types;
}

/// Sorts by GPUs, memory and vCPUs, as cloud-api-adaptor does; `by_devices` after GPUs by others.
inline void sort_types(std::vector<InstanceType>& types, bool by_devices) {
  const auto key = [&](const InstanceType& type) {
    return std::tuple{type.gpus, by_devices ? device_count(type) : 0, type.memory_mib, type.vcpus};
  };
  std::stable_sort(types.begin(), types.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

/// The types of `read_types`, sorted by GPUs, other devices, memory and vCPUs.
inline std::vector<InstanceType> smallest_first(const Member& list, bool with_gpus) {
  auto types = read_types(list, with_gpus);
  sort_types(types, true);
  return types;
}

/// The first type that fits.
inline std::string first_fit(const std::vector<InstanceType>& types, const InstanceType& request) {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const auto& type) { return fits(type, request); });
  return found == types.end() ? std::string{} : found->name;
}

/// The result of cloud-api-adaptor's binary search, Go's sort.Search, in its own order. The vCPUs
/// are not sorted in this order, so the search misses types.
inline std::string binary_fit(std::vector<InstanceType> types, const InstanceType& request) {
  sort_types(types, false);
  std::size_t begin = 0;
  for (std::size_t end = types.size(); begin < end;) {
    const auto middle = begin + (end - begin) / 2;
    if (fits(types[middle], request)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin == types.size() ? std::string{} : types[begin].name;
}

inline std::string amounts_text(const InstanceType& request) {
  auto text = std::to_string(request.gpus) + " GPUs, ";
  for (const auto& [name, count] : request.devices) {
    text += std::to_string(count) + " " + name + ", ";
  }
  return text + std::to_string(request.vcpus) + " vCPUs and " + std::to_string(request.memory_mib) +
         " MiB";
}

/// The best fit, with a warning if the two searches differ.
inline std::string best_fit(const Member& types_list, const InstanceType& request, bool compatible,
                            Answer& answer) {
  const auto right = first_fit(smallest_first(types_list, request.gpus > 0), request);
  const auto upstream = binary_fit(read_types(types_list, request.gpus > 0), request);
  const auto& chosen = compatible ? upstream : right;
  const auto named = [](const std::string& name) {
    return name.empty() ? "no type" : name;
  };
  if (chosen.empty()) {
    types_list.reject("no type fits " + amounts_text(request) +
                      (right.empty() ? "" : " in the binary search, which misses " + right));
  }
  if (right != upstream) {
    answer.warnings.push_back("cloud-api-adaptor's binary search finds " + named(upstream) +
                              "; the first type that fits is " + right);
  }
  return chosen;
}

/// Checks that the provider allows the chosen type: `validTypes`, or by default all of `types`. An
/// empty list allows only the default.
inline void check_valid(const Member& input, const std::string& chosen,
                        const std::string& fallback) {
  std::vector<std::string> valid;
  const auto list = input.find("validTypes");
  if (list) {
    valid = list->texts();
  } else {
    for (const auto& item : input.at("types").items()) valid.push_back(item.at("name").text());
  }
  const bool allowed = valid.empty() ? chosen == fallback
                                     : std::find(valid.begin(), valid.end(), chosen) != valid.end();
  if (allowed) return;
  (list ? *list : input.at("types"))
      .reject("does not contain the chosen type " + cdi::quoted(chosen) +
              (valid.empty() ? ", and an empty list allows only the default" : ""));
}

/// The type with devices that cloud-api-adaptor does not count.
inline std::string fit_for_devices(const Member& types, const InstanceType& request,
                                   Answer& answer) {
  auto chosen = first_fit(smallest_first(types, true), request);
  if (chosen.empty()) types.reject("no type fits " + amounts_text(request));
  answer.warnings.push_back(
      "cloud-api-adaptor counts only NVIDIA GPUs: name the type in the "
      "annotation " +
      std::string{instance_annotation});
  return chosen;
}

/// A type, and the rule that decided.
struct ChosenInstance {
  std::string name{};
  std::string_view rule{};
};

inline ChosenInstance choose_instance(const Member& input, const InstanceType& request,
                                      const std::string& fallback, bool compatible,
                                      Answer& answer) {
  const auto types = input.at("types");
  if (!request.devices.empty()) return {fit_for_devices(types, request, answer), "devices"};
  if (request.gpus > 0) return {best_fit(types, request, compatible, answer), "gpus"};
  if (request.vcpus != 0 && request.memory_mib != 0) {
    return {best_fit(types, request, compatible, answer), "vcpus and memory"};
  }
  if (fallback.empty()) {
    input.at("request").reject(
        "needs GPUs, or both vcpus and memoryMiB, because there is no default");
  }
  return {fallback, "default"};
}

}  // namespace detail

/// The instance type for a request, and the rule that decided: first the annotation, then devices
/// other than NVIDIA GPUs, which only this rule counts, then GPUs, then vCPUs together with memory,
/// then the default.
inline Answer answer_instance(const Member& input, bool compatible) {
  input.allow({"types", "request", "default", "validTypes"});
  const auto request = input.at("request");
  request.allow({"machineType", "gpus", "vcpus", "memoryMiB", "devices"});
  auto amounts = detail::read_amounts(request, {});
  std::erase_if(amounts.devices, [](const auto& device) { return device.second == 0; });
  const auto machine_type = text_at(request, "machineType");
  const auto fallback = text_at(input, "default");
  input.at("types");
  Answer answer;
  const auto chosen = machine_type.empty()
                          ? detail::choose_instance(input, amounts, fallback, compatible, answer)
                          : detail::ChosenInstance{machine_type, "machineType"};
  if (chosen.rule != "default") detail::check_valid(input, chosen.name, fallback);
  answer.value = {{"instance", chosen.name}, {"rule", chosen.rule}};
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INSTANCE_HPP
