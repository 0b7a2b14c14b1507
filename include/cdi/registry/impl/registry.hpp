// The bodies of <cdi/registry/registry.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_IMPL_REGISTRY_HPP
#define CDI_REGISTRY_IMPL_REGISTRY_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/order.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

template <class Text>
std::vector<std::size_t> sorted_order(const std::vector<Text>& texts) {
  return order_of(texts.size(), [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
}

/// Mixes a text into a hash, eight bytes at a time; what is left over as parts that overlap.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 32;
  };
  const auto load = [&]<class Word>(Word word, std::size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return std::uint64_t{word};
  };
  const auto size = text.size();
  for (; text.size() >= 8; text.remove_prefix(8)) mix(load(std::uint64_t{}, 0));
  std::uint64_t rest = 0;
  if (text.size() >= 4) {
    rest = load(std::uint32_t{}, 0) << 32 | load(std::uint32_t{}, text.size() - 4);
  } else if (!text.empty()) {
    rest = load(std::uint8_t{}, 0) << 16 | load(std::uint8_t{}, text.size() / 2) << 8 |
           load(std::uint8_t{}, text.size() - 1);
  }
  mix(rest ^ std::uint64_t{size} << 56);
  return hash;
}

/// The hash of a device, of which any bits will do.
inline std::uint32_t hash_of_device(std::string_view device, std::uint64_t kind_hash) {
  std::uint64_t hash = hash_of(device, kind_hash);
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(hash >> 32);
}

/// Which of several specs a device is taken from, the highest: that of the highest priority, and
/// of those one that is what its file holds now.
inline std::int64_t rank_of(const LoadedSpec& spec) {
  return std::int64_t{spec.priority} * 2 + (spec.fault == nullptr ? 1 : 0);
}

inline const Device* find_device(const Spec& spec, std::string_view name) {
  for (const auto& device : spec.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

inline Error conflict(const LoadedSpec& spec, const LoadedSpec& other, const Device& device,
                      std::size_t devices) {
  std::string message = "device " + detail::quoted(qualified_name(spec.spec.kind, device.name));
  if (devices > 1) message.append(" and ").append(std::to_string(devices - 1)).append(" more");
  message.append(devices > 1 ? " are" : " is").append(" also defined by ");
  message.append(detail::quoted(other.path)).append(", which has the same priority: keep only one");
  Error error{.code = Errc::conflict, .message = std::move(message)};
  error.position.file = spec.path;
  const auto* const mine = find_device(spec.spec, device.name);
  error.position.line = ResolvedDevice{&spec, mine}.line();
  error.position.column = error.position.line == 0 ? 0 : 1;
  return error;
}

/// Whether a file or directory was not looked into, so that nobody knows what it holds.
inline bool may_hold_specs(const Error& error) {
  const bool other_kind_of_file = error.system == EINVAL || error.system == EISDIR;
  return error.code == Errc::refused || error.code == Errc::limit ||
         (error.code == Errc::system && !other_kind_of_file);
}

inline Reason reason_of(const Error& error) {
  if (error.code == Errc::system) return Reason::unreadable;
  return error.code == Errc::refused ? Reason::refused : Reason::rejected;
}

/// Adds a cause; the first one gives the reason.
inline void blame(Reason reason, const Error& cause, Unresolved& out) {
  constexpr std::size_t most_named = 3;
  if (out.causes.empty()) {
    out.reason = reason;
    out.why.code = cause.code;
    out.why.system = cause.system;
    out.why.message = row_of(reason).meaning;
  }
  if (out.causes.size() < most_named) {
    out.why.message.append(out.causes.empty() ? ": " : "; ").append(to_string(cause));
  } else if (out.causes.size() == most_named) {
    out.why.message.append("; and more");
  }
  out.causes.push_back(cause);
}

inline void blame_file(const RejectedFile& file, Unresolved& out) {
  blame(reason_of(file.why), file.why, out);
  if (out.needs_version.empty()) out.needs_version = file.needs_version;
}

CDI_INLINE Error trace(Error error, const ResolvedDevice& origin) {
  error.add_outer("containerEdits");
  if (origin.device != nullptr) {
    const auto index = origin.device - origin.spec->spec.devices.data();
    error.add_outer(item_path("devices", static_cast<std::size_t>(index)));
  }
  error.position.file = origin.spec->path;
  return error;
}

}  // namespace detail

CDI_INLINE Registry::Found::Found() = default;
CDI_INLINE Registry::Found::~Found() = default;

CDI_INLINE Registry::Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                              std::vector<std::shared_ptr<const RejectedFile>> rejected,
                              std::vector<SpecDir> dirs)
    : specs_{std::move(specs)}, rejected_{std::move(rejected)}, dirs_{std::move(dirs)} {
  for (const auto& file : rejected_) errors_.push_back(file->why);
  for (const auto& spec : specs_) {
    if (spec->fault) errors_.push_back(*spec->fault);
    for (const auto& device : spec->quarantined) errors_.push_back(device.why);
  }
  add_devices();
  for (const auto& one : conflicts_) {
    errors_.push_back(detail::conflict(*one.spec, *one.other, *one.device, one.devices));
    errors_.push_back(detail::conflict(*one.other, *one.spec, *one.device, one.devices));
  }
}

