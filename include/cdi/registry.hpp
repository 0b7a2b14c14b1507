// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_HPP
#define CDI_REGISTRY_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply.hpp>
#include <cdi/host.hpp>
#include <cdi/name.hpp>
#include <cdi/order.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/unresolved.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A device that was left out of its spec because its own definition is not valid.
struct QuarantinedDevice {
  std::string name{};  ///< as the file has it; empty when it has none
  Error why{};         ///< with its place in the file, `where` seen from the spec
};

/// A valid spec, and where it comes from.
struct LoadedSpec {
  Spec spec{};                    ///< valid, without the devices in `quarantined`
  std::string path{};             ///< of its file, or the name given to its text
  int priority = 0;               ///< of its directory; the higher wins
  std::vector<Error> warnings{};  ///< what is doubtful about the file; `rule` says which rule
  /// Of the devices, each where it begins, from 1; empty when it was not read from a text.
  std::vector<std::uint32_t> lines{};
  std::string digest{};  ///< of the bytes that were parsed: see `ReadOptions::digest`
  /// What was left out: see `ReadOptions::quarantine_devices`.
  std::vector<QuarantinedDevice> quarantined{};
  /// What is wrong with the file now, when `spec` is what it held before; null when nothing is.
  std::shared_ptr<const Error> fault{};
};

/// A spec file that gives no devices, or a directory that cannot be listed.
struct RejectedFile {
  Error why{};                         ///< with the path in `position.file`
  std::string kind{};                  ///< of its devices, as far as that can be told; else empty
  std::vector<std::string> devices{};  ///< their names, likewise; empty when more than 1000
  std::string needs_version{};         ///< the CDI release that it needs, when that is the fault
};

/// A spec directory as the last look found it.
struct SpecDir {
  /// What became of a directory.
  enum class State : std::uint8_t {
    read,        ///< its files were looked at
    missing,     ///< not there, which is no error
    unreadable,  ///< not listed; the reason is among the errors of the registry
  };

  std::string path{};            ///< as `clean_path` makes it
  int priority = 0;              ///< the place in the list of directories, from 0; the higher wins
  State state = State::missing;  ///< what became of it
  std::size_t specs = 0;         ///< its files that give a spec

  friend bool operator==(const SpecDir&, const SpecDir&) = default;
};

/// A device and the spec that provides it. Valid as long as the registry that answered.
struct ResolvedDevice {
  const LoadedSpec* spec = nullptr;  ///< the spec that has the device; null when there is none
  const Device* device = nullptr;    ///< in `spec`; null when there is none

  /// The line of the file where the device begins, from 1; 0 when it was not read from a text. Only
  /// when there is a device.
  std::uint32_t line() const {
    const auto index = static_cast<std::size_t>(device - spec->spec.devices.data());
    return index < spec->lines.size() ? spec->lines[index] : 0;
  }
};

/// An index of the devices of many specs. Built once, then only read: any number of threads may use
/// one, and copies share the specs. Lookup does not allocate; its cost does not grow with the
/// number of devices.
///
/// Of a device that several specs provide, the one of the highest priority counts; of one priority,
/// one with `LoadedSpec::fault` only when no other provides it. When two such specs of that
/// priority provide it, nobody can tell which is meant, and it cannot be resolved. A conflict of
/// those that do not count does not matter.
class Registry {
 public:
  /// A registry that resolves nothing.
  Registry() = default;

