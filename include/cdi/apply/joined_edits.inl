// The bodies of <cdi/apply/joined_edits.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_JOINED_EDITS_INL
#define CDI_APPLY_JOINED_EDITS_INL

#include <type_traits>
#include <utility>

#include <cdi/apply/joined_edits.hpp>
#include <cdi/base/order.hpp>
#include <cdi/model/fields.hpp>

namespace cdi::inline CDI_ABI::detail {

#if CDI_BODIES

CDI_INLINE JoinedEdits::JoinedEdits() = default;
CDI_INLINE JoinedEdits::~JoinedEdits() = default;

CDI_INLINE Error about_edits(Error error, std::size_t index) {
  error.edits = static_cast<std::uint32_t>(index + 1);
  return error;
}

CDI_INLINE Result<void> complete_devices(JoinedEdits& edits, const HostRef& host,
                                         ProcessUser user) {
  std::size_t node = 0;
  for (std::size_t set = 0; set < edits.nodes_end.size(); ++set) {
    const std::size_t first = node;
    for (; node < edits.nodes_end[set]; ++node) {
      auto r = detail::complete_device(edits.nodes[node], host, user);
      if (r) continue;
      return about_edits(std::move(r).error().under(item_path("deviceNodes", node - first)), set);
    }
  }
  return {};
}

CDI_INLINE std::optional<InterfaceConflict> find_conflict(
    const std::vector<BasicNetDevice<Borrowed>>& net_devices) {
  if (net_devices.size() < 2) return {};
  std::vector<std::string_view> keys;
  for (const auto& device : net_devices) keys.push_back(device.host_interface_name);
  const auto same_host = detail::first_of_equals(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = net_devices[i].name;
  const auto same_name = detail::first_of_equals(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& [host, name] = net_devices[i];
    const auto& other_name = net_devices[same_host[i]].name;
    if (name != other_name) {
      return InterfaceConflict{i, "hostInterfaceName",
                               "the host interface " + cdi::quoted(host) + " gets two names, " +
                                   cdi::quoted(other_name) + " and " + cdi::quoted(name)};
    }
    const auto& other_host = net_devices[same_name[i]].host_interface_name;
    if (host != other_host) {
      return InterfaceConflict{i, "name",
                               "two host interfaces, " + cdi::quoted(other_host) + " and " +
                                   cdi::quoted(host) + ", get the name " + cdi::quoted(name)};
    }
  }
  return {};
}

/// Returns the ID mapping option for a mount; the last of `bind` and `rbind` decides.
inline std::string_view id_mapping_of(const JoinedEdits& edits, const PlannedMount& mount) {
  std::string_view wanted = mount.type == "bind" ? "idmap" : "";
  for (std::size_t i = 0; i < mount.options.count; ++i) {
    const auto option = edits.texts[mount.options.first + i];
    if (option == "idmap" || option == "ridmap") return {};
    if (option == "bind") wanted = "idmap";
    if (option == "rbind") wanted = "ridmap";
  }
  return wanted;
}

CDI_INLINE void add_id_mappings(JoinedEdits& edits) {
  for (auto& mount : edits.mounts) mount.id_mapping = id_mapping_of(edits, mount);
}

inline void fill_list(const JoinedEdits& edits, TextRange from, std::vector<std::string_view>& to) {
  const auto* const first = edits.texts.data() + from.first;
  to.assign(first, first + from.count);
}

CDI_INLINE void fill_view(const JoinedEdits& edits, const PlannedMount& from, oci::MountView& to) {
  to.destination = from.destination;
  to.type = from.type;
  to.source = from.source;
  detail::fill_list(edits, from.options, to.options);
  if (!from.id_mapping.empty()) to.options.push_back(from.id_mapping);
}

CDI_INLINE void fill_view(const JoinedEdits& edits, const PlannedHook& from, oci::HookView& to) {
  to.path = from.path;
  detail::fill_list(edits, from.args, to.args);
  detail::fill_list(edits, from.env, to.env);
  to.timeout = from.timeout;
}

inline Error no_place(std::string_view key, std::string_view what) {
  std::string message = "the OCI spec type does not support ";
  message.append(what);
  return {.code = Errc::unsupported, .message = std::move(message), .where = std::string{key}};
}

CDI_INLINE Result<void> check_parts(const OptionalParts& places, const TouchedParts& touched) {
  if (touched.net_devices && !places.net_devices) return no_place("netDevices", "net devices");
  if (touched.intel_rdt && !places.intel_rdt) return no_place("intelRdt", "Intel RDT settings");
  if (touched.additional_gids && !places.additional_gids) {
    return no_place("additionalGids", "additional gids");
  }
  if (touched.devices && !places.device_rules) {
    return no_place("deviceNodes", "device cgroup rules");
  }
  return {};
}

#endif  // CDI_BODIES

/// The state while edits are joined.
struct Joining {
  JoinedEdits& edits;
  Texts texts;
  Result<void> utf8{};  // fails for the first text that is not UTF-8

  /// Returns a view of an edit's text, and checks the text if necessary.
  std::string_view view(std::string_view text) {
    if (texts == Texts::unknown) check(text);
    return text;
  }
  /// Appends views of all texts in a list.
  template <class List>
  TextRange add_views(const List& list, std::vector<std::string_view>& to) {
    const TextRange added{to.size(), list.size()};
    for (const std::string_view text : list) to.push_back(view(text));
    return added;
  }

 private:
  void check(std::string_view text) {
    if (utf8 && !is_utf8(text)) utf8 = not_utf8(text);
  }
};

/// A field list that stores views of an edit's members at given addresses.
template <class Edit>
struct ViewList {
  const Edit& from;
  Joining& joining;
  void* const* next;

  template <class Class, class T>
  void operator()(const char*, T Class::*member, const FieldTraits& = {}) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      *static_cast<std::string_view*>(*next++) = joining.view(from.*member);
    } else {
      static_assert(std::is_trivially_copyable_v<T>, "cdi: join a member of this type, too");
      *static_cast<T*>(*next++) = from.*member;
    }
  }
};

