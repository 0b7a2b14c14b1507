// The bodies of <cdi/rules/validate.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_VALIDATE_INL
#define CDI_RULES_VALIDATE_INL

#include <cstddef>
#include <string>
#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/rules/annotation_key.hpp>
#include <cdi/rules/findings.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/minimum_version.inl>
#include <cdi/rules/name.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/rules/validate_edits.hpp>
#include <cdi/rules/validate_texts.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Checks the annotations of a spec or device.
template <class Dict>
void check_annotations(const Dict& annotations, const MemberPath& outer, Findings& out) {
  constexpr std::size_t max = 256 << 10;
  const MemberPath at{&outer, "annotations"};
  std::size_t size = 0;
  for (const auto& [key, value] : annotations) {
    size += key.size() + value.size();
    if (is_annotation_key(key)) continue;
    out.note(Rule::annotation_key, {&at, key}, annotation_key_error(key));
    if (out.stopped()) return;
  }
  if (size <= max) return;
  out.note(Rule::annotation_size, at, "the annotations take " + std::to_string(size) + " bytes",
           "use at most " + std::to_string(max));
}

template <class S>
void check(const BasicDevice<S>& device, const MemberPath& at, Findings& out) {
  constexpr std::size_t max = 63;
  const MemberPath name_at{&at, "name"};
  if (!is_device_name(device.name)) {
    out.note(Rule::device_name, name_at, name_error(NamePart::device, device.name));
  }
  if (device.name.size() > max) {
    out.note(Rule::device_name_length, name_at,
             "the device name is " + std::to_string(device.name.size()) + " bytes long",
             "use at most " + std::to_string(max));
  }
  check_annotations(device.annotations, at, out);
  const MemberPath edits_at{&at, "containerEdits"};
  if (is_empty(device.container_edits)) {
    out.note(Rule::device_edits, edits_at, "device " + cdi::quoted(device.name) + " has no edits",
             "add edits, or remove the device");
  }
  check(device.container_edits, edits_at, out);
}

template <class S>
void check_version(const BasicSpec<S>& spec, Findings& out) {
  const MemberPath at{nullptr, "cdiVersion"};
  const auto declared = parse_spec_version(spec.version);
  if (!declared) {
    return out.note(Rule::version_known, at, "unknown version " + cdi::quoted(spec.version),
                    "use one of " + spec_version_names());
  }
  const auto need = minimum_need_from(spec, *declared < SpecVersion{} ? SpecVersion{} : *declared);
  if (*declared < need.version) {
    std::string message = "version " + cdi::quoted(spec.version) + " is too old";
    if (!need.where.empty()) message.append(" for ").append(need.where);
    const bool rejected =
        *declared < SpecVersion{} ||
        *declared < minimum_need_from(spec, *declared, NeededBy::reference).version;
    out.note(rejected ? Rule::version_new_enough : Rule::version_earlier_devices, at,
             std::move(message), "write \"" + to_string(need.version) + "\"");
  }
  if (*declared >= need.until) {
    out.note(Rule::field_retired, {nullptr, need.until_where},
             "version " + cdi::quoted(spec.version) + " no longer defines the member",
             "write " + std::string{need.until_instead} + ", or declare a version before " +
                 to_string(need.until));
  }
}

/// Whether a vendor name, which has only valid characters, is also a DNS name.
inline bool is_dns_name(std::string_view vendor) {
  constexpr std::size_t longest_label = 63;
  constexpr std::size_t longest = 253;
  if (vendor.size() > longest) return false;
  for (;;) {
    const auto label = vendor.substr(0, vendor.find('.'));
    if (label.size() > longest_label || !is_word(label, "-")) return false;
    if (label.size() == vendor.size()) return true;
    vendor.remove_prefix(label.size() + 1);
  }
}

inline void check_kind(std::string_view kind, Findings& out) {
  constexpr std::size_t longest_class = 63;
  const MemberPath at{nullptr, "kind"};
  const auto parts = parse_kind(kind);
  if (!parts) return out.note(Rule::kind_name, at, kind_error(kind));
  if (!is_dns_name(parts->vendor)) {
    out.note(Rule::kind_vendor_dns, at,
             "vendor " + cdi::quoted(parts->vendor) + " is not a DNS name",
             "use words of at most 63 letters, digits and inner -, 253 bytes in total");
  }
  if (parts->device_class.size() > longest_class) {
    out.note(Rule::kind_class_length, at,
             "the class is " + std::to_string(parts->device_class.size()) + " bytes long",
             "use at most " + std::to_string(longest_class));
  }
}