  /// `specs` are valid, and none is null; `rejected` tells of files and directories that gave none;
  /// `dirs` where all of it was looked for. Costs one hash for each device.
  explicit Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                    std::vector<std::shared_ptr<const RejectedFile>> rejected = {},
                    std::vector<SpecDir> dirs = {})
      : specs_{std::move(specs)}, rejected_{std::move(rejected)}, dirs_{std::move(dirs)} {
    for (const auto& file : rejected_) errors_.push_back(file->why);
    for (const auto& spec : specs_) {
      if (spec->fault) errors_.push_back(*spec->fault);
      for (const auto& device : spec->quarantined) errors_.push_back(device.why);
    }
    add_devices();
    for (const auto& one : conflicts_) {
      errors_.push_back(conflict(*one.spec, *one.other, *one.device, one.devices));
      errors_.push_back(conflict(*one.other, *one.spec, *one.device, one.devices));
    }
  }

  /// The device of a qualified name, or null pointers: when no spec has it, and when two of one
  /// priority do. Does not allocate. Valid as long as the registry, or a copy of it.
  ResolvedDevice find(std::string_view name) const {
    const Slot* slot = look_up(name);
    return slot == nullptr || slot->contested ? ResolvedDevice{} : device_of(*slot);
  }

  /// The device of a qualified name, or why there is none; also which files were not used. The
  /// error is `Errc::invalid_name`, `Errc::not_found`, `Errc::conflict`, or that of the file to
  /// blame, with its code. Valid as long as the registry, or a copy of it.
  Result<ResolvedDevice> resolve(std::string_view name) const {
    const auto found = find(name);
    if (found.device != nullptr) return found;
    std::vector<Unresolved> missing;
    missing.push_back(explain(name, true));
    return join(missing);
  }

  /// Those of the names that cannot be resolved, in the order given, each time they are named. The
  /// first few, `with_nearest`, come with names that resemble them, which costs a look at every
  /// device of the kind for each.
  template <class Names>
  std::vector<Unresolved> unresolved(const Names& names, std::size_t with_nearest = 8) const {
    std::vector<Unresolved> out;
    for (const auto& item : names) {  // bound first: it may be a temporary
      const std::string_view name = item;
      if (find(name).device == nullptr) out.push_back(explain(name, out.size() < with_nearest));
    }
    return out;
  }
  /// The same for names in braces.
  std::vector<Unresolved> unresolved(std::initializer_list<std::string_view> names,
                                     std::size_t with_nearest = 8) const {
    return unresolved(std::span<const std::string_view>{names.begin(), names.size()}, with_nearest);
  }

  /// Success when all names can be resolved; else all reasons as one error, with the code of the
  /// first.
  template <class Names>
  Result<void> require(const Names& names) const {
    const auto missing = unresolved(names);
    if (missing.empty()) return {};
    return join(missing);
  }

  /// Injects devices into an OCI spec, all or none: for each name the edits of its spec, once, and
  /// then its own. After an error the target is as it was. Same rules as `apply`. A name given
  /// twice is injected twice, as by the Go reference; no names change nothing.
  ///
  /// Errors are those of `require`, and those of `apply` with the file in `position.file` and
  /// `where` seen from its spec.
  template <Editable OciSpec, class Names, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, const Names& names, const Host& host = {}) const {
    if (auto all = require(names); !all) return all;
    std::vector<const ContainerEdits*> edits;
    std::vector<ResolvedDevice> origins;  // of the edits; without a device for those of a spec
    for (const auto& item : names) {
      const std::string_view name = item;
      const auto found = find(name);
      bool seen = false;
      for (const auto& other : origins) seen = seen || other.spec == found.spec;
      if (!seen) {
        edits.push_back(&found.spec->spec.container_edits);
        origins.push_back({found.spec, nullptr});
      }
      edits.push_back(&found.device->container_edits);
      origins.push_back(found);
    }
    if (edits.empty()) return {};
    std::size_t failed = 0;
    auto done = apply(std::span<const ContainerEdits* const>{edits}, target, host, failed);
    if (done || failed >= origins.size()) return done;
    return trace(std::move(done).error(), origins[failed]);
  }
  /// The same for names in braces.
  template <Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, std::initializer_list<std::string_view> names,
                      const Host& host = {}) const {
    return inject(target, std::span<const std::string_view>{names.begin(), names.size()}, host);
  }

  /// The qualified names of all devices that can be resolved, sorted by bytes.
  std::vector<std::string> devices() const {
    std::vector<std::string> names;
    for (const auto& slot : slots_) {
      if (slot.device == nullptr || slot.contested) continue;
      const auto found = device_of(slot);
      names.push_back(qualified_name(found.spec->spec.kind, found.device->name));
    }
    std::vector<std::string> sorted;
    sorted.reserve(names.size());
    for (const auto i : sorted_order(names)) sorted.push_back(std::move(names[i]));
    return sorted;
  }

  /// The vendors of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> vendors() const { return parts(&QualifiedName::vendor); }
  /// The classes of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> classes() const { return parts(&QualifiedName::device_class); }

  /// All specs, in the order given.
  const std::vector<std::shared_ptr<const LoadedSpec>>& specs() const { return specs_; }

  /// The files and directories that gave no spec.
  const std::vector<std::shared_ptr<const RejectedFile>>& rejected() const { return rejected_; }

  /// Where specs were looked for, from the lowest priority to the highest.
  const std::vector<SpecDir>& dirs() const { return dirs_; }

  /// What keeps files, directories and devices from being used; paths in `position.file`. Two specs
  /// in conflict have an error each, for all devices that both provide.
  const std::vector<Error>& errors() const { return errors_; }

 private:
  /// One place of the index.
  struct Slot {
    const Device* device = nullptr;
    std::uint32_t hash = 0;
    std::uint32_t spec : 31 = 0;      // index in `specs_`
    std::uint32_t contested : 1 = 0;  // another spec of the same rank has the device, too
  };

  /// Two specs of the same rank, and a device, the first of some, that both provide.
  struct Conflict {
    const LoadedSpec* spec;
    const LoadedSpec* other;
    const Device* device;
    std::size_t devices;
  };

  /// Mixes a text into a hash, eight bytes at a time; what is left over as parts that overlap.
  static std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
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
  static std::uint32_t hash_of_device(std::string_view device, std::uint64_t kind_hash) {
    std::uint64_t hash = hash_of(device, kind_hash);
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
    return static_cast<std::uint32_t>(hash >> 32);
  }
  std::uint64_t hash_of_kind(std::string_view kind) const { return hash_of(kind, seed_); }

  /// Nobody who writes specs can know it, and choose names that all fall into one place.
  std::uint64_t make_seed() const {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);  // <chrono> is dear to include
    const auto nanoseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                             static_cast<std::uint64_t>(now.tv_nsec);
    return nanoseconds ^ reinterpret_cast<std::uintptr_t>(this) << 20;
  }

  /// Which of several specs a device is taken from, the highest: that of the highest priority, and
  /// of those one that is what its file holds now.
  static std::int64_t rank_of(const LoadedSpec& spec) {
    return std::int64_t{spec.priority} * 2 + (spec.fault == nullptr ? 1 : 0);
  }

  ResolvedDevice device_of(const Slot& slot) const {
    return {specs_[slot.spec].get(), slot.device};
  }

  /// The place of a device, or the empty one where it belongs.
  std::size_t place_of(std::uint32_t hash, std::string_view kind, std::string_view device) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.device == nullptr) return i;
      if (slot.hash != hash) continue;
      if (slot.device->name == device && specs_[slot.spec]->spec.kind == kind) return i;
    }
  }

  const Slot* look_up(std::string_view name) const {
    const auto equals = name.find('=');
    if (equals == std::string_view::npos || slots_.empty()) return nullptr;
    const auto kind = name.substr(0, equals);
    const auto device = name.substr(equals + 1);
    const auto hash = hash_of_device(device, hash_of_kind(kind));
    const Slot& slot = slots_[place_of(hash, kind, device)];
    return slot.device == nullptr ? nullptr : &slot;
  }

  void add_devices() {
    std::size_t devices = 0;
    for (const auto& spec : specs_) devices += spec->spec.devices.size();
    if (devices == 0) return;
    std::size_t slots = 2;
    while (slots < devices + devices / 3 + 1) slots *= 2;
    slots_.resize(slots);
    const auto by_rank = detail::order_of(specs_.size(), [&](std::size_t a, std::size_t b) {
      return rank_of(*specs_[a]) < rank_of(*specs_[b]);
    });
    for (const auto i : by_rank) {
      const auto kind_hash = hash_of_kind(specs_[i]->spec.kind);
      for (const auto& device : specs_[i]->spec.devices) {
        add({.device = &device,
             .hash = hash_of_device(device.name, kind_hash),
             .spec = static_cast<std::uint32_t>(i) & 0x7fffffff});
      }
    }
  }

  void add(const Slot& slot) {
    const auto added = device_of(slot);
    Slot& place = slots_[place_of(slot.hash, added.spec->spec.kind, added.device->name)];
    if (place.device == nullptr) {
      place = slot;
      return;
    }
    const auto first = device_of(place);
    if (first.spec == added.spec) return;  // given twice
    if (rank_of(*first.spec) < rank_of(*added.spec)) {
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

  static Error conflict(const LoadedSpec& spec, const LoadedSpec& other, const Device& device,
                        std::size_t devices) {
    std::string message = "device " + detail::quoted(qualified_name(spec.spec.kind, device.name));
    if (devices > 1) message.append(" and ").append(std::to_string(devices - 1)).append(" more");
    message.append(devices > 1 ? " are" : " is").append(" also defined by ");
    message.append(detail::quoted(other.path))
        .append(", which has the same priority: keep only one");
    Error error{.code = Errc::conflict, .message = std::move(message)};
    error.position.file = spec.path;
    const auto* const mine = find_device(spec.spec, device.name);
    error.position.line = ResolvedDevice{&spec, mine}.line();
    error.position.column = error.position.line == 0 ? 0 : 1;
    return error;
  }

  /// Why a name is not resolved. Only for names that `find` does not find.
  Unresolved explain(std::string_view name, bool with_nearest) const {
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

  void explain_conflict(const ResolvedDevice& found, Unresolved& out) const {
    out.reason = Reason::conflict;
    const LoadedSpec* rival = nullptr;
    for (const auto& spec : specs_) {
      const bool has = rank_of(*spec) == rank_of(*found.spec) && spec.get() != found.spec &&
                       spec->spec.kind == found.spec->spec.kind &&
                       find_device(spec->spec, found.device->name) != nullptr;
      if (!has) continue;
      if (rival == nullptr) rival = spec.get();
      out.causes.push_back(conflict(*spec, *found.spec, *found.device, 1));
    }
    out.causes.insert(out.causes.begin(), conflict(*found.spec, *rival, *found.device, 1));
    out.why.code = Errc::conflict;
    out.why.message = "both " + detail::quoted(found.spec->path) + " and " +
                      detail::quoted(rival->path) +
                      " define it, with the same priority: keep only one";
  }

  static const Device* find_device(const Spec& spec, std::string_view name) {
    for (const auto& device : spec.devices) {
      if (device.name == name) return &device;
    }
    return nullptr;
  }

  /// Whether a file with a fault is to blame for a device that is not found.
  bool explain_faulty_file(std::string_view kind, std::string_view device, Unresolved& out) const {
    for (const auto& spec : specs_) {
      if (spec->spec.kind != kind) continue;
      for (const auto& one : spec->quarantined) {
        if (one.name == device) blame(Reason::quarantined, one.why, out);
      }
      if (spec->fault) blame(reason_of(*spec->fault), *spec->fault, out);
    }
    for (const auto& file : rejected_) {
      bool may_have_it = file->devices.empty();
      for (const auto& name : file->devices) may_have_it = may_have_it || name == device;
      if (file->kind == kind && may_have_it) blame_file(*file, out);
    }
    if (!out.causes.empty() || knows(kind)) return !out.causes.empty();
    // Nobody knows of the kind: files and directories that could not be looked into may be of it.
    for (const auto& file : rejected_) {
      const bool unseen = file->kind.empty() && may_hold_specs(file->why);
      if (file->kind == kind || (unseen && file->why.code != Errc::limit)) blame_file(*file, out);
    }
    return !out.causes.empty();
  }

  bool knows(std::string_view kind) const {
    for (const auto& spec : specs_) {
      if (spec->spec.kind == kind) return true;
    }
    return false;
  }

  /// Whether a file or directory was not looked into, so that nobody knows what it holds.
  static bool may_hold_specs(const Error& error) {
    const bool other_kind_of_file = error.system == EINVAL || error.system == EISDIR;
    return error.code == Errc::refused || error.code == Errc::limit ||
           (error.code == Errc::system && !other_kind_of_file);
  }

  static Reason reason_of(const Error& error) {
    if (error.code == Errc::system) return Reason::unreadable;
    return error.code == Errc::refused ? Reason::refused : Reason::rejected;
  }

  static void blame_file(const RejectedFile& file, Unresolved& out) {
    blame(reason_of(file.why), file.why, out);
    if (out.needs_version.empty()) out.needs_version = file.needs_version;
  }

  /// Adds a cause; the first one gives the reason.
  static void blame(Reason reason, const Error& cause, Unresolved& out) {
    constexpr std::size_t most_told = 3;
    if (out.causes.empty()) {
      out.reason = reason;
      out.why.code = cause.code;
      out.why.system = cause.system;
      out.why.message = row_of(reason).meaning;
    }
    if (out.causes.size() < most_told) {
      out.why.message.append(out.causes.empty() ? ": " : "; ").append(to_string(cause));
    } else if (out.causes.size() == most_told) {
      out.why.message.append("; and more");
    }
    out.causes.push_back(cause);
  }

  void explain_unknown(std::string_view kind, const QualifiedName& parsed, bool with_nearest,
                       Unresolved& out) const {
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
      if (file->kind.empty() && (!has_kind || may_hold_specs(file->why))) {
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

  /// All reasons as one error. Where nobody can be blamed, it adds which files and directories were
  /// not used: the reason may be there.
  Error join(const std::vector<Unresolved>& missing) const {
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

  /// Says in which file and device the edits stand that an error is about.
  static Error trace(Error error, const ResolvedDevice& origin) {
    error.add_outer("containerEdits");
    if (origin.device != nullptr) {
      const auto index = origin.device - origin.spec->spec.devices.data();
      error.add_outer(detail::item_path("devices", static_cast<std::size_t>(index)));
    }
    error.position.file = origin.spec->path;
    return error;
  }

  template <class Text>
  static std::vector<std::size_t> sorted_order(const std::vector<Text>& texts) {
    return detail::order_of(texts.size(),
                            [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  }

  std::vector<std::string_view> parts(std::string_view QualifiedName::*part) const {
    std::vector<std::string_view> found;
    for (const auto& spec : specs_) {
      if (const auto kind = parse_kind(spec->spec.kind)) found.push_back((*kind).*part);
    }
    std::vector<std::string_view> out;
    for (const auto i : sorted_order(found)) {
      if (out.empty() || out.back() != found[i]) out.push_back(found[i]);
    }
    return out;
  }

  std::vector<std::shared_ptr<const LoadedSpec>> specs_{};
  std::vector<std::shared_ptr<const RejectedFile>> rejected_{};
  std::vector<SpecDir> dirs_{};
  std::vector<Error> errors_{};
  // The index, with open addressing: a power of two of slots, at least a quarter of them empty.
  // bench/resolve_bench.cpp has it beside `std::unordered_map`.
  std::vector<Slot> slots_{};
  std::uint64_t seed_ = make_seed();
  std::vector<Conflict> conflicts_{};
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_REGISTRY_HPP
