// The bodies of <cdi/rules/validate.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_IMPL_VALIDATE_HPP
#define CDI_RULES_IMPL_VALIDATE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/member_path.hpp>
#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/type.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/impl/minimum_version.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// Takes broken rules: the first that is an error, and the warnings for who wants them.
class Findings {
 public:
  Findings(std::vector<Error>* warnings, Purpose purpose)
      : warnings_{warnings}, purpose_{purpose} {}

  /// Notes a broken rule. Whether to look further: not after an error.
  bool note(Rule rule, const MemberPath& at, Error error) {
    const RuleRow& row = row_of(rule);
    const bool doubt = row.severity == Severity::warning ||
                       (row.severity == Severity::write_error && purpose_ == Purpose::read);
    if (doubt && (warnings_ == nullptr || noted_ == most_warnings)) return true;
    error.rule = row.code;
    error.where = at.text();
    if (!doubt) {
      error_ = std::move(error);
      return false;
    }
    warnings_->push_back(std::move(error));
    ++noted_;
    return true;
  }
  bool note(Rule rule, const MemberPath& at, std::string message) {
    return note(rule, at, Error{.code = Errc::invalid, .message = std::move(message)});
  }

  Result<void> take() && { return std::move(error_); }

 private:
  std::vector<Error>* warnings_;
  Purpose purpose_;
  std::size_t noted_ = 0;
  Result<void> error_{};
};

/// Checks each item of a list with `check(item, path)`.
template <class List, class Check>
bool check_each(std::string_view key, const List& list, const MemberPath& at, Check&& check) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!check(list[i], MemberPath{&at, key, i})) return false;
  }
  return true;
}

inline bool check_text(std::string_view text, const MemberPath& at, Findings& out) {
  return text.find('\0') == std::string_view::npos ||
         out.note(Rule::text_nul, at,
                  quoted(text) + " holds a NUL, where some runtimes stop reading: remove it");
}

inline bool check_texts(const void* self, const Type& type, const MemberPath& at, Findings& out);

/// What `check_texts` of a dict hands to its entries.
struct TextEntries {
  const Type& type;
  const MemberPath& at;
  Findings& out;
};

inline bool check_entry(void* context, std::string_view key, void* value) {
  const auto& [type, at, out] = *static_cast<const TextEntries*>(context);
  const MemberPath entry{&at, key};
  return check_text(key, entry, out) && check_texts(value, *type.item, entry, out);
}

/// The items of a list, or the value of an optional.
inline bool check_texts_of_items(void* self, const Type& type, const MemberPath& at,
                                 Findings& out) {
  const bool list = type.shape == Shape::list;
  const Items items = type.items(self);
  for (std::size_t i = 0; i < items.size; ++i) {
    const MemberPath item{at.outer, at.key, list ? i : MemberPath::no_index};
    if (!check_texts(nth(items, i, *type.item), *type.item, item, out)) return false;
  }
  return true;
}

inline bool check_texts_of_members(void* self, const Type& type, const MemberPath& at,
                                   Findings& out) {
  Places places;
  type.places(self, places);
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const Type& member = *type.fields[i].type;
    if (member.shape == Shape::integer) continue;
    if (!check_texts(places[i], member, {&at, type.fields[i].key}, out)) return false;
  }
  return true;
}

/// Looks for a NUL in every text of a value, whatever its place.
inline bool check_texts(const void* self, const Type& type, const MemberPath& at, Findings& out) {
  void* const value = to_look_at(self);
  switch (type.shape) {
    case Shape::boolean:
    case Shape::integer: return true;
    case Shape::text: return check_text(type.text(self), at, out);
    case Shape::list:
    case Shape::optional: return check_texts_of_items(value, type, at, out);
    case Shape::dict: {
      TextEntries entries{type, at, out};
      return type.each(value, &entries, check_entry);
    }
    case Shape::value:
    case Shape::member:
    case Shape::object: break;
  }
  return check_texts_of_members(value, type, at, out);
}

inline bool check_env(std::string_view entry, const MemberPath& at, Findings& out) {
  const auto equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return out.note(Rule::env_entry, at,
                    "invalid environment variable " + detail::quoted(entry) + ": write NAME=value");
  }
  const auto name = entry.substr(0, equals);
  return name.find_first_of(" \t\n\v\f\r\"'`") == std::string_view::npos ||
         out.note(Rule::env_name, at,
                  "environment variable " + detail::quoted(name) +
                      " has blanks or quotes in its name: write NAME=value");
}

