// `Registry`: finds devices by qualified name in many specs, and injects them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_REGISTRY_HPP
#define CDI_REGISTRY_REGISTRY_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/engine/apply.hpp>
#include <cdi/engine/host.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

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

namespace detail {

/// Says in which file and device the edits stand that an error is about.
Error trace(Error error, const ResolvedDevice& origin);

}  // namespace detail

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
                    std::vector<SpecDir> dirs = {});

  /// The device of a qualified name, or null pointers: when no spec has it, and when two of one
  /// priority do. Does not allocate. Valid as long as the registry, or a copy of it.
  ResolvedDevice find(std::string_view name) const;

  /// The device of a qualified name, or why there is none; also which files were not used. The
  /// error is `Errc::invalid_name`, `Errc::not_found`, `Errc::conflict`, or that of the file to
  /// blame, with its code. Valid as long as the registry, or a copy of it.
  Result<ResolvedDevice> resolve(std::string_view name) const;

  /// Those of the names that cannot be resolved, in the order given, each time they are named. The
  /// first few, `with_nearest`, come with names that resemble them, which costs a look at every
  /// device of the kind for each.
  template <class Names>
  std::vector<Unresolved> unresolved(const Names& names, std::size_t with_nearest = 8) const {
    return find_missing(detail::AnyNames{names}, with_nearest);
  }
  /// The same for names in braces.
  std::vector<Unresolved> unresolved(std::initializer_list<std::string_view> names,
                                     std::size_t with_nearest = 8) const {
    return find_missing(detail::AnyNames{names}, with_nearest);
  }

  /// Success when all names can be resolved; else all reasons as one error, with the code of the
  /// first.
  template <class Names>
  Result<void> require(const Names& names) const {
    return require_all(detail::AnyNames{names});
  }

  /// Injects devices into an OCI spec, all or none: for each name the edits of its spec, once, and
  /// then its own. After an error the target is as it was. Same rules as `apply`. A name given
  /// twice is injected twice, as by the Go reference; no names change nothing.
  ///
  /// Errors are those of `require`, and those of `apply` with the file in `position.file` and
  /// `where` seen from its spec.
  template <Editable OciSpec, class Names, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, const Names& names, const Host& host = {}) const {
    Found found;
    if (auto all = find_all(detail::AnyNames{names}, found); !all || found.edits.empty())
      return all;
    std::size_t failed = 0;
    auto done = apply(std::span<const ContainerEdits* const>{found.edits}, target, host, failed);
    if (done || failed >= found.origins.size()) return done;
    return detail::trace(std::move(done).error(), found.origins[failed]);
  }
  /// The same for names in braces.
  template <Editable OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, std::initializer_list<std::string_view> names,
                      const Host& host = {}) const {
    return inject<OciSpec, std::initializer_list<std::string_view>, Host>(target, names, host);
  }

  /// The qualified names of all devices that can be resolved, sorted by bytes.
  std::vector<std::string> devices() const;

  /// The vendors of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> vendors() const;
  /// The classes of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> classes() const;

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
  std::vector<Unresolved> find_missing(detail::AnyNames names, std::size_t with_nearest) const;
  Result<void> require_all(detail::AnyNames names) const;

  /// The edits of some names, in the order to apply them, and where each comes from: without a
  /// device those of a spec.
  struct Found {
    Found();
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;
    ~Found();

    std::vector<const ContainerEdits*> edits;
    std::vector<ResolvedDevice> origins;
  };
  Result<void> find_all(detail::AnyNames names, Found& out) const;

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

  std::uint64_t hash_of_kind(std::string_view kind) const;

  /// Nobody who writes specs can know it, and choose names that all fall into one place.
  std::uint64_t make_seed() const;

  ResolvedDevice device_of(const Slot& slot) const;

  /// The place of a device, or the empty one where it belongs.
  std::size_t place_of(std::uint32_t hash, std::string_view kind, std::string_view device) const;

  const Slot* look_up(std::string_view name) const;

  void add_devices();

  void add(const Slot& slot);

  /// Why a name is not resolved. Only for names that `find` does not find.
  Unresolved explain(std::string_view name, bool with_nearest) const;

  void explain_conflict(const ResolvedDevice& found, Unresolved& out) const;

  /// Whether a file with a fault is to blame for a device that is not found.
  bool explain_faulty_file(std::string_view kind, std::string_view device, Unresolved& out) const;

  bool knows(std::string_view kind) const;

  void explain_unknown(std::string_view kind, const QualifiedName& parsed, bool with_nearest,
                       Unresolved& out) const;

  /// All reasons as one error. Where nobody can be blamed, it adds which files and directories were
  /// not used: the reason may be there.
  Error join(const std::vector<Unresolved>& missing) const;

  std::vector<std::string_view> parts(std::string_view QualifiedName::*part) const;

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

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/impl/registry.hpp>
#endif

#endif  // CDI_REGISTRY_REGISTRY_HPP