CDI_INLINE ResolvedDevice Registry::find(std::string_view name) const {
  const Slot* slot = look_up(name);
  return slot == nullptr || slot->contested ? ResolvedDevice{} : device_of(*slot);
}

CDI_INLINE Result<ResolvedDevice> Registry::resolve(std::string_view name) const {
  const auto found = find(name);
  if (found.device != nullptr) return found;
  std::vector<Unresolved> missing;
  missing.push_back(explain(name, true));
  return join(missing);
}

CDI_INLINE std::vector<Unresolved> Registry::find_missing(detail::AnyNames names,
                                                          std::size_t with_nearest) const {
  std::vector<Unresolved> out;
  names.each([&](std::string_view name) {
    if (find(name).device == nullptr) out.push_back(explain(name, out.size() < with_nearest));
  });
  return out;
}

CDI_INLINE Result<void> Registry::require_all(detail::AnyNames names) const {
  const auto missing = find_missing(names, 8);
  if (missing.empty()) return {};
  return join(missing);
}

CDI_INLINE Result<void> Registry::find_all(detail::AnyNames names, Found& out) const {
  if (auto all = require_all(names); !all) return all;
  names.each([&](std::string_view name) {
    const auto found = find(name);
    bool seen = false;
    for (const auto& other : out.origins) seen = seen || other.spec == found.spec;
    if (!seen) {
      out.edits.push_back(&found.spec->spec.container_edits);
      out.origins.push_back({found.spec, nullptr});
    }
    out.edits.push_back(&found.device->container_edits);
    out.origins.push_back(found);
  });
  return {};
}

CDI_INLINE std::vector<std::string> Registry::devices() const {
  std::vector<std::string> names;
  for (const auto& slot : slots_) {
    if (slot.device == nullptr || slot.contested) continue;
    const auto found = device_of(slot);
    names.push_back(qualified_name(found.spec->spec.kind, found.device->name));
  }
  std::vector<std::string> sorted;
  sorted.reserve(names.size());
  for (const auto i : detail::sorted_order(names)) sorted.push_back(std::move(names[i]));
  return sorted;
}

CDI_INLINE std::vector<std::string_view> Registry::vendors() const {
  return parts(&QualifiedName::vendor);
}

CDI_INLINE std::vector<std::string_view> Registry::classes() const {
  return parts(&QualifiedName::device_class);
}

CDI_INLINE std::uint64_t Registry::hash_of_kind(std::string_view kind) const {
  return detail::hash_of(kind, seed_);
}

CDI_INLINE std::uint64_t Registry::make_seed() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // <chrono> is dear to include
  const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                           static_cast<std::uint64_t>(now.tv_nsec);
  return nanoseconds ^ reinterpret_cast<std::uintptr_t>(this) << 20;
}

CDI_INLINE ResolvedDevice Registry::device_of(const Slot& slot) const {
  return {specs_[slot.spec].get(), slot.device};
}

CDI_INLINE std::size_t Registry::place_of(std::uint32_t hash, std::string_view kind,
                                          std::string_view device) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.device == nullptr) return i;
    if (slot.hash != hash) continue;
    if (slot.device->name == device && specs_[slot.spec]->spec.kind == kind) return i;
  }
}