/// Fills a view of an edit that consists of texts and numbers, member by member.
template <class Edit, class View>
void join_members(const Edit& from, View& view, Joining& to) {
  void* members[field_count<View>()];
  FieldPointerList<View> addresses{view, members};
  View::fields(addresses);
  ViewList<Edit> list{from, to, members};
  Edit::fields(list);
}

template <Storage S>
void join_hook(const BasicHook<S>& from, oci::HookPoint point, Joining& to) {
  static_assert(field_count<BasicHook<S>>() == 5, "cdi: join each member of a hook");
  PlannedHook& hook = to.edits.hooks.emplace_back();
  hook.point = point;
  hook.path = to.view(from.path);
  hook.args = to.add_views(from.args, to.edits.texts);
  hook.env = to.add_views(from.env, to.edits.texts);
  hook.timeout = from.timeout;
}

template <Storage S>
void join_mount(const BasicMount<S>& from, Joining& to) {
  static_assert(field_count<BasicMount<S>>() == 4, "cdi: join each member of a mount");
  PlannedMount& mount = to.edits.mounts.emplace_back();
  mount.source = to.view(from.host_path);
  mount.destination = to.view(from.container_path);
  mount.options = to.add_views(from.options, to.edits.texts);
  mount.type = to.view(from.type);
}

template <Storage S>
void join_intel_rdt(const BasicIntelRdt<S>& from, Joining& to) {
  static_assert(field_count<BasicIntelRdt<S>>() == 7, "cdi: join each member of the settings");
  to.edits.intel_rdt = {};
  to.edits.intel_rdt.clos_id = to.view(from.clos_id);
  to.edits.intel_rdt.l3_cache_schema = to.view(from.l3_cache_schema);
  to.edits.intel_rdt.mem_bw_schema = to.view(from.mem_bw_schema);
  to.edits.intel_rdt.enable_monitoring = from.monitors();
  if (from.schemata) to.add_views(*from.schemata, to.edits.intel_rdt.schemata);
}

/// Adds hooks to the joined edits. Fails for an unknown hook name.
template <class Hooks>
Result<void> join_hooks(const Hooks& hooks, Joining& to) {
  Result<void> unknown;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const std::string_view name = to.view(hooks[i].hook_name);
    const auto point = oci::parse_hook_point(name);
    if (point) {
      detail::join_hook(hooks[i], *point, to);
      to.edits.touched.hooks[static_cast<std::size_t>(*point)] = true;
    } else if (unknown) {
      unknown = Error{.code = Errc::invalid,
                      .message = "invalid hook name " + cdi::quoted(name),
                      .where = item_path("hooks", i).append(".hookName")};
    }
  }
  return unknown;
}

