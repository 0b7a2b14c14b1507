// The bodies of <cdi/registry/registry.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_REGISTRY_INL
#define CDI_REGISTRY_REGISTRY_INL

#include <cdi/base/order.hpp>
#include <cdi/registry/explain.hpp>
#include <cdi/registry/registry.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

template <class Text>
std::vector<std::size_t> sorted_order(const std::vector<Text>& texts) {
  return order_of(texts.size(), [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
}

CDI_INLINE EditsOfDevices::~EditsOfDevices() = default;

CDI_INLINE EditsOfDevices::EditsOfDevices(std::span<const ResolvedDevice> devices) {
  std::vector<const LoadedSpec*> specs;  // few, however many devices there are
  edits.reserve(2 * devices.size());
  origins.reserve(2 * devices.size());
  for (const auto& found : devices) {
    bool seen = false;
    for (const auto* spec : specs) seen = seen || spec == found.spec;
    if (!seen) {
      specs.push_back(found.spec);
      edits.push_back(&found.spec->spec.container_edits);
      origins.push_back({found.spec, nullptr});
      if (!found.spec->as_read) texts = Texts::unknown;
    }
    edits.push_back(&found.device->container_edits);
    origins.push_back(found);
  }
}

CDI_INLINE Error EditsOfDevices::trace(Error error) const {
  if (error.edits == 0) return error;
  const auto& origin = origins[error.edits - 1];
  error.edits = 0;  // the caller passed devices, not edits
  error.add_outer("containerEdits");
  if (origin.device != nullptr) error.add_outer(item_path("devices", origin.index()));
  error.position = origin.spec->locate(error.where);
  return error;
}

}  // namespace detail

CDI_INLINE Registry::Registry(std::vector<std::shared_ptr<const LoadedSpec>> specs,
                              std::vector<std::shared_ptr<const RejectedFile>> rejected,
                              std::vector<SpecDir> dirs, const Registry* before)
    : index_{before == nullptr ? detail::DeviceIndex{std::move(specs)}
                               : detail::DeviceIndex::updated(before->index_, std::move(specs))},
      rejected_{std::move(rejected)},
      dirs_{std::move(dirs)} {
  for (const auto& file : rejected_) errors_.push_back(file->why);
  for (const auto& spec : index_.specs()) {
    if (spec->last_error) errors_.push_back(*spec->last_error);
    for (const auto& device : spec->quarantined) errors_.push_back(device.why);
  }
  for (const auto& one : index_.conflicts()) {
    errors_.push_back(detail::conflict(one.one, *one.other.spec, one.devices));
    errors_.push_back(detail::conflict(one.other, *one.one.spec, one.devices));
  }
}

CDI_INLINE ResolvedDevice Registry::find(std::string_view name) const {
  const auto* slot = index_.find(name);
  return slot == nullptr || slot->contested ? ResolvedDevice{} : index_.device_of(*slot);
}

CDI_INLINE Result<ResolvedDevice> Registry::resolve(std::string_view name) const {
  const auto found = find(name);
  if (found.device != nullptr) return found;
  return require({name}).error();
}

CDI_INLINE Result<std::vector<ResolvedDevice>> Registry::resolve_all(Names names) const {
  std::vector<ResolvedDevice> found;
  bool all = true;
  names.each([&](std::string_view name) {
    found.push_back(find(name));
    all = all && found.back().device != nullptr;
  });
  if (all) return found;
  return require(names).error();
}

CDI_INLINE std::vector<ResolvedDevice> Registry::resolvable(Names names) const {
  std::vector<ResolvedDevice> found;
  names.each([&](std::string_view name) {
    const auto device = find(name);
    if (device.device != nullptr) found.push_back(device);
  });
  return found;
}

CDI_INLINE std::vector<Unresolved> Registry::unresolved(Names names, std::size_t in_full) const {
  std::vector<Unresolved> out;
  names.each([&](std::string_view name) {
    if (find(name).device != nullptr) return;
    const detail::Explainer explainer{index_, rejected_, dirs_, out.size() < in_full};
    out.push_back(explainer.explain(name));
  });
  return out;
}

CDI_INLINE Result<void> Registry::require(Names names) const {
  const auto missing = unresolved(names);
  if (missing.empty()) return {};
  return detail::join(missing, errors_);
}

CDI_INLINE std::vector<std::string> Registry::devices() const {
  std::vector<std::string> names;
  for (const auto& slot : index_.slots()) {
    if (slot.device == nullptr || slot.contested) continue;
    const auto found = index_.device_of(slot);
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

CDI_INLINE std::vector<std::string_view> Registry::parts(
    std::string_view QualifiedName::*part) const {
  std::vector<std::string_view> found;
  for (const auto& spec : index_.specs()) {
    if (const auto kind = parse_kind(spec->spec.kind)) found.push_back((*kind).*part);
  }
  std::vector<std::string_view> out;
  for (const auto i : detail::sorted_order(found)) {
    if (out.empty() || out.back() != found[i]) out.push_back(found[i]);
  }
  return out;
}

}  // namespace cdi

#endif  // CDI_REGISTRY_REGISTRY_INL
