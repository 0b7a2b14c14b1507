// Makes a spec from the words of a command line.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "spec_of_words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "edit_words.hpp"

namespace {

/// The device of a name; null if there is none.
cdi::Device* find_device(cdi::Spec& spec, std::string_view name) {
  const auto found = std::find_if(spec.devices.begin(), spec.devices.end(),
                                  [&](const cdi::Device& device) { return device.name == name; });
  return found == spec.devices.end() ? nullptr : &*found;
}

void add_device(cdi::Spec& spec, std::string_view word) {
  const auto parts = split_word(word, '=');
  const auto name = parts ? parts->first : word;
  if (find_device(spec, name) == nullptr) spec.devices.push_back({.name = std::string{name}});
  if (!parts) return;
  find_device(spec, name)->container_edits.device_nodes.push_back(*parse_node(parts->rest));
}

cdi::Error no_such_device(std::string_view option, std::string_view name) {
  return {.code = cdi::Errc::not_found,
          .message = fmt::format("{}: there is no device {}", option, cdi::quoted(name)),
          .advice = "add it by --device"};
}

/// Adds the edits that belong to one device each.
cdi::Result<void> add_device_edits(cdi::Spec& spec, const SpecWords& words) {
  for (const auto& word : words.device_mounts) {
    const auto parts = *split_word(word, '=');
    auto* const device = find_device(spec, parts.first);
    if (device == nullptr) return no_such_device("--device-mount", parts.first);
    device->container_edits.mounts.push_back(*parse_mount(parts.rest));
  }
  for (const auto& word : words.device_env) {
    const auto parts = *split_word(word, '=');
    auto* const device = find_device(spec, parts.first);
    if (device == nullptr) return no_such_device("--device-env", parts.first);
    device->container_edits.env.emplace_back(parts.rest);
  }
  return {};
}

/// Adds the edits that a list does not contain yet.
template <class Edits>
void add_new(Edits& to, const Edits& from) {
  for (const auto& edit : from) {
    if (std::find(to.begin(), to.end(), edit) == to.end()) to.push_back(edit);
  }
}

/// The variable that two entries of a list set; empty if there is none.
std::string_view variable_set_twice(const std::vector<std::string>& env) {
  for (auto one = env.begin(); one != env.end(); ++one) {
    const auto name = std::string_view{*one}.substr(0, one->find('=') + 1);
    if (std::any_of(one + 1, env.end(), [&](const auto& other) { return other.starts_with(name); }))
      return name.substr(0, name.size() - 1);
  }
  return {};
}

/// Adds a device `all` with the edits of all other devices.
cdi::Result<void> add_all(cdi::Spec& spec) {
  if (find_device(spec, "all") != nullptr) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = "--all makes a device \"all\", as --device does",
                      .advice = "leave out one of them"};
  }
  cdi::Device all{.name = "all"};
  for (const auto& [name, annotations, edits] : spec.devices) {
    add_new(all.container_edits.device_nodes, edits.device_nodes);
    add_new(all.container_edits.mounts, edits.mounts);
    add_new(all.container_edits.env, edits.env);
  }
  if (const auto variable = variable_set_twice(all.container_edits.env); !variable.empty()) {
    return cdi::Error{.code = cdi::Errc::conflict,
                      .message = fmt::format("the device \"all\" would set {} to two values",
                                             cdi::quoted(variable)),
                      .advice = "leave out --all, or set the variable by --env for all devices"};
  }
  spec.devices.push_back(std::move(all));
  return {};
}

}  // namespace

cdi::Result<cdi::Spec> spec_of_words(const SpecWords& words) {
  cdi::Spec spec{.kind = words.kind};
  for (const auto& word : words.devices) add_device(spec, word);
  for (const auto& word : words.mounts) spec.container_edits.mounts.push_back(*parse_mount(word));
  spec.container_edits.env = words.env;
  for (const auto& word : words.annotations) {
    const auto [key, value] = *split_word(word, '=');
    spec.annotations.insert_or_assign(std::string{key}, std::string{value});
  }
  if (auto done = add_device_edits(spec, words); !done) return std::move(done).error();
  if (words.all) {
    if (auto done = add_all(spec); !done) return std::move(done).error();
  }
  return spec;
}