/// Adds one set of edits to the joined edits. Fails for edits that no OCI spec can hold.
template <Storage S>
Result<void> join_one(const BasicContainerEdits<S>& edits, Joining& joining) {
  static_assert(field_count<BasicContainerEdits<S>>() == 7, "cdi: join each kind of edit");
  JoinedEdits& to = joining.edits;
  joining.add_views(edits.env, to.env);
  for (const auto& node : edits.device_nodes) {
    detail::join_members(node, to.nodes.emplace_back(), joining);
  }
  for (const auto& device : edits.net_devices) {
    detail::join_members(device, to.net_devices.emplace_back(), joining);
  }
  auto known = detail::join_hooks(edits.hooks, joining);
  for (const auto& mount : edits.mounts) detail::join_mount(mount, joining);
  if (edits.intel_rdt) detail::join_intel_rdt(*edits.intel_rdt, joining);
  for (const std::uint32_t gid : edits.additional_gids) {
    if (gid != 0) to.gids.push_back(gid);
  }
  to.touched.env = !to.env.empty();
  to.touched.devices = !to.nodes.empty();
  to.touched.net_devices = !to.net_devices.empty();
  to.touched.mounts = !to.mounts.empty();
  to.touched.intel_rdt |= edits.intel_rdt.has_value();
  to.touched.additional_gids = !to.gids.empty();
  return joining.utf8 ? std::move(known) : std::move(joining.utf8);
}

/// Reserves memory for the long lists. Fails if the edits are too large in total: each repetition
/// of a device's name adds its edits again.
template <Storage S>
Result<void> reserve(std::span<const BasicContainerEdits<S>* const> all, JoinedEdits& to) {
  constexpr std::size_t max = 2'000'000;
  std::size_t mounts = 0;
  std::size_t texts = 0;
  std::size_t others = 0;
  for (const auto* const edits : all) {
    mounts += edits->mounts.size();
    for (const auto& hook : edits->hooks) texts += hook.args.size() + hook.env.size();
    for (const auto& mount : edits->mounts) texts += mount.options.size();
    const auto& rdt = edits->intel_rdt;
    if (rdt && rdt->schemata) others += rdt->schemata->size();
    others += edits->env.size() + edits->device_nodes.size() + edits->net_devices.size() +
              edits->hooks.size() + edits->additional_gids.size();
    if (mounts + texts + others > max) {
      return Error{
          .code = Errc::limit,
          .message = "the edits have more than " + std::to_string(max) + " entries in total",
          .advice = all.size() > 1 ? "list each device only once" : ""};
    }
  }
  to.mounts.reserve(mounts);
  to.texts.reserve(texts);
  return {};
}

/// Fails if two net devices contradict each other.
template <Storage S>
Result<void> check_interfaces(std::span<const BasicContainerEdits<S>* const> all,
                              const JoinedEdits& joined) {
  auto conflict = detail::find_conflict(joined.net_devices);
  if (!conflict) return {};
  std::size_t set = 0;
  std::size_t index = conflict->index;
  for (; index >= all[set]->net_devices.size(); ++set) index -= all[set]->net_devices.size();
  Error error{.code = Errc::invalid,
              .message = std::move(conflict->message),
              .advice = "inject only one of the two, or correct the spec",
              .where = item_path("netDevices", index).append(".").append(conflict->member)};
  return about_edits(std::move(error), set);
}

template <Storage S>
Result<void> join(std::span<const BasicContainerEdits<S>* const> all, Texts texts,
                  const OptionalParts& places, JoinedEdits& to) {
  if (auto r = detail::reserve(all, to); !r) return r;  // not the fault of a single set of edits
  Joining joining{to, texts};
  for (std::size_t set = 0; set < all.size(); ++set) {
    if (auto r = detail::join_one(*all[set], joining); !r) {
      return about_edits(std::move(r).error(), set);
    }
    if (auto r = detail::check_parts(places, to.touched); !r) {
      return about_edits(std::move(r).error(), set);
    }
    to.nodes_end.push_back(to.nodes.size());
    to.mounts_end.push_back(to.mounts.size());
  }
  return detail::check_interfaces(all, to);
}

#ifdef CDI_SOURCE
template Result<void> join(std::span<const ContainerEdits* const>, Texts, const OptionalParts&,
                           JoinedEdits&);
template Result<void> join(std::span<const ContainerEditsView* const>, Texts, const OptionalParts&,
                           JoinedEdits&);
#endif

}  // namespace cdi::detail

#endif  // CDI_APPLY_JOINED_EDITS_INL
