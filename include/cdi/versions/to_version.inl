// The bodies of <cdi/versions/to_version.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_VERSIONS_TO_VERSION_INL
#define CDI_VERSIONS_TO_VERSION_INL

#include <array>
#include <cassert>
#include <cstddef>
#include <string_view>
#include <utility>

#include <cdi/model/copy_as.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/minimum_version.inl>
#include <cdi/rules/mount_options.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/rules/validate.inl>
#include <cdi/text/one_line.hpp>
#include <cdi/versions/to_version.hpp>

namespace cdi::inline CDI_ABI {

#if CDI_BODIES
CDI_INLINE Error to_error(const Loss& loss) {
  return {.code = Errc::unsupported,
          .message = loss.what + " is lost: " + loss.breaks,
          .where = loss.where};
}
#endif  // CDI_BODIES

namespace detail {

/// The effect of losing a field.
struct Consequence {
  std::string_view key;
  std::string_view breaks;
};

inline constexpr std::array<Consequence, 7> consequences{{
    {"annotations", "nothing changes in the container, but tools that read annotations miss them"},
    {"hostPath", "the host node at path is used instead: a different node, or none"},
    {"type", "the runtime does not know how to mount it, and may refuse to start the container"},
    {"netDevices", "the network interfaces stay on the host"},
    {"intelRdt", "the container runs without these cache and memory bandwidth settings"},
    {"additionalGids", "a process that is not root may lack the groups that open the devices"},
    {"schemata",
     "these cache and memory bandwidth limits are not set; without other limits, runtimes reject a "
     "closID that does not exist"},
}};

inline std::string_view consequence_of_losing(std::string_view key) {
  for (const auto& [lost, breaks] : consequences) {
    if (lost == key) return breaks;
  }
  return "it has no effect";
}

/// `hostPath` has no effect when it equals `path`, or when no lookup on the host is needed.
template <class S>
bool is_needless(const BasicDeviceNode<S>& node, std::string_view key) {
  if (key != "hostPath") return false;
  const bool has_numbers = !node.type.empty() && (node.major != 0 || node.type == "p");
  return node.host_path == node.path || (has_numbers && node.file_mode);
}

/// The options `bind` and `rbind` have the same effect as the type `bind`.
template <class S>
bool is_needless(const BasicMount<S>& mount, std::string_view key) {
  return key == "type" && mount.type == "bind" && has_bind(mount.options);
}

/// An empty list of schemata sets no limit.
template <class S>
bool is_needless(const BasicIntelRdt<S>& rdt, std::string_view key) {
  return key == "schemata" && rdt.schemata->empty();
}

/// Returns whether an object is a `T` with a member that has no effect.
template <class T>
bool is_needless_in(const void* owner, const Type& type, std::string_view key) {
  return &type == &type_of<T> && is_needless(*static_cast<const T*>(owner), key);
}

/// Returns whether a member of an object has no effect.
template <class S>
bool is_needless(const void* owner, const Type& type, std::string_view key) {
  return is_needless_in<BasicDeviceNode<S>>(owner, type, key) ||
         is_needless_in<BasicMount<S>>(owner, type, key) ||
         is_needless_in<BasicIntelRdt<S>>(owner, type, key);
}

/// enableMonitoring of 1.1.0 replaces enableCMT and enableMBM of older versions.
template <class S>
void translate_monitoring(BasicContainerEdits<S>& edits, SpecVersion version) {
  if (!edits.intel_rdt) return;
  auto& rdt = *edits.intel_rdt;
  if (version >= SpecVersion{1, 1, 0}) {
    rdt.enable_monitoring = rdt.monitors();
    rdt.enable_cmt.reset();
    rdt.enable_mbm.reset();
  } else if (version >= SpecVersion{0, 7, 0} && rdt.enable_monitoring) {
    rdt.enable_monitoring = false;
    rdt.enable_cmt = true;
    rdt.enable_mbm = true;
  }
}

/// Resets a member to its default value.
inline void clear(void* self, const Type& type) {
  switch (type.shape) {
    case Shape::boolean: *static_cast<bool*>(self) = false; return;
    case Shape::integer: return store_integer(self, type, 0);
    case Shape::text: return type.set_text(self, {});
    case Shape::list:
    case Shape::dict:
    case Shape::optional: type.make(self, 0); return;
    case Shape::any_value:
    case Shape::any_member:
    case Shape::object: break;
  }
  FieldPointers pointers;
  type.pointers(self, pointers);
  for (std::size_t i = 0; i < type.field_count; ++i) clear(pointers[i], *type.fields[i].type);
}

/// Removes from a spec what a version lacks, and records the losses. As a template, this class
/// costs compile time only in programs that convert specs.
template <class S>
class SpecConverter {
 public:
  SpecConverter(SpecVersion version, std::string_view kind) : version_{version}, kind_{kind} {}