inline bool check_absolute(Rule rule, std::string_view path, const MemberPath& at, Findings& out) {
  return path.starts_with('/') ||
         out.note(rule, at, "path " + detail::quoted(path) + " is not absolute: begin it with /");
}

inline bool check_number(std::string_view key, std::int64_t number, const MemberPath& at,
                         Findings& out) {
  return number >= 0 || out.note(Rule::node_numbers, {&at, key},
                                 "device number " + std::to_string(number) +
                                     " is negative: use 0 or more, or leave it out");
}

template <class S>
bool check(const BasicDeviceNode<S>& node, const MemberPath& at, Findings& out) {
  const std::string_view path = node.path;
  const std::string_view type = node.type;
  const std::string_view permissions = node.permissions;
  const MemberPath path_at{&at, "path"};
  if (path.empty()) {
    if (!out.note(Rule::node_path, path_at,
                  "the device node has no path: name the node in the container"))
      return false;
  } else if (!check_absolute(Rule::node_path_absolute, path, path_at, out)) {
    return false;
  }
  const auto subject = [&] {
    return "device " + detail::quoted(path) + ": ";
  };
  if (!type.empty() && type != "b" && type != "c" && type != "u" && type != "p" &&
      !out.note(Rule::node_type, {&at, "type"},
                subject() + "invalid type " + detail::quoted(type) +
                    R"(: use "b", "c", "u" or "p", or leave it out)")) {
    return false;
  }
  if (!check_number("major", node.major, at, out) || !check_number("minor", node.minor, at, out)) {
    return false;
  }
  return permissions == "none" || permissions.find_first_not_of("rwm") == std::string_view::npos ||
         out.note(Rule::node_permissions, {&at, "permissions"},
                  subject() + "invalid permissions " + detail::quoted(permissions) +
                      R"(: use some of "rwm", or "none")");
}

/// Whether Linux takes a name for a network interface.
inline bool is_interface_name(std::string_view name) {
  return name.size() <= 15 && name != "." && name != ".." &&
         name.find_first_of("/: \t\n\v\f\r") == std::string_view::npos;
}

inline bool check_interface_name(std::string_view name, const MemberPath& at, Findings& out) {
  return is_interface_name(name) ||
         out.note(Rule::net_name_length, at,
                  "Linux has no interface " + detail::quoted(name) +
                      ": use 1 to 15 bytes without slash, colon or space");
}

template <class S>
bool check(const BasicNetDevice<S>& device, const MemberPath& at, Findings& out) {
  const MemberPath host_at{&at, "hostInterfaceName"};
  const MemberPath name_at{&at, "name"};
  if (device.host_interface_name.empty() &&
      !out.note(Rule::net_names, host_at,
                "the net device names no interface of the host: name the one to move")) {
    return false;
  }
  if (device.name.empty() && !out.note(Rule::net_names, name_at,
                                       "net device " + detail::quoted(device.host_interface_name) +
                                           " has no name in the container: give it one")) {
    return false;
  }
  return check_interface_name(device.host_interface_name, host_at, out) &&
         check_interface_name(device.name, name_at, out);
}

template <class S>
bool check(const BasicHook<S>& hook, const MemberPath& at, Findings& out) {
  if (!oci::parse_hook_point(hook.hook_name)) {
    std::string message = "invalid hook name " + detail::quoted(hook.hook_name) + ": use one of";
    for (const auto name : oci::hook_point_names) message.append(1, ' ').append(name);
    if (!out.note(Rule::hook_name, {&at, "hookName"}, std::move(message))) return false;
  }
  const MemberPath path_at{&at, "path"};
  if (hook.path.empty()) {
    if (!out.note(
            Rule::hook_path, path_at,
            "hook " + detail::quoted(hook.hook_name) + " has no path: name the program to run"))
      return false;
  } else if (!check_absolute(Rule::hook_path_absolute, hook.path, path_at, out)) {
    return false;
  }
  if (hook.timeout && *hook.timeout <= 0 &&
      !out.note(Rule::hook_timeout_positive, {&at, "timeout"},
                "a timeout of " + std::to_string(*hook.timeout) +
                    " seconds: use 1 or more, or leave it out for none")) {
    return false;
  }
  return check_each("env", hook.env, at, [&](const auto& entry, const MemberPath& to) {
    return check_env(entry, to, out);
  });
}

template <class S>
bool check(const BasicMount<S>& mount, const MemberPath& at, Findings& out) {
  if (mount.host_path.empty() && !out.note(Rule::mount_paths, {&at, "hostPath"},
                                           "the mount has no host path: name what to mount")) {
    return false;
  }
  const MemberPath container_at{&at, "containerPath"};
  if (!mount.container_path.empty()) {
    return check_absolute(Rule::mount_path_absolute, mount.container_path, container_at, out);
  }
  return out.note(Rule::mount_paths, container_at,
                  "mount of " + detail::quoted(mount.host_path) +
                      " has no container path: name where to mount it");
}

