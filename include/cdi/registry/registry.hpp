// `Registry`: finds devices by qualified name in many specs, and injects them.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_REGISTRY_HPP
#define CDI_REGISTRY_REGISTRY_HPP

#include <cstddef>
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
#include <cdi/registry/device_index.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The edits of resolved devices in the order to apply them: those of a spec before those of its
/// first device.
struct EditsOfDevices {
  explicit EditsOfDevices(std::span<const ResolvedDevice> devices);
  EditsOfDevices(const EditsOfDevices&) = delete;
  EditsOfDevices& operator=(const EditsOfDevices&) = delete;
  ~EditsOfDevices();

  /// An error with its place in the file of its edits. Unchanged when it is about the target.
  Error trace(Error error) const;

  Texts texts = Texts::utf8;  // `unknown` when a spec is not as it was read
  std::vector<const ContainerEdits*> edits;
  std::vector<ResolvedDevice> origins;  // of each entry of `edits`; without a device for a spec
};

}  // namespace detail

/// The devices of many specs, by name. Built once, then only read: any number of threads may use
/// one, and copies share the specs. A lookup does not allocate, and its cost does not grow with the
/// number of devices.
///
/// When several specs provide a device, the one of the highest priority counts. Among those of one
/// priority, one with `LoadedSpec::fault` counts only when no other provides the device. When two
/// of them remain, the device is in conflict, and does not resolve. SPEC.md, Specifying Device
/// Requirements.
class Registry {
 public:
  /// A registry that resolves nothing.
  Registry() = default;

  /// `specs` are valid, and none is null; `rejected` are the files and directories that gave none;
  /// `dirs` are the directories that were searched. Costs one hash for each device.
  explicit Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                    std::vector<std::shared_ptr<const RejectedFile>> rejected = {},
                    std::vector<SpecDir> dirs = {});

  /// The device of a qualified name; null pointers when no spec has it, or when it is in conflict.
  /// Does not allocate. Valid as long as the registry, or a copy of it.
  ResolvedDevice find(std::string_view name) const;

  /// The device of a qualified name, or why there is none, with the files that were not used. The
  /// error is `Errc::invalid_name`, `Errc::not_found`, `Errc::conflict`, or that of the file that
  /// may define it, with its code. Valid as long as the registry, or a copy of it.
  Result<ResolvedDevice> resolve(std::string_view name) const;

  /// The devices of names, in their order; or all reasons as one error, with the code of the first.
  /// Valid as long as the registry, or a copy of it. Costs one lookup for each name.
  Result<std::vector<ResolvedDevice>> resolve_all(Names names) const;

  /// The devices of the names that resolve, in the order given; `unresolved` has the other names.
  /// Valid as long as the registry, or a copy of it.
  std::vector<ResolvedDevice> resolvable(Names names) const;

  /// The names that do not resolve, in the order given, each time they are named. The first
  /// `with_nearest` of them come with similar names, which costs a pass over all devices of the
  /// kind for each.
  std::vector<Unresolved> unresolved(Names names, std::size_t with_nearest = 8) const;

  /// Success when all names resolve; else the error of `resolve_all`.
  Result<void> require(Names names) const;

  /// Injects devices into an OCI spec, all or none: for each name the edits of its spec, once, and
  /// then those of the device. After an error the target is unchanged. Same rules as `apply`: names
  /// that were injected before change nothing. A name given twice is injected twice, as in the Go
  /// reference; no names change nothing.
  ///
  /// Errors are those of `resolve_all` and `apply`; the latter have the file in `position`, with
  /// the line where it is known, and `where` seen from the spec. Costs one lookup for each name.
  template <class OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, Names names, const Host& host = {},
                      const ApplyOptions& options = {}) const {
    const auto devices = resolve_all(names);
    if (!devices) return devices.error();
    return inject_resolved(target, *devices, host, options);
  }

  /// Injects devices that were resolved before, all or none, as `inject` does: a policy may have
  /// looked at them, or some of the names do not resolve, as in
  /// `inject_resolved(target, registry.resolvable(names))`. They may be of several registries,
  /// which must outlive the call.
  template <class OciSpec, HostLookup Host = SystemHost>
  static Result<void> inject_resolved(OciSpec& target, std::span<const ResolvedDevice> devices,
                                      const Host& host = {}, const ApplyOptions& options = {}) {
    if (devices.empty()) return {};
    const detail::EditsOfDevices found{devices};
    auto done = detail::apply_all(std::span<const ContainerEdits* const>{found.edits}, found.texts,
                                  target, host, options);
    return done ? std::move(done) : found.trace(std::move(done).error());
  }

  /// The qualified names of all devices that resolve, sorted by bytes.
  std::vector<std::string> devices() const;

  /// The vendors of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> vendors() const;
  /// The classes of all specs, sorted by bytes, each once. They point into the specs.
  std::vector<std::string_view> classes() const;

  /// All specs, in the order given.
  const std::vector<std::shared_ptr<const LoadedSpec>>& specs() const { return index_.specs(); }

  /// The files and directories that gave no spec.
  const std::vector<std::shared_ptr<const RejectedFile>>& rejected() const { return rejected_; }

  /// The directories that were searched, from the lowest priority to the highest.
  const std::vector<SpecDir>& dirs() const { return dirs_; }

  /// Why files, directories and devices are not used; paths are in `position.file`. Two specs in
  /// conflict have an error each, for all devices that both provide.
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::vector<std::string_view> parts(std::string_view QualifiedName::*part) const;

  detail::DeviceIndex index_{};
  std::vector<std::shared_ptr<const RejectedFile>> rejected_{};
  std::vector<SpecDir> dirs_{};
  std::vector<Error> errors_{};
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/registry.inl>
#endif

#endif  // CDI_REGISTRY_REGISTRY_HPP