  void convert(BasicSpec<S>& spec) { convert_fields(&spec, type_of<BasicSpec<S>>, ""); }

  std::vector<Loss> take_losses() && { return std::move(losses_); }

 private:
  void convert_fields(void* owner, const Type& type, const std::string& where) {
    FieldPointers pointers;
    type.pointers(owner, pointers);
    for (std::size_t i = 0; i < type.field_count; ++i) {
      const FieldRow& row = type.fields[i];
      if (detail::is_empty(pointers[i], *row.type)) continue;
      std::string path = where;
      path.append(where.empty() ? "" : ".").append(row.key);
      if (row.lifetime.has(version_)) {
        convert_inside(pointers[i], *row.type, path);
        continue;
      }
      if (!is_needless<S>(owner, type, row.key)) lose_member(pointers[i], row, std::move(path));
      detail::clear(pointers[i], *row.type);
    }
  }

  void lose_member(const void* member, const FieldRow& row, std::string path) {
    std::string what{row.key};
    what.append(" ").append(detail::on_one_line(member, *row.type));
    what.append(" (since ").append(cdi::to_string(row.lifetime.since)).append(")");
    losses_.push_back({.where = std::move(path),
                       .what = std::move(what),
                       .breaks = std::string{detail::consequence_of_losing(row.key)}});
  }

  void convert_inside(void* self, const Type& type, const std::string& where) {
    if (type.shape == Shape::object) return convert_fields(self, type, where);
    if (type.item == nullptr || type.item->shape != Shape::object) return;
    if (type.item == &type_of<BasicDevice<S>>) {
      return convert_devices(*static_cast<ListOf<S, BasicDevice<S>>*>(self), where);
    }
    const Items items = type.items(self);
    for (std::size_t i = 0; i < items.size; ++i) {
      const bool list = type.shape == Shape::list;
      convert_fields(nth(items, i, *type.item), *type.item,
                     list ? detail::item_path(where, i) : where);
    }
  }

  /// Removes the devices whose names the version does not allow, and those without edits.
  void convert_devices(ListOf<S, BasicDevice<S>>& devices, const std::string& where) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!keep(devices[i], detail::item_path(where, i))) continue;
      if (kept != i) devices[kept] = std::move(devices[i]);
      ++kept;
    }
    devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(kept), devices.end());
  }

  bool keep(BasicDevice<S>& device, const std::string& where) {
    if (!allows_name(device)) {
      lose_device(device, where,
                  " (names may begin with a digit since 0.5.0: rename it, or convert to 0.5.0)");
      return false;
    }
    convert_fields(&device, type_of<BasicDevice<S>>, where);
    if (!cdi::is_empty(device.container_edits)) return true;
    lose_device(device, where, " (no edits are left)");
    return false;
  }

  bool allows_name(const BasicDevice<S>& device) const {
    BasicSpec<S> named;
    named.devices.push_back({.name = device.name});
    return cdi::minimum_version(named) <= version_;
  }

  void lose_device(const BasicDevice<S>& device, const std::string& where,
                   std::string_view reason) {
    losses_.push_back(
        {.where = where,
         .what = "device " + cdi::quoted(device.name).append(reason),
         .breaks = cdi::quoted(qualified_name(kind_, device.name)) + " cannot be requested"});
  }

  SpecVersion version_;
  std::string_view kind_;
  std::vector<Loss> losses_{};
};

