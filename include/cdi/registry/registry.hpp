// `Registry`: finds devices by qualified name in many specs, and injects them.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_REGISTRY_HPP
#define CDI_REGISTRY_REGISTRY_HPP

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/apply/host.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/device_index.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// The edits of resolved devices in the order of application: the edits of a spec precede the edits
/// of its first device.
struct EditsOfDevices {
  explicit EditsOfDevices(std::span<const ResolvedDevice> devices);
  EditsOfDevices(const EditsOfDevices&) = delete;
  EditsOfDevices& operator=(const EditsOfDevices&) = delete;
  ~EditsOfDevices();

  /// Adds the place of the edits to an error; an error about the target remains unchanged.
  Error trace(Error error) const;

  Texts texts = Texts::utf8;  // `unknown` unless every spec is as it was read
  std::vector<const ContainerEdits*> edits;
  std::vector<ResolvedDevice> origins;  // one per entry of `edits`; `device` is null for a spec
};

}  // namespace detail

/// The devices of many specs, by name. A registry never changes after construction: any number of
/// threads may share it, and copies share the specs. A lookup does not allocate, and its cost does
/// not grow with the number of devices.
///
/// If several specs provide a device, the highest priority wins; within it, a spec with
/// `LoadedSpec::last_error` is used only if no other spec provides the device. If two specs remain,
/// the device is in conflict and does not resolve. See SPEC.md, Specifying Device Requirements.
class Registry {
 public:
  /// Makes a registry that resolves nothing.
  Registry() = default;

  /// Makes a registry of valid, non-null `specs`. `rejected` lists the files and directories that
  /// provided no spec, `dirs` the directories that were searched. Hashes each device's name once;
  /// if `before` already has most of the specs, only the names in new specs are hashed.
  explicit Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                    std::vector<std::shared_ptr<const RejectedFile>> rejected = {},
                    std::vector<SpecDir> dirs = {}, const Registry* before = nullptr);

  /// Returns the device of a qualified name; the pointers are null if no spec defines the device or
  /// if specs conflict. Does not allocate. Valid as long as the registry or a copy exists.
  ResolvedDevice find(std::string_view name) const;

  /// Returns the device of a qualified name. Fails with `Errc::invalid_name`, `Errc::not_found`,
  /// `Errc::conflict`, or the error code of the file that may define the device; the message
  /// explains why and lists unused files. Valid as long as the registry or a copy exists.
  Result<ResolvedDevice> resolve(std::string_view name) const;

  /// Returns the devices of all names, in order. If any name fails, one error lists all reasons,
  /// under the first code. Valid as long as the registry or a copy exists. Costs a lookup per name.
  Result<std::vector<ResolvedDevice>> resolve_all(Names names) const;

  /// Returns the devices of the names that resolve, in the order of `names`; `unresolved` returns
  /// the other names. Valid as long as the registry or a copy exists.
  std::vector<ResolvedDevice> resolvable(Names names) const;

  /// The names that do not resolve and are explained in full, by default.
  static constexpr std::size_t names_in_full = 8;

  /// Returns the names that do not resolve, in the order of `names`, including duplicates. Explains
  /// the first `in_full` of them in full: with all causes and with similar names, whose search
  /// costs a pass over all kinds or all devices of the kind. The others have no similar names, and
  /// at most three causes; `Unresolved::more_causes` counts the rest.
  std::vector<Unresolved> unresolved(Names names, std::size_t in_full = names_in_full) const;

  /// Succeeds if all names resolve; otherwise fails with the error of `resolve_all`.
  Result<void> require(Names names) const;

  /// Injects devices into an OCI spec, all or none: for each name, the edits of its spec (only
  /// once), then the device's edits. An error leaves the target unchanged. As in `apply`, names
  /// that an earlier call injected change nothing. A name listed twice is injected twice, as in the
  /// Go reference; an empty list changes nothing.
  ///
  /// Fails with the errors of `resolve_all` and `apply`. Errors of `apply` contain the file and, if
  /// known, the line in `position`, and `where` is relative to the spec. Costs one lookup for each
  /// name.
  template <class OciSpec, HostLookup Host = SystemHost>
  Result<void> inject(OciSpec& target, Names names, const Host& host = {},
                      const ApplyOptions& options = {}) const {
    const auto devices = resolve_all(names);
    if (!devices) return devices.error();
    return inject_resolved(target, *devices, host, options);
  }

  /// Injects devices that were resolved before, all or none, as `inject` does: for example after a
  /// policy has checked them, or if some names do not resolve, as in `inject_resolved(target,
  /// registry.resolvable(names))`. The devices may come from several registries, which must outlive
  /// the call.
  template <class OciSpec, HostLookup Host = SystemHost>
  static Result<void> inject_resolved(OciSpec& target, std::span<const ResolvedDevice> devices,
                                      const Host& host = {}, const ApplyOptions& options = {}) {
    if (devices.empty()) return {};
    const detail::EditsOfDevices found{devices};
    auto done = detail::apply_all(std::span<const ContainerEdits* const>{found.edits}, found.texts,
                                  target, host, options);
    return done ? std::move(done) : found.trace(std::move(done).error());
  }

  /// Returns the qualified names of all devices that resolve, in byte order.
  std::vector<std::string> devices() const;

  /// Returns the vendors of all specs in byte order, without duplicates; views into the specs.
  std::vector<std::string_view> vendors() const;
  /// Returns the classes of all specs in byte order, without duplicates; views into the specs.
  std::vector<std::string_view> classes() const;

  /// Returns all specs, in the order of the constructor.
  const std::vector<std::shared_ptr<const LoadedSpec>>& specs() const { return index_.specs(); }

  /// Returns the files and directories that provided no spec.
  const std::vector<std::shared_ptr<const RejectedFile>>& rejected() const { return rejected_; }

  /// Returns the directories that were searched, from the lowest priority to the highest.
  const std::vector<SpecDir>& dirs() const { return dirs_; }

  /// Returns why files, directories and devices are not used; `position.file` contains the path.
  /// Two specs in conflict have one error each, which covers all devices that both provide.
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::vector<std::string_view> parts(std::string_view QualifiedName::*part) const;

  detail::DeviceIndex index_{};
  std::vector<std::shared_ptr<const RejectedFile>> rejected_{};
  std::vector<SpecDir> dirs_{};
  std::vector<Error> errors_{};
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/registry.inl>
#endif

#endif  // CDI_REGISTRY_REGISTRY_HPP
