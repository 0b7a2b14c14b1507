// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_HPP
#define CDI_REGISTRY_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cdi/apply.hpp>
#include <cdi/host.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A valid spec, and where it comes from.
struct LoadedSpec {
  Spec spec{};
  std::string path{};             // of its file
  int priority = 0;               // of its directory; the higher wins
  std::vector<Error> warnings{};  // what is doubtful about the file; `rule` says which rule
};

/// A device and the spec that provides it. Valid as long as the registry that answered.
struct ResolvedDevice {
  const LoadedSpec* spec = nullptr;
  const Device* device = nullptr;
};

/// A name that cannot be resolved, and why.
struct Unresolved {
  std::string name{};
  Error why{};
};

/// An index of the devices of many specs. Built once, then only read: copies are shared safely
/// between threads. Lookup does not allocate; its cost does not grow with the number of devices.
///
/// Of a device that several specs provide, the one of the highest priority counts. When two specs
/// of that priority provide it, nobody can tell which is meant, and it cannot be resolved.
class Registry {
 public:
  Registry() = default;

  /// `specs` are valid; `errors` tells of files and directories that gave none, each with the path
  /// in `position.file`. Costs one hash for each device.
  explicit Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                    std::vector<Error> errors = {})
      : specs_{std::move(specs)}, errors_{std::move(errors)} {
    std::vector<std::pair<int, std::size_t>> by_priority;
    for (std::size_t i = 0; i < specs_.size(); ++i)
      by_priority.emplace_back(specs_[i]->priority, i);
    std::sort(by_priority.begin(), by_priority.end());
    Conflicts conflicts;
    for (const auto& [priority, i] : by_priority) {
      for (const auto& device : specs_[i]->spec.devices) add(*specs_[i], device, conflicts);
    }
    for (const auto& one : conflicts) {
      errors_.push_back(conflict(*one.spec, *one.other, *one.device, one.devices));
      errors_.push_back(conflict(*one.other, *one.spec, *one.device, one.devices));
    }
  }

  /// The device of a qualified name, or null pointers. Does not allocate.
  ResolvedDevice find(std::string_view name) const {
    const Entry* entry = look_up(name);
    if (entry == nullptr || entry->rival != nullptr) return {};
    return entry->found;
  }

  /// The device of a qualified name, or why there is none; also which files were not used.
  Result<ResolvedDevice> resolve(std::string_view name) const {
    const auto found = find(name);
    if (found.device == nullptr) return with_unused_files(explain(name));
    return found;
  }

  /// Those of the names that cannot be resolved, in the order given, each time they are named. The
  /// reason may also be a file that was not used: see `errors()`.
  template <class Names>
  std::vector<Unresolved> unresolved(const Names& names) const {
    std::vector<Unresolved> out;
    for (const auto& item : names) {  // bound first: it may be a temporary
      const std::string_view name = item;
      if (find(name).device == nullptr) out.push_back({std::string{name}, explain(name)});
    }
    return out;
  }

  /// Injects devices into an OCI spec, all or none: for each name the edits of its spec, once, and
  /// then its own. After an error the target is as it was. Same rules as `apply`.
  template <Editable OciSpec, class Names, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, const Names& names, const Host& host = {}) const {
    if (const auto missing = unresolved(names); !missing.empty()) return join(missing);
    std::vector<const ContainerEdits*> edits;
    std::vector<ResolvedDevice> origins;  // of the edits; without a device for those of a spec
    for (const auto& item : names) {
      const std::string_view name = item;
      const auto found = find(name);
      const bool seen = std::any_of(origins.begin(), origins.end(),
                                    [&](const auto& other) { return other.spec == found.spec; });
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
  template <Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, std::initializer_list<std::string_view> names,
                      const Host& host = {}) const {
    return inject(target, std::span<const std::string_view>{names.begin(), names.size()}, host);
  }

  /// The qualified names of all devices that can be resolved, sorted by bytes.
  std::vector<std::string> devices() const {
    std::vector<std::string> names;
    for (const auto& [key, entry] : index_) {
      if (entry.rival == nullptr) names.push_back(qualified_name(key.kind, key.device));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// The vendors of all specs, sorted by bytes, each once.
  std::vector<std::string_view> vendors() const { return parts(&QualifiedName::vendor); }
  /// The classes of all specs, sorted by bytes, each once.
  std::vector<std::string_view> classes() const { return parts(&QualifiedName::device_class); }

  /// All specs, in the order given.
  const std::vector<std::shared_ptr<const LoadedSpec>>& specs() const { return specs_; }

  /// What keeps files, directories and devices from being used; paths in `position.file`.
  const std::vector<Error>& errors() const { return errors_; }

 private:
  struct Key {
    std::string_view kind;
    std::string_view device;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      const std::hash<std::string_view> hash;
      return hash(key.device) * 31 + hash(key.kind);
    }
  };
  struct Entry {
    ResolvedDevice found{};
    const LoadedSpec* rival = nullptr;  // another spec of the same priority that has the device
  };

  const Entry* look_up(std::string_view name) const {
    const auto equals = name.find('=');
    if (equals == std::string_view::npos) return nullptr;
    const auto at = index_.find(Key{name.substr(0, equals), name.substr(equals + 1)});
    return at == index_.end() ? nullptr : &at->second;
  }

  /// Two specs of the same priority, and a device, the first of some, that both provide.
  struct Conflict {
    const LoadedSpec* spec;
    const LoadedSpec* other;
    const Device* device;
    std::size_t devices;
  };
  using Conflicts = std::vector<Conflict>;

  void add(const LoadedSpec& spec, const Device& device, Conflicts& conflicts) {
    const auto [at, fresh] = index_.try_emplace(Key{spec.spec.kind, device.name});
    Entry& entry = at->second;
    if (fresh || entry.found.spec->priority < spec.priority) {
      entry = {{&spec, &device}, nullptr};
      return;
    }
    entry.rival = &spec;
    const auto* const first = entry.found.spec;
    for (auto one = conflicts.rbegin(); one != conflicts.rend() && one->other == &spec; ++one) {
      if (one->spec != first) continue;
      ++one->devices;
      return;
    }
    conflicts.push_back({first, &spec, &device, 1});
  }

  static Error conflict(const LoadedSpec& spec, const LoadedSpec& other, const Device& device,
                        std::size_t devices) {
    std::string message = "device " + detail::quoted(qualified_name(spec.spec.kind, device.name));
    if (devices > 1) message.append(" and ").append(std::to_string(devices - 1)).append(" more");
    message.append(devices > 1 ? " are" : " is").append(" also defined by ");
    message.append(detail::quoted(other.path))
        .append(", which has the same priority: keep only one");
    return {.code = Errc::conflict, .message = std::move(message), .position = {.file = spec.path}};
  }

  /// Why a name is not resolved. Only for names that `find` does not find.
  Error explain(std::string_view name) const {
    Error error = reason(name);
    error.message.insert(0, "cannot resolve " + detail::quoted(name) + ": ");
    return error;
  }

  Error reason(std::string_view name) const {
    if (const Entry* entry = look_up(name)) {
      return conflict(*entry->found.spec, *entry->rival, *entry->found.device, 1);
    }
    const auto parsed = parse_name(name);
    if (!parsed) return qualified_name_error(name);
    const auto kind = name.substr(0, name.find('='));
    FirstNames kinds;
    FirstNames devices;
    for (const auto& spec : specs_) {
      kinds.add(spec->spec.kind);
      if (spec->spec.kind != kind) continue;
      for (const auto& device : spec->spec.devices) devices.add(device.name);
    }
    Error error{.code = Errc::not_found};
    if (devices.empty()) {
      error.message = "no spec of kind " + detail::quoted(kind) + "; kinds known: " + kinds.text();
    } else {
      error.message = "kind " + detail::quoted(kind) + " has no device " +
                      detail::quoted(parsed->device) + "; it has: " + devices.text();
    }
    return error;
  }

  /// The first few of many names in the order of bytes, each once.
  class FirstNames {
   public:
    void add(std::string_view name) {
      const auto at = std::lower_bound(names_.begin(), names_.end(), name);
      if (at != names_.end() && *at == name) return;
      if (names_.size() > most && at == names_.end()) return;
      names_.insert(at, name);
      if (names_.size() > most + 1) names_.pop_back();  // one more tells that there are more
    }
    bool empty() const { return names_.empty(); }
    std::string text() const {
      std::string out;
      for (std::size_t i = 0; i < names_.size(); ++i) {
        out.append(i == 0 ? "" : ", ").append(i == most ? "..." : detail::escaped(names_[i]));
      }
      return out.empty() ? "none" : out;
    }

   private:
    static constexpr std::size_t most = 8;
    std::vector<std::string_view> names_{};
  };

  /// Adds which files and directories were not used: the reason may be there.
  Error with_unused_files(Error error) const {
    constexpr std::size_t most = 3;
    std::size_t unused = 0;
    for (const auto& other : errors_) {
      if (other.code == Errc::conflict || ++unused > most) continue;
      error.message.append("; not used: ").append(to_string(other));
    }
    if (unused > most) {
      error.message.append("; and ").append(std::to_string(unused - most)).append(" more");
    }
    return error;
  }

  Error join(const std::vector<Unresolved>& missing) const {
    Error error = missing.front().why;
    for (std::size_t i = 1; i < missing.size(); ++i) {
      error.message.append("; ").append(missing[i].why.message);
    }
    return with_unused_files(std::move(error));
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

  std::vector<std::string_view> parts(std::string_view QualifiedName::*part) const {
    std::set<std::string_view> found;
    for (const auto& spec : specs_) {
      if (const auto kind = parse_kind(spec->spec.kind)) found.insert((*kind).*part);
    }
    return {found.begin(), found.end()};
  }

  std::vector<std::shared_ptr<const LoadedSpec>> specs_{};
  std::vector<Error> errors_{};
  std::unordered_map<Key, Entry, KeyHash> index_{};  // points into `specs_`
};

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_REGISTRY_HPP