CDI_INLINE const Registry::Slot* Registry::look_up(std::string_view name) const {
  const auto equals = name.find('=');
  if (equals == std::string_view::npos || slots_.empty()) return nullptr;
  const auto kind = name.substr(0, equals);
  const auto device = name.substr(equals + 1);
  const auto hash = detail::hash_of_device(device, hash_of_kind(kind));
  const Slot& slot = slots_[place_of(hash, kind, device)];
  return slot.device == nullptr ? nullptr : &slot;
}

CDI_INLINE void Registry::add_devices() {
  std::size_t devices = 0;
  for (const auto& spec : specs_) devices += spec->spec.devices.size();
  if (devices == 0) return;
  std::size_t slots = 2;
  while (slots < devices + devices / 3 + 1) slots *= 2;
  slots_.resize(slots);
  const auto by_rank = detail::order_of(specs_.size(), [&](std::size_t a, std::size_t b) {
    return detail::rank_of(*specs_[a]) < detail::rank_of(*specs_[b]);
  });
  for (const auto i : by_rank) {
    const auto kind_hash = hash_of_kind(specs_[i]->spec.kind);
    for (const auto& device : specs_[i]->spec.devices) {
      add({.device = &device,
           .hash = detail::hash_of_device(device.name, kind_hash),
           .spec = static_cast<std::uint32_t>(i) & 0x7fffffff});
    }
  }
}

CDI_INLINE void Registry::add(const Slot& slot) {
  const auto added = device_of(slot);
  Slot& place = slots_[place_of(slot.hash, added.spec->spec.kind, added.device->name)];
  if (place.device == nullptr) {
    place = slot;
    return;
  }
  const auto first = device_of(place);
  if (first.spec == added.spec) return;  // given twice
  if (detail::rank_of(*first.spec) < detail::rank_of(*added.spec)) {
    place = slot;
    return;
  }
  place.contested = 1;
  for (auto i = conflicts_.size(); i > 0 && conflicts_[i - 1].other == added.spec; --i) {
    if (conflicts_[i - 1].spec != first.spec) continue;
    ++conflicts_[i - 1].devices;
    return;
  }
  conflicts_.push_back({first.spec, added.spec, added.device, 1});
}

CDI_INLINE Unresolved Registry::explain(std::string_view name, bool with_nearest) const {
  Unresolved out{.name = std::string{name}};
  out.why.code = Errc::not_found;
  const auto parsed = parse_name(name);
  if (const Slot* slot = look_up(name)) {
    explain_conflict(device_of(*slot), out);
  } else if (!parsed) {
    out.why = qualified_name_error(name);
  } else {
    const auto kind = name.substr(0, name.find('='));
    if (!explain_faulty_file(kind, parsed->device, out))
      explain_unknown(kind, *parsed, with_nearest, out);
  }
  out.why.message.insert(0, "cannot resolve " + detail::quoted(name) + ": ");
  return out;
}

CDI_INLINE void Registry::explain_conflict(const ResolvedDevice& found, Unresolved& out) const {
  out.reason = Reason::conflict;
  const LoadedSpec* rival = nullptr;
  for (const auto& spec : specs_) {
    const bool has = detail::rank_of(*spec) == detail::rank_of(*found.spec) &&
                     spec.get() != found.spec && spec->spec.kind == found.spec->spec.kind &&
                     detail::find_device(spec->spec, found.device->name) != nullptr;
    if (!has) continue;
    if (rival == nullptr) rival = spec.get();
    out.causes.push_back(detail::conflict(*spec, *found.spec, *found.device, 1));
  }
  out.causes.insert(out.causes.begin(), detail::conflict(*found.spec, *rival, *found.device, 1));
  out.why.code = Errc::conflict;
  out.why.message = "both " + detail::quoted(found.spec->path) + " and " +
                    detail::quoted(rival->path) +
                    " define it, with the same priority: keep only one";
}

CDI_INLINE bool Registry::explain_faulty_file(std::string_view kind, std::string_view device,
                                              Unresolved& out) const {
  for (const auto& spec : specs_) {
    if (spec->spec.kind != kind) continue;
    for (const auto& one : spec->quarantined) {
      if (one.name == device) detail::blame(Reason::quarantined, one.why, out);
    }
    if (spec->fault) detail::blame(detail::reason_of(*spec->fault), *spec->fault, out);
  }
  for (const auto& file : rejected_) {
    bool may_have_it = file->devices.empty();
    for (const auto& name : file->devices) may_have_it = may_have_it || name == device;
    if (file->kind == kind && may_have_it) detail::blame_file(*file, out);
  }
  if (!out.causes.empty() || knows(kind)) return !out.causes.empty();
  // Nobody knows of the kind: files and directories that could not be looked into may be of it.
  for (const auto& file : rejected_) {
    const bool unseen = file->kind.empty() && detail::may_hold_specs(file->why);
    if (file->kind == kind || (unseen && file->why.code != Errc::limit))
      detail::blame_file(*file, out);
  }
  return !out.causes.empty();
}

