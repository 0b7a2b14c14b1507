// Floors of run.sh: what the library does, written by hand for this one spec and this one config,
// without any check. Each result is compared with the library's: `by_hand DATA`. With simdjson
// where it can be included.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/nlohmann.hpp>
#if __has_include(<simdjson.h>)
#include <simdjson.h>
#endif

#include "../files.hpp"
#include "measure.hpp"

namespace {

using Edits = std::vector<const cdi::ContainerEdits*>;

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// Sorts mounts by the depth of their destinations, which is counted once for each.
template <class Mounts, class Destination>
void sort_mounts(Mounts& mounts, Destination destination_of) {
  using Mount = std::decay_t<decltype(mounts[0])>;
  std::vector<std::pair<long, Mount>> keyed;
  keyed.reserve(mounts.size());
  for (auto& mount : mounts) {
    const std::string& path = destination_of(mount);
    const auto depth = std::count(path.begin(), path.end(), '/');
    keyed.emplace_back(depth, std::move(mount));
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < keyed.size(); ++i) mounts[i] = std::move(keyed[i].second);
}

void set_variable(std::vector<std::string>& env, const std::string& variable) {
  for (auto& old : env) {
    if (name_of(old) == name_of(variable)) {
      old = variable;
      return;
    }
  }
  env.push_back(variable);
}

void inject(cdi::oci::Spec& config, const Edits& all) {
  const auto& user = config.process->user;
  for (const auto* edits : all) {
    for (const auto& variable : edits->env) set_variable(config.process->env, variable);
    for (const auto& node : edits->device_nodes) {
      config.linux_->devices.push_back({.path = node.path,
                                        .type = node.type,
                                        .major = node.major,
                                        .minor = node.minor,
                                        .file_mode = node.file_mode,
                                        .uid = user.uid,
                                        .gid = node.gid ? node.gid : user.gid});
      config.linux_->resources->devices.push_back({.allow = true,
                                                   .type = node.type,
                                                   .major = node.major,
                                                   .minor = node.minor,
                                                   .access = node.permissions});
    }
    config.mounts.reserve(config.mounts.size() + edits->mounts.size());
    for (const auto& mount : edits->mounts) {
      config.mounts.push_back({.destination = mount.container_path,
                               .source = mount.host_path,
                               .options = mount.options});
    }
    if (!config.hooks) config.hooks.emplace();
    for (const auto& hook : edits->hooks) {
      config.hooks->create_container.push_back(
          {.path = hook.path, .args = hook.args, .env = hook.env});
    }
  }
  sort_mounts(
      config.mounts, [](const auto& mount) -> auto& { return mount.destination; });
}

template <class Json>
void set_variable(Json& env, const std::string& variable) {
  for (auto& old : env) {
    if (name_of(old.template get_ref<const std::string&>()) == name_of(variable)) {
      old = variable;
      return;
    }
  }
  env.push_back(variable);
}

template <class Json>
void add_node(Json& config, const cdi::DeviceNode& node) {
  const auto& user = config["process"]["user"];
  Json device{{"path", node.path},          {"type", node.type},  {"major", node.major},
              {"minor", node.minor},        {"uid", user["uid"]}, {"gid", user["gid"]},
              {"fileMode", *node.file_mode}};
  if (node.gid) device["gid"] = *node.gid;
  config["linux"]["devices"].push_back(std::move(device));
  config["linux"]["resources"]["devices"].push_back({{"allow", true},
                                                     {"type", node.type},
                                                     {"major", node.major},
                                                     {"minor", node.minor},
                                                     {"access", node.permissions}});
}

template <class Json>
void inject(Json& config, const Edits& all) {
  config["hooks"]["createContainer"];  // no reference of an `ordered_json` outlives a new member
  auto& mounts = config["mounts"];
  for (const auto* edits : all) {
    for (const auto& variable : edits->env) set_variable(config["process"]["env"], variable);
    for (const auto& node : edits->device_nodes) add_node(config, node);
    for (const auto& mount : edits->mounts) {
      mounts.push_back({{"destination", mount.container_path},
                        {"source", mount.host_path},
                        {"options", mount.options}});
    }
    for (const auto& hook : edits->hooks) {
      config["hooks"]["createContainer"].push_back(
          {{"path", hook.path}, {"args", hook.args}, {"env", hook.env}});
    }
  }
  sort_mounts(
      mounts, [](const Json& mount) -> auto& {
        return mount["destination"].template get_ref<const std::string&>();
      });
}

std::string text_of(const cdi::oci::Spec& config) {
  return *cdi::write_json(config, -1);
}
template <class Json>
std::string text_of(const Json& config) {
  return config.dump();
}

/// Measures one injection into each of 201 copies, after a comparison with the library's result.
template <class Target>
void measure_injection(const char* row, const Target& before, const Edits& edits,
                       const cdi::Registry& registry) {
  auto expected = before, got = before;
  if (!registry.inject(expected, {"vendor.example.com/gpu=0"})) fail("injection failed");
  inject(got, edits);
  if (nlohmann::json::parse(text_of(got)) != nlohmann::json::parse(text_of(expected))) {
    fail(std::string{row} + ": another result than the library's");
  }
  std::vector<Target> targets(201, before);
  std::vector<double> times;
  for (auto& target : targets) times.push_back(microseconds([&] { inject(target, edits); }));
  print(row, median(std::move(times)));
}

void measure_injections(const std::string& data, const cdi::Spec& spec) {
  const auto registry = cdi::Cache{{data + "/60kB.json"}}.registry();
  const Edits edits{&spec.container_edits, &spec.devices.front().container_edits};
  const auto text = text_of_file(data + "/pod.json");
  measure_injection("inject_model", *cdi::read_json<cdi::oci::Spec>(text), edits, *registry);
  measure_injection("inject_json", nlohmann::json::parse(text), edits, *registry);
  measure_injection("inject_ordered", nlohmann::ordered_json::parse(text), edits, *registry);
}

#if __has_include(<simdjson.h>)
namespace dom = simdjson::dom;

std::string text_in(const dom::element& value) {
  return std::string{value.get_string().value()};
}

std::vector<std::string> texts_in(const dom::element& value) {
  std::vector<std::string> out;
  out.reserve(value.get_array().size());
  for (const auto item : value.get_array()) out.push_back(text_in(item));
  return out;
}

cdi::DeviceNode node_in(const dom::element& value) {
  cdi::DeviceNode out;
  for (const auto [key, member] : value.get_object()) {
    if (key == "path") out.path = text_in(member);
    if (key == "type") out.type = text_in(member);
    if (key == "major") out.major = member.get_int64().value();
    if (key == "minor") out.minor = member.get_int64().value();
    if (key == "fileMode") out.file_mode = static_cast<std::uint32_t>(member.get_int64().value());
    if (key == "permissions") out.permissions = text_in(member);
    if (key == "gid") out.gid = static_cast<std::uint32_t>(member.get_int64().value());
  }
  return out;
}

cdi::Mount mount_in(const dom::element& value) {
  cdi::Mount out;
  for (const auto [key, member] : value.get_object()) {
    if (key == "hostPath") out.host_path = text_in(member);
    if (key == "containerPath") out.container_path = text_in(member);
    if (key == "options") out.options = texts_in(member);
  }
  return out;
}

cdi::Hook hook_in(const dom::element& value) {
  cdi::Hook out;
  for (const auto [key, member] : value.get_object()) {
    if (key == "hookName") out.hook_name = text_in(member);
    if (key == "path") out.path = text_in(member);
    if (key == "args") out.args = texts_in(member);
    if (key == "env") out.env = texts_in(member);
  }
  return out;
}

template <class Item, class Read>
void read_all(std::vector<Item>& out, const dom::element& value, Read read) {
  out.reserve(value.get_array().size());
  for (const auto item : value.get_array()) out.push_back(read(item));
}

cdi::ContainerEdits edits_in(const dom::element& value) {
  cdi::ContainerEdits out;
  for (const auto [key, member] : value.get_object()) {
    if (key == "env") out.env = texts_in(member);
    if (key == "deviceNodes") read_all(out.device_nodes, member, node_in);
    if (key == "mounts") read_all(out.mounts, member, mount_in);
    if (key == "hooks") read_all(out.hooks, member, hook_in);
  }
  return out;
}

cdi::Spec spec_in(const dom::element& value) {
  cdi::Spec out;
  for (const auto [key, member] : value.get_object()) {
    if (key == "cdiVersion") out.version = text_in(member);
    if (key == "kind") out.kind = text_in(member);
    if (key == "containerEdits") out.container_edits = edits_in(member);
    if (key != "devices") continue;
    read_all(out.devices, member, [](const dom::element& item) {
      return cdi::Device{.name = text_in(item["name"]),
                         .container_edits = edits_in(item["containerEdits"])};
    });
  }
  return out;
}

void measure_reading(const std::string& text, const cdi::Spec& expected) {
  dom::parser parser;
  if (spec_in(parser.parse(text).value()) != expected) fail("another spec than the library's");
  print("read_60kB_json", median_time([&] { keep(spec_in(parser.parse(text).value())); }));
}
#else
void measure_reading(const std::string&, const cdi::Spec&) {}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) fail("usage: by_hand DATA");
  const std::string data = argv[1];
  const auto text = text_of_file(data + "/60kB.json/spec.json");
  const auto spec = cdi::parse_spec(text, "spec.json", cdi::Format::json);
  if (!spec) fail(to_string(spec.error()));
  measure_reading(text, spec->spec);
  measure_injections(data, spec->spec);
}