template <class List>
void check_devices(const List& devices, const MemberPath& at, Findings& out) {
  if (devices.empty()) {
    out.note(Rule::devices_given, {&at, "devices"}, "the spec has no devices",
             "define at least one");
  }
  std::vector<std::string_view> names;
  names.reserve(devices.size());
  for (const auto& device : devices) names.push_back(device.name);
  const auto first = first_of_equals(names);
  check_each("devices", devices, at, out, [&](const auto& device, const MemberPath& to) {
    check(device, to, out);
    if (first[to.index] == to.index) return;
    out.note(Rule::device_name_unique, {&to, "name"},
             "device " + cdi::quoted(device.name) + " is already defined by " +
                 item_path("devices", first[to.index]),
             "choose another name");
  });
}

template <class S>
void check(const BasicSpec<S>& spec, const MemberPath& at, Findings& out) {
  check_version(spec, out);
  check_kind(spec.kind, out);
  check_annotations(spec.annotations, at, out);
  check(spec.container_edits, {&at, "containerEdits"}, out);
  if (!out.stopped()) check_devices(spec.devices, at, out);
}

template <SpecPart T>
Result<void> validate_without_nul(const T& value, std::vector<Error>* warnings,
                                  ValidateFor purpose) {
  Findings findings{warnings, purpose};
  detail::check(value, {}, findings);
  return std::move(findings).take();
}

template <Storage S>
std::optional<DeviceFault> fault_of(const BasicDevice<S>& device, std::string_view version) {
  const auto declared = parse_spec_version(version);
  const auto too_old = [&](NeededBy members) -> std::optional<DeviceFault> {
    if (!declared || *declared < SpecVersion{}) return std::nullopt;  // the fault of the spec
    const auto need = minimum_need_from(device, *declared, members);
    if (need.version == *declared) return std::nullopt;
    return DeviceFault{
        {.code = Errc::invalid,
         .message = "version " + cdi::quoted(version) + " is too old for this member",
         .advice = "write \"" + to_string(need.version) + "\"",
         .where = need.where,
         .rule = row_of(Rule::version_new_enough).code},
        members == NeededBy::all};
  };
  if (auto fault = too_old(NeededBy::earlier_device)) return fault;
  if (auto valid = cdi::validate(device); !valid) return DeviceFault{std::move(valid).error()};
  return too_old(NeededBy::all);
}

}  // namespace detail

template <SpecPart T>
Result<void> validate(const T& value, std::vector<Error>* warnings, ValidateFor purpose) {
  detail::Findings findings{warnings, purpose};
  detail::check_texts(&value, detail::type_of<T>, {}, findings);
  if (!findings.stopped()) detail::check(value, {}, findings);
  return std::move(findings).take();
}

template <SpecPart T>
std::vector<Error> every_error(const T& value, std::vector<Error>* warnings, ValidateFor purpose) {
  std::vector<Error> errors;
  detail::Findings findings{warnings, purpose, &errors};
  detail::check_texts(&value, detail::type_of<T>, {}, findings);
  if (!findings.stopped()) detail::check(value, {}, findings);
  auto last = std::move(findings).take();
  if (!last) errors.push_back(std::move(last).error());
  return errors;
}

#ifdef CDI_SOURCE
template std::optional<detail::DeviceFault> detail::fault_of(const BasicDevice<Owning>&,
                                                             std::string_view);
template Result<void> detail::validate_without_nul(const BasicSpec<Owning>&, std::vector<Error>*,
                                                   ValidateFor);
template Result<void> detail::validate_without_nul(const BasicSpec<Borrowed>&, std::vector<Error>*,
                                                   ValidateFor);
template Result<void> validate(const BasicSpec<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicSpec<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicDevice<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicDevice<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicContainerEdits<Owning>&, std::vector<Error>*,
                               ValidateFor);
template Result<void> validate(const BasicContainerEdits<Borrowed>&, std::vector<Error>*,
                               ValidateFor);
template Result<void> validate(const BasicDeviceNode<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicDeviceNode<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicNetDevice<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicNetDevice<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicHook<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicHook<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicMount<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicMount<Borrowed>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicIntelRdt<Owning>&, std::vector<Error>*, ValidateFor);
template Result<void> validate(const BasicIntelRdt<Borrowed>&, std::vector<Error>*, ValidateFor);
template std::vector<Error> every_error(const BasicSpec<Owning>&, std::vector<Error>*, ValidateFor);
#endif

}  // namespace cdi

#endif  // CDI_RULES_VALIDATE_INL