CDI_INLINE bool Registry::knows(std::string_view kind) const {
  for (const auto& spec : specs_) {
    if (spec->spec.kind == kind) return true;
  }
  return false;
}

CDI_INLINE void Registry::explain_unknown(std::string_view kind, const QualifiedName& parsed,
                                          bool with_nearest, Unresolved& out) const {
  detail::FirstNames known;
  const bool has_kind = knows(kind);
  detail::NearestNames nearest{has_kind ? parsed.device : kind};
  for (const auto& spec : specs_) {
    if (!has_kind) {
      const auto other = parse_kind(spec->spec.kind);
      nearest.add(spec->spec.kind, other && (other->vendor == parsed.vendor ||
                                             other->device_class == parsed.device_class));
      known.add(spec->spec.kind);
    } else if (with_nearest && spec->spec.kind == kind) {
      for (const auto& device : spec->spec.devices) {
        nearest.add(device.name);
        known.add(device.name);
      }
    }
  }
  for (const auto& file : rejected_) {
    if (!has_kind && !file->kind.empty()) nearest.add(file->kind);
    // Of a kind that is there, only what nobody could look into may hold more.
    if (file->kind.empty() && (!has_kind || detail::may_hold_specs(file->why))) {
      out.causes.push_back(file->why);
    }
  }
  std::string like;
  for (std::size_t i = 0; i < nearest.names().size(); ++i) {
    const auto near = nearest.names()[i];
    like.append(like.empty() ? "" : ", ").append(detail::escaped(near));
    out.nearest.push_back(has_kind ? qualified_name(kind, near) : std::string{near});
  }
  auto& message = out.why.message;
  if (has_kind) {
    out.reason = Reason::unknown_device;
    message = "kind " + detail::quoted(kind) + " has no device " + detail::quoted(parsed.device);
    if (!with_nearest) return;
    message.append(like.empty() ? "; it has: " + known.text() : "; nearest: " + like);
    return;
  }
  out.reason = Reason::unknown_kind;
  message = "no spec of kind " + detail::quoted(kind);
  if (!like.empty()) {
    message.append("; nearest: ").append(like);
  } else if (!known.empty() || dirs_.empty()) {
    message.append("; kinds known: ").append(known.text());
  } else {
    bool missing = true;
    for (const auto& dir : dirs_) missing = missing && dir.state == SpecDir::State::missing;
    if (missing) out.reason = Reason::no_directory;
    message.append(missing ? "; missing:" : "; no valid specs in:");
    for (const auto& dir : dirs_) message.append(" ").append(detail::escaped(dir.path));
  }
}

CDI_INLINE Error Registry::join(const std::vector<Unresolved>& missing) const {
  Error error = missing.front().why;
  bool blamed = !is_unknown(missing.front().reason);
  for (std::size_t i = 1; i < missing.size(); ++i) {
    error.message.append("; ").append(missing[i].why.message);
    blamed = blamed && !is_unknown(missing[i].reason);
  }
  constexpr std::size_t most = 3;
  std::size_t unused = 0;
  for (const auto& other : errors_) {
    if (blamed || other.code == Errc::conflict || ++unused > most) continue;
    error.message.append("; not used: ").append(to_string(other));
  }
  if (unused > most) {
    error.message.append("; and ").append(std::to_string(unused - most)).append(" more");
  }
  return error;
}

CDI_INLINE std::vector<std::string_view> Registry::parts(
    std::string_view QualifiedName::*part) const {
  std::vector<std::string_view> found;
  for (const auto& spec : specs_) {
    if (const auto kind = parse_kind(spec->spec.kind)) found.push_back((*kind).*part);
  }
  std::vector<std::string_view> out;
  for (const auto i : detail::sorted_order(found)) {
    if (out.empty() || out.back() != found[i]) out.push_back(found[i]);
  }
  return out;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_IMPL_REGISTRY_HPP
