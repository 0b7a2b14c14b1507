// The annotations by which a Kubernetes device plugin names devices to a runtime.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_ANNOTATIONS_HPP
#define CDI_RULES_ANNOTATIONS_HPP

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

// How a Kubernetes device plugin tells a runtime which devices a container gets: annotations such
// as `cdi.k8s.io/PLUGIN_DEVICE: vendor.com/class=dev0,vendor.com/class=dev1`.

namespace cdi {
inline namespace CDI_ABI {

/// How the keys of CDI annotations begin. Where a `prefix` can be given, any other will do too,
/// such as `nvidia.cdi.k8s.io/`; with an empty one, every annotation is one of CDI.
inline constexpr std::string_view annotation_prefix = "cdi.k8s.io/";

/// What the CDI annotations of a container ask for.
struct AnnotatedDevices {
  std::vector<std::string> keys{};     ///< of the CDI annotations, sorted by bytes
  std::vector<std::string> devices{};  ///< qualified names, each once: by key, then as written

  friend bool operator==(const AnnotatedDevices&, const AnnotatedDevices&) = default;
};

namespace detail {

/// A map of text that keeps the text itself; one of views would lose what is put into it.
template <class T>
concept OwningTextMap = std::constructible_from<typename T::key_type, std::string> &&
                        std::constructible_from<typename T::mapped_type, std::string> &&
                        !std::same_as<typename T::key_type, std::string_view> &&
                        !std::same_as<typename T::mapped_type, std::string_view>;

/// `qualified_name_error` with the whole name in front: `"v/0=a": class "0" must begin with ...`.
Error whole_name_error(std::string_view name);

/// What the annotations of these keys and values ask for.
Result<AnnotatedDevices> annotated_devices(const std::vector<std::string_view>& keys,
                                           const std::vector<std::string_view>& values);

}  // namespace detail

/// The key under which a device plugin annotates: prefix, plugin, `_` and device id, in which
/// slashes become `_`. `Errc::invalid` when it is no annotation key: what follows the slash may be
/// 63 bytes long; when plugin or id is empty, or the plugin holds a slash.
Result<std::string> annotation_key(std::string_view plugin, std::string_view device_id,
                                   std::string_view prefix = annotation_prefix);

/// The value that asks for devices: their qualified names, a range of text, with commas between.
/// Names are written as given, repeated ones too; no names make an empty value.
/// `Errc::invalid_name` for the first that is no qualified name.
template <class Names>
Result<std::string> annotation_value(const Names& names) {
  std::string value;
  bool first = true;
  for (const auto& item : names) {
    const std::string_view name = item;
    if (!parse_name(name)) return detail::whole_name_error(name);
    value.append(first ? "" : ",").append(name);
    first = false;
  }
  return value;
}
/// The same for names in braces.
Result<std::string> annotation_value(std::initializer_list<std::string_view> names);

/// Adds the annotation that asks for devices to a map of text, such as `std::map`: key and value
/// are those of `annotation_key` and `annotation_value`, and so are the errors. `Errc::conflict`
/// when the key is there already. After an error the map is as it was.
template <detail::OwningTextMap Annotations, class Names>
Result<void> update_annotations(Annotations& annotations, std::string_view plugin,
                                std::string_view device_id, const Names& names,
                                std::string_view prefix = annotation_prefix) {
  auto key = annotation_key(plugin, device_id, prefix);
  if (!key) return std::move(key).error();
  auto value = cdi::annotation_value(names);
  if (!value) return std::move(value).error();
  if (annotations.emplace(*key, *std::move(value)).second) return {};
  return Error{.code = Errc::conflict,
               .message = "annotation " + detail::quoted(*key) +
                          " is there already: use another device id, or remove it first"};
}
/// The same for names in braces.
template <detail::OwningTextMap Annotations>
Result<void> update_annotations(Annotations& annotations, std::string_view plugin,
                                std::string_view device_id,
                                std::initializer_list<std::string_view> names,
                                std::string_view prefix = annotation_prefix) {
  return cdi::update_annotations(annotations, plugin, device_id,
                                 std::span<const std::string_view>{names.begin(), names.size()},
                                 prefix);
}

/// The devices that the annotations of a container ask for; `annotations` is any map of text. Looks
/// at keys that begin with `prefix`, in this case. An empty value asks for nothing.
/// `Errc::invalid_name`, with key and name in the message, for the first that is no qualified name.
template <class Annotations>
Result<AnnotatedDevices> parse_annotations(const Annotations& annotations,
                                           std::string_view prefix = annotation_prefix) {
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  for (const auto& [key, value] : annotations) {
    if (!std::string_view{key}.starts_with(prefix)) continue;
    keys.push_back(key);
    values.push_back(value);
  }
  return detail::annotated_devices(keys, values);
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/impl/annotations.hpp>
#endif

#endif  // CDI_RULES_ANNOTATIONS_HPP
