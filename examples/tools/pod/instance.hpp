// `instance`: the cloud instance type that fits the VM of a peer pod.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_POD_INSTANCE_HPP
#define CDI_TOOLS_POD_INSTANCE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "answer.hpp"
#include "input.hpp"

// cloud-api-adaptor fbdde75, src/cloud-providers/util.go.

namespace pod {

namespace detail {

struct InstanceType {
  std::string name{};
  std::int64_t gpus = 0;
  std::int64_t vcpus = 0;
  std::int64_t memory_mib = 0;
};

inline bool fits(const InstanceType& type, const InstanceType& request) {
  return type.gpus >= request.gpus && type.vcpus >= request.vcpus &&
         type.memory_mib >= request.memory_mib;
}

inline InstanceType read_amounts(const Member& member, std::string name) {
  return {std::move(name), count_at(member, "gpus"), count_at(member, "vcpus"),
          count_at(member, "memoryMiB")};
}

/// The types, sorted by GPUs, memory and vCPUs; without GPU types if no GPU is requested.
inline std::vector<InstanceType> read_types(const Member& list, bool with_gpus) {
  std::vector<InstanceType> types;
  for (const auto& item : list.items()) {
    const auto name = item.at("name");
    auto type = read_amounts(item, name.text());
    if (type.name.empty()) name.reject("must not be empty");
    if (with_gpus || type.gpus == 0) types.push_back(std::move(type));
  }
  std::stable_sort(types.begin(), types.end(), [](const auto& a, const auto& b) {
    return std::tie(a.gpus, a.memory_mib, a.vcpus) < std::tie(b.gpus, b.memory_mib, b.vcpus);
  });
  return types;
}

/// The first type that fits.
inline std::string first_fit(const std::vector<InstanceType>& types, const InstanceType& request) {
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const auto& type) { return fits(type, request); });
  return found == types.end() ? std::string{} : found->name;
}

/// The result of cloud-api-adaptor's binary search, Go's sort.Search. The vCPUs are not sorted in
/// this order, so the search misses types.
inline std::string binary_fit(const std::vector<InstanceType>& types, const InstanceType& request) {
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
  return std::to_string(request.gpus) + " GPUs, " + std::to_string(request.vcpus) + " vCPUs and " +
         std::to_string(request.memory_mib) + " MiB";
}

/// The best fit, with a warning if the two searches differ.
inline std::string best_fit(const Member& types_list, const InstanceType& request, bool compatible,
                            Answer& answer) {
  const auto types = read_types(types_list, request.gpus > 0);
  const auto right = first_fit(types, request);
  const auto upstream = binary_fit(types, request);
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

}  // namespace detail

/// The instance type for a request, and the rule that decided: first the annotation, then GPUs,
/// then vCPUs together with memory, then the default.
inline Answer answer_instance(const Member& input, bool compatible) {
  input.allow({"types", "request", "default", "validTypes"});
  const auto request = input.at("request");
  request.allow({"machineType", "gpus", "vcpus", "memoryMiB"});
  const auto amounts = detail::read_amounts(request, {});
  const auto machine_type = text_at(request, "machineType");
  const auto fallback = text_at(input, "default");
  const auto types = input.at("types");
  Answer answer;
  std::string chosen;
  std::string_view rule;
  if (!machine_type.empty()) {
    chosen = machine_type;
    rule = "machineType";
  } else if (amounts.gpus > 0) {
    chosen = detail::best_fit(types, amounts, compatible, answer);
    rule = "gpus";
  } else if (amounts.vcpus != 0 && amounts.memory_mib != 0) {
    chosen = detail::best_fit(types, amounts, compatible, answer);
    rule = "vcpus and memory";
  } else {
    if (fallback.empty()) {
      request.reject("needs GPUs, or both vcpus and memoryMiB, because there is no default");
    }
    chosen = fallback;
    rule = "default";
  }
  if (rule != "default") detail::check_valid(input, chosen, fallback);
  answer.value = {{"instance", chosen}, {"rule", rule}};
  return answer;
}

}  // namespace pod

#endif  // CDI_TOOLS_POD_INSTANCE_HPP