template <class S>
bool check(const BasicIntelRdt<S>& rdt, const MemberPath& at, Findings& out) {
  const std::string_view id = rdt.clos_id;
  if (id == "/") return true;
  std::string_view fault;
  if (id == "." || id == "..") {
    fault = " is no name of a directory";
  } else if (id.find_first_of("/\n") != std::string_view::npos) {
    fault = " holds a slash or newline";
  } else if (id.size() >= 4096) {
    fault = " is longer than 4095 bytes";
  } else {
    return true;
  }
  return out.note(Rule::rdt_closid, {&at, "closID"},
                  "closID " + detail::quoted(id).append(fault).append(
                                  ": name a directory below /sys/fs/resctrl, or \"/\""));
}

template <class List>
bool check_net_devices(const List& devices, const MemberPath& at, Findings& out) {
  std::vector<std::string_view> names;
  for (const auto& device : devices) names.push_back(device.host_interface_name);
  const auto first_hosts = first_of_equals(names);
  for (std::size_t i = 0; i < devices.size(); ++i) names[i] = devices[i].name;
  const auto first_names = first_of_equals(names);
  const auto is_fresh = [&](std::size_t first, std::string_view name, std::string_view key,
                            const MemberPath& to) {
    return first == to.index ||
           out.note(Rule::net_names_unique, {&to, key},
                    detail::quoted(name) + " is taken by " + item_path("netDevices", first) +
                        " already: choose another");
  };
  return check_each("netDevices", devices, at, [&](const auto& device, const MemberPath& to) {
    return check(device, to, out) &&
           is_fresh(first_hosts[to.index], device.host_interface_name, "hostInterfaceName", to) &&
           is_fresh(first_names[to.index], device.name, "name", to);
  });
}

template <class S>
bool check(const BasicContainerEdits<S>& edits, const MemberPath& at, Findings& out) {
  const auto each = [&](const auto& item, const MemberPath& to) {
    return check(item, to, out);
  };
  const auto env = [&](const auto& entry, const MemberPath& to) {
    return check_env(entry, to, out);
  };
  const auto gid = [&](std::uint32_t id, const MemberPath& to) {
    return id != 0 ||
           out.note(Rule::gid_zero, to, "group id 0 is left out at injection: remove it");
  };
  return check_each("env", edits.env, at, env) &&
         check_each("deviceNodes", edits.device_nodes, at, each) &&
         check_each("hooks", edits.hooks, at, each) &&
         check_each("mounts", edits.mounts, at, each) &&
         (!edits.intel_rdt || check(*edits.intel_rdt, {&at, "intelRdt"}, out)) &&
         check_net_devices(edits.net_devices, at, out) &&
         check_each("additionalGids", edits.additional_gids, at, gid);
}

/// The annotations of a spec or device.
template <class Dict>
bool check_annotations(const Dict& annotations, const MemberPath& outer, Findings& out) {
  constexpr std::size_t most = 256 << 10;
  const MemberPath at{&outer, "annotations"};
  std::size_t size = 0;
  for (const auto& [key, value] : annotations) {
    size += key.size() + value.size();
    if (!is_annotation_key(key) &&
        !out.note(Rule::annotation_key, {&at, key}, annotation_key_error(key))) {
      return false;
    }
  }
  return size <= most || out.note(Rule::annotation_size, at,
                                  "the annotations have " + std::to_string(size) +
                                      " bytes: use at most " + std::to_string(most));
}

template <class S>
bool check(const BasicDevice<S>& device, const MemberPath& at, Findings& out) {
  constexpr std::size_t most = 63;
  const MemberPath name_at{&at, "name"};
  if (!is_device_name(device.name) &&
      !out.note(Rule::device_name, name_at, name_error(NamePart::device, device.name))) {
    return false;
  }
  if (device.name.size() > most &&
      !out.note(Rule::device_name_length, name_at,
                "the device name has " + std::to_string(device.name.size()) +
                    " bytes: use at most " + std::to_string(most))) {
    return false;
  }
  if (!check_annotations(device.annotations, at, out)) return false;
  const MemberPath edits_at{&at, "containerEdits"};
  if (is_empty(device.container_edits) &&
      !out.note(
          Rule::device_edits, edits_at,
          "device " + detail::quoted(device.name) + " has no edits: give it some, or remove it")) {
    return false;
  }
  return check(device.container_edits, edits_at, out);
}