inline Result<void> check_target(SpecVersion version) {
  for (const SpecVersion known : spec_versions) {
    if (known == version) return {};
  }
  return Error{.code = Errc::unsupported,
               .message = "a spec cannot have CDI version " + cdi::to_string(version),
               .advice = "use one of " + spec_version_names()};
}

/// A spec without its class is useless, because no name leads to its devices.
template <class S>
Result<void> check_target_has_kind(SpecVersion version, const BasicSpec<S>& spec) {
  const SpecVersion needed = cdi::minimum_version(BasicSpec<S>{.kind = spec.kind});
  if (needed <= version) return {};
  return Error{.code = Errc::unsupported,
               .message = "kind " + cdi::quoted(spec.kind) + " has a dot in its class, which " +
                          cdi::to_string(version) + " does not allow",
               .advice = "rename it, or convert to " + cdi::to_string(needed) + " or newer",
               .where = "kind"};
}

/// Returns the error for a spec without devices, with the reason why the first device is lost.
inline Error no_device_left(SpecVersion version, const std::vector<Loss>& losses) {
  Error error{.code = Errc::unsupported,
              .message = cdi::to_string(version) + " cannot express any of the devices",
              .where = "devices"};
  for (const auto& loss : losses) {
    if (loss.where == "devices[0]") error.message.append("; ").append(to_error(loss).message);
  }
  return error;
}

/// Returns the first loss as an error, which also names the next few losses.
inline Error rejection(const std::vector<Loss>& losses) {
  constexpr std::size_t named = 4;
  Error error = to_error(losses.front());
  for (std::size_t i = 1; i < losses.size() && i <= named; ++i) {
    error.message.append(i == 1 ? "; also lost: " : ", ").append(losses[i].where);
  }
  if (losses.size() > named + 1) {
    error.message.append(" and ").append(std::to_string(losses.size() - named - 1)).append(" more");
  }
  return error;
}

}  // namespace detail

template <class S>
Result<ConvertedSpec> to_version(const BasicSpec<S>& spec, SpecVersion version, Losses losses) {
  if (auto known = detail::check_target(version); !known) return std::move(known).error();
  if (auto valid = cdi::validate(spec); !valid) return std::move(valid).error();
  if (auto r = detail::check_target_has_kind(version, spec); !r) return std::move(r).error();
  ConvertedSpec converted;
  detail::copy_value(spec, converted.spec);
  converted.spec.version = cdi::to_string(version);
  detail::translate_monitoring(converted.spec.container_edits, version);
  for (auto& device : converted.spec.devices) {
    detail::translate_monitoring(device.container_edits, version);
  }
  detail::SpecConverter<Owning> converter{version, spec.kind};
  converter.convert(converted.spec);
  converted.losses = std::move(converter).take_losses();
  if (converted.spec.devices.empty()) return detail::no_device_left(version, converted.losses);
  if (losses == Losses::reject && !converted.losses.empty())
    return detail::rejection(converted.losses);
  assert(cdi::validate(converted.spec));
  return converted;
}

#ifdef CDI_SOURCE
template Result<ConvertedSpec> to_version(const BasicSpec<Owning>&, SpecVersion, Losses);
template Result<ConvertedSpec> to_version(const BasicSpec<Borrowed>&, SpecVersion, Losses);
#endif

}  // namespace cdi

#endif  // CDI_VERSIONS_TO_VERSION_INL
