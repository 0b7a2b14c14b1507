// The bodies of <cdi/rules/minimum_version.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_MINIMUM_VERSION_INL
#define CDI_RULES_MINIMUM_VERSION_INL

#include <cstdint>

#include <cdi/base/result.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/name.hpp>

namespace cdi::inline CDI_ABI {

#if CDI_BODIES
CDI_INLINE std::optional<SpecVersion> parse_spec_version(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  for (const SpecVersion version : known_versions) {
    if (cdi::to_string(version) == text) return version;
  }
  return std::nullopt;
}

namespace detail {

CDI_INLINE std::string spec_version_names() {
  std::string names;
  for (const SpecVersion version : spec_versions) {
    names.append(names.empty() ? "" : ", ").append(cdi::to_string(version));
  }
  return names;
}

}  // namespace detail
#endif  // CDI_BODIES

namespace detail {

/// The versions that fields need, for each object type in a spec.
class FieldNeeds {
 public:
  /// Computes the needs of an object type and of the object types inside it.
  explicit FieldNeeds(const Type& object) { add(object); }

  /// The lifetime common to all fields inside an object, a list or an optional.
  const Lifetime& in(const Type& type) const { return needs_[find(object_of(type))]; }

 private:
  /// Returns the item type of a list or optional, or the type itself.
  static const Type& object_of(const Type& type) {
    return type.shape == Shape::list || type.shape == Shape::optional ? *type.item : type;
  }

  /// Returns the index of a type; `count_` if unknown.
  std::size_t find(const Type& object) const {
    std::size_t i = object.shape == Shape::object ? 0 : count_;
    while (i < count_ && types_[i] != &object) ++i;
    return i;
  }

  void add(const Type& type) {
    const Type& object = object_of(type);
    if (object.shape != Shape::object || find(object) != count_) return;
    Lifetime needs;
    for (std::size_t i = 0; i < object.field_count; ++i) {
      const FieldRow& row = object.fields[i];
      add(*row.type);
      for (const Lifetime& other : {row.lifetime, in(*row.type)}) {
        if (other.since > needs.since) needs.since = other.since;
        if (other.until < needs.until) needs.until = other.until;
      }
    }
    types_[count_] = &object;
    needs_[count_] = needs;
    ++count_;
  }

  static constexpr std::size_t max = 16;  // a spec needs 8

  const Type* types_[max] = {};
  Lifetime needs_[max] = {};  // indexed like the types; the last entry is empty
  std::size_t count_ = 0;
};

/// Returns a spec's needs, computed once. Not a constant: g++ with UBSan does not accept table
/// addresses as constants.
template <Storage S>
const FieldNeeds& field_needs() {
  static const FieldNeeds needs{type_of<BasicSpec<S>>};
  return needs;
}

/// Which members to examine.
enum class NeededBy : std::uint8_t {
  all,
  /// The members that the Go reference examines. Because of a bug, the reference ignores host paths
  /// and mount types in all devices except the last.
  reference,
  earlier_device,  ///< the same, of a device that is not the last
};

/// Finds what a spec's fields need: each nonempty field needs a version that defines it. Members
/// that cannot change the result are skipped.
class NeedFinder {
 public:
  /// Updates `need`, which contains the result so far.
  NeedFinder(VersionNeed& need, const FieldNeeds& field_needs, NeededBy members)
      : need_{need}, field_needs_{field_needs}, members_{members} {}

  /// Narrows the result to the need of a device's name.
  void add_name(std::string_view name, const MemberPath& device) {
    if (!name.empty() && is_digit(name.front())) narrow(SpecVersion{0, 5, 0}, {&device, "name"});
  }

  /// Narrows the result to the lifetime of one member.
  void narrow(const Lifetime& lifetime, const MemberPath& at) {
    if (lifetime.since > need_.version) {
      need_.version = lifetime.since;
      need_.where = at.text();
    }
    if (lifetime.until < need_.until) {
      need_.until = lifetime.until;
      need_.until_where = at.text();
      need_.until_instead = lifetime.instead;
    }
  }

  /// Narrows the result to the needs of an object's members.
  void add_object(const void* self, const Type& type, const MemberPath& at) {
    FieldPointers pointers;
    type.pointers(as_mutable(self), pointers);
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const FieldRow& row = type.fields[i];
      const bool has_needs = narrows(field_needs_.in(*row.type));
      if ((!has_needs && !narrows(row.lifetime)) || is_empty(pointers[i], *row.type)) continue;
      if (earlier_device_ && (row.key == "hostPath" || row.key == "type")) continue;
      const MemberPath field{&at, row.key};
      narrow(row.lifetime, field);
      if (has_needs) add(pointers[i], *row.type, field);
    }
  }

 private:
  bool narrows(const Lifetime& lifetime) const {
    return lifetime.since > need_.version || lifetime.until < need_.until;
  }

  /// Narrows the result to the needs of an object, of a list's items, or of an optional's value.
  void add(void* self, const Type& type, const MemberPath& at) {
    if (type.shape == Shape::object) return add_object(self, type, at);
    const Items items = type.items(self);
    const bool devices = members_ == NeededBy::reference && at.key == "devices";
    for (std::size_t i = 0; i < items.size; ++i) {
      if (devices) earlier_device_ = i + 1 < items.size;
      const bool list = type.shape == Shape::list;
      const MemberPath item{at.outer, at.key, list ? i : MemberPath::no_index};
      add_object(nth(items, i, *type.item), *type.item, item);
    }
  }

  VersionNeed& need_;
  const FieldNeeds& field_needs_;
  const NeededBy members_;
  // Inside a device whose host paths and mount types are ignored.
  bool earlier_device_ = members_ == NeededBy::earlier_device;
};

/// Implements `minimum_need`, but skips members that version `known` already defines.
template <Storage S>
VersionNeed minimum_need_from(const BasicSpec<S>& spec, SpecVersion known,
                              NeededBy members = NeededBy::all) {
  VersionNeed need{.version = known};
  NeedFinder finder{need, field_needs<S>(), members};
  finder.add_object(&spec, type_of<BasicSpec<S>>, {});
  for (std::size_t i = 0; i < spec.devices.size() && need.version < SpecVersion{0, 5, 0}; ++i) {
    finder.add_name(spec.devices[i].name, {nullptr, "devices", i});
  }
  const std::string_view kind = spec.kind;
  const auto slash = kind.find('/');
  if (slash != std::string_view::npos && kind.find('.', slash) != std::string_view::npos) {
    finder.narrow(SpecVersion{0, 6, 0}, {nullptr, "kind"});
  }
  return need;
}

/// The same for one device; paths begin at the device.
template <Storage S>
VersionNeed minimum_need_from(const BasicDevice<S>& device, SpecVersion known, NeededBy members) {
  VersionNeed need{.version = known};
  NeedFinder finder{need, field_needs<S>(), members};
  finder.add_object(&device, type_of<BasicDevice<S>>, {});
  finder.add_name(device.name, {});
  return need;
}

}  // namespace detail

template <Storage S>
VersionNeed minimum_need(const BasicSpec<S>& spec) {
  return detail::minimum_need_from(spec, SpecVersion{});
}

#ifdef CDI_SOURCE
template VersionNeed minimum_need(const BasicSpec<Owning>&);
template VersionNeed minimum_need(const BasicSpec<Borrowed>&);
#endif

}  // namespace cdi

#endif  // CDI_RULES_MINIMUM_VERSION_INL