template <class S>
bool check_version(const BasicSpec<S>& spec, Findings& out) {
  const MemberPath at{nullptr, "cdiVersion"};
  const auto declared = parse_release(spec.version);
  if (!declared) {
    std::string message = "unknown version " + detail::quoted(spec.version) + ": use one of";
    for (const Release r : known_releases) {
      if (r >= Release{}) message.append(1, ' ').append(cdi::to_string(r));
    }
    return out.note(Rule::version_known, at, std::move(message));
  }
  const auto need = minimum_need(spec);
  if (*declared < need.release) {
    std::string message = "version " + detail::quoted(spec.version) + " is too old";
    if (!need.where.empty()) message.append(" for ").append(need.where);
    message.append(": write \"").append(to_string(need.release)).append("\"");
    if (!out.note(Rule::version_new_enough, at, std::move(message))) return false;
  }
  if (*declared >= need.until) {
    const MemberPath member{nullptr, need.until_where};
    return out.note(Rule::field_retired, member,
                    "version " + detail::quoted(spec.version) +
                        " does not have the member any more: write " +
                        std::string{need.until_instead} + ", or declare a version before " +
                        to_string(need.until));
  }
  return true;
}

/// Whether a vendor is a DNS name; its characters are known to be those of a vendor.
inline bool is_dns_name(std::string_view vendor) {
  constexpr std::size_t longest_label = 63;
  constexpr std::size_t longest = 253;
  if (vendor.size() > longest) return false;
  for (;;) {
    const auto label = vendor.substr(0, vendor.find('.'));
    if (label.size() > longest_label || !is_word(label, "-")) return false;
    if (label.size() == vendor.size()) return true;
    vendor.remove_prefix(label.size() + 1);
  }
}

inline bool check_kind(std::string_view kind, Findings& out) {
  constexpr std::size_t longest_class = 63;
  const MemberPath at{nullptr, "kind"};
  const auto parts = parse_kind(kind);
  if (!parts) return out.note(Rule::kind_name, at, kind_error(kind));
  if (!is_dns_name(parts->vendor) &&
      !out.note(Rule::kind_vendor_dns, at,
                "vendor " + detail::quoted(parts->vendor) +
                    " is no DNS name: use words of at most 63 " +
                    "letters, digits and inner -, 253 bytes in all")) {
    return false;
  }
  return parts->device_class.size() <= longest_class ||
         out.note(Rule::kind_class_length, at,
                  "the class has " + std::to_string(parts->device_class.size()) +
                      " bytes: use at most " + std::to_string(longest_class));
}

template <class S>
bool check(const BasicSpec<S>& spec, const MemberPath& at, Findings& out) {
  if (!check_version(spec, out) || !check_kind(spec.kind, out) ||
      !check_annotations(spec.annotations, at, out) ||
      !check(spec.container_edits, {&at, "containerEdits"}, out)) {
    return false;
  }
  if (spec.devices.empty()) {
    return out.note(Rule::devices_given, {&at, "devices"},
                    "the spec has no devices: define at least one");
  }
  std::vector<std::string_view> names;
  names.reserve(spec.devices.size());
  for (const auto& device : spec.devices) names.push_back(device.name);
  const auto first = first_of_equals(names);
  return check_each("devices", spec.devices, at, [&](const auto& device, const MemberPath& to) {
    if (!check(device, to, out)) return false;
    return first[to.index] == to.index ||
           out.note(Rule::device_name_unique, {&to, "name"},
                    "device " + detail::quoted(device.name) + " is defined by " +
                        item_path("devices", first[to.index]) + " already: choose another name");
  });
}

}  // namespace detail

template <detail::SpecPart T>
Result<void> validate(const T& value, std::vector<Error>* warnings, Purpose purpose) {
  detail::Findings findings{warnings, purpose};
  if (detail::check_texts(&value, detail::type_of<T>, {}, findings))
    detail::check(value, {}, findings);
  return std::move(findings).take();
}

#ifdef CDI_SOURCE
template Result<void> validate(const BasicSpec<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicSpec<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicDevice<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicDevice<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicContainerEdits<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicContainerEdits<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicDeviceNode<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicDeviceNode<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicNetDevice<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicNetDevice<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicHook<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicHook<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicMount<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicMount<Borrowed>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicIntelRdt<Owning>&, std::vector<Error>*, Purpose);
template Result<void> validate(const BasicIntelRdt<Borrowed>&, std::vector<Error>*, Purpose);
#endif

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_RULES_IMPL_VALIDATE_HPP
