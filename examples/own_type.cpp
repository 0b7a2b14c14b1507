// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <array>
#include <iostream>

#include <cdi/apply.hpp>

// A runtime's container, with the runtime's own types and names.
struct Node {
  std::string path;
  std::int64_t major, minor;
  bool operator==(const Node&) const = default;
};
struct Access {
  std::int64_t major, minor;
  std::string letters;
  bool operator==(const Access&) const = default;
};
struct Bind {
  std::string from, to;
  std::vector<std::string> options;
  bool operator==(const Bind&) const = default;
};
struct Container {
  std::vector<std::string> env;
  std::vector<Node> nodes;
  std::vector<Access> rules;  // device cgroup rules
  std::vector<Bind> binds;
  std::array<std::vector<std::string>, cdi::oci::hook_point_names.size()> programs;  // hooks
};

// `key_of` returns the key of an entry, and `set` copies a record of `apply` into the entry.
std::string_view key_of(const std::string& entry) {
  return std::string_view{entry}.substr(0, entry.find('='));
}
std::string_view key_of(const Node& node) {
  return node.path;
}
std::string_view key_of(const Bind& bind) {
  return bind.to;
}
void set(std::string& entry, std::string_view text) {
  entry = text;
}
void set(std::string& program, const cdi::oci::HookView& hook) {
  program = hook.path;
}
void set(Node& node, const cdi::oci::LinuxDeviceView& device) {
  node = {std::string{device.path}, device.major, device.minor};
}
void set(Access& rule, const cdi::oci::LinuxDeviceCgroupView& device) {
  rule = {device.major.value_or(-1), device.minor.value_or(-1), std::string{device.access}};
}
void set(Bind& bind, const cdi::oci::MountView& mount) {
  bind.from = mount.source;
  bind.to = mount.destination;
  bind.options.assign(mount.options.begin(), mount.options.end());
}

template <class T>
struct List {
  std::vector<T>& entries;

  std::size_t size() const { return entries.size(); }
  std::string_view key(std::size_t i) const { return key_of(entries[i]); }
  bool equals(std::size_t i, const auto& record) const {
    T made{};
    set(made, record);
    return made == entries[i];
  }
  void append(const auto& record) { set(entries.emplace_back(), record); }
  void assign(std::size_t i, const auto& record) { set(entries[i], record); }
  void rearrange(std::span<const std::size_t> order) {
    std::vector<T> kept;
    for (const std::size_t i : order) kept.push_back(std::move(entries[i]));
    entries = std::move(kept);
  }
};

template <>
struct cdi::SpecEditor<Container> {
  Container& container;

  auto env() { return List<std::string>{container.env}; }
  auto devices() { return List<Node>{container.nodes}; }
  auto device_rules() { return List<Access>{container.rules}; }
  auto mounts() { return List<Bind>{container.binds}; }
  auto hooks(oci::HookPoint point) {
    return List<std::string>{container.programs.at(static_cast<std::size_t>(point))};
  }
  ProcessUser process_user() const { return {.uid = 0, .gid = 0}; }
  bool has_id_mappings() const { return false; }
};

int main() {
  Container container{};
  container.env = {"GPU=none", "HOME=/"};
  const cdi::ContainerEdits edits{
      .env = {"GPU=0"},
      .device_nodes = {{.path = "/dev/null"}},
      .mounts = {{.host_path = "/run/gpu", .container_path = "/run/gpu"}}};
  if (const auto done = edits.apply(container); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  // GPU=0 /dev/null rwm /run/gpu
  std::cout << container.env[0] << ' ' << container.nodes[0].path << ' '
            << container.rules[0].letters << ' ' << container.binds[0].to << '\n';
}
