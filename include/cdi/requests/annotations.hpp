// The annotations with which a Kubernetes device plugin requests devices from a runtime.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_ANNOTATIONS_HPP
#define CDI_REQUESTS_ANNOTATIONS_HPP

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The key prefix of CDI annotations, such as `cdi.k8s.io/PLUGIN_DEVICE:
/// vendor.com/class=dev0,vendor.com/class=dev1`. Functions with a `prefix` parameter accept any
/// other prefix, such as `nvidia.cdi.k8s.io/`; with an empty prefix, every annotation is a CDI
/// annotation.
inline constexpr std::string_view annotation_prefix = "cdi.k8s.io/";

/// The devices requested by a container's CDI annotations.
struct AnnotatedDevices {
  std::vector<std::string> keys{};     ///< the keys of the CDI annotations, sorted by bytes
  std::vector<std::string> devices{};  ///< qualified names without repetition

  friend bool operator==(const AnnotatedDevices&, const AnnotatedDevices&) = default;
};

/// A map that owns its text, such as a `std::map` of strings. In a map of views, a new entry would
/// dangle.
template <class T>
concept OwningTextMap = std::constructible_from<typename T::key_type, std::string> &&
                        std::constructible_from<typename T::mapped_type, std::string> &&
                        !std::same_as<typename T::key_type, std::string_view> &&
                        !std::same_as<typename T::mapped_type, std::string_view>;

namespace detail {

/// Puts the whole name before `qualified_name_error`: `"v/0=a": class "0" must begin with ...`.
Error whole_name_error(std::string_view name);

/// Returns the `Errc::schema` error that says what a member must be.
Error wrong_kind(std::string_view where, std::string_view expected);

/// Returns the text in a text value or JSON string; for other values, a view with null data.
template <class Value>
std::string_view text_or_null(const Value& value) {
  if constexpr (requires {
                  typename Value::string_t;
                  value.is_string();
                }) {
    const auto* const text = value.template get_ptr<const typename Value::string_t*>();
    return text == nullptr ? std::string_view{} : std::string_view{*text};
  } else {
    const std::string_view text = value;
    return text.data() == nullptr ? std::string_view{""} : text;
  }
}

/// The annotations whose keys have a certain prefix.
struct AnnotationEntries {
  std::vector<std::string_view> keys{};
  std::vector<std::string_view> values{};  // null data: the value is not text

  /// Adds the entries of a map of text or of a `nlohmann::json` object; null adds nothing.
  template <class Annotations>
  Result<void> add(const Annotations& annotations, std::string_view prefix) {
    if constexpr (requires { annotations.is_object(); }) {
      if (annotations.is_null()) return {};
      if (!annotations.is_object()) return wrong_kind("annotations", "an object");
      for (auto at = annotations.begin(); at != annotations.end(); ++at) {
        add(at.key(), text_or_null(at.value()), prefix);
      }
    } else {
      for (const auto& [key, value] : annotations) add(key, text_or_null(value), prefix);
    }
    return {};
  }

 private:
  void add(std::string_view key, std::string_view value, std::string_view prefix) {
    if (!key.starts_with(prefix)) return;
    keys.push_back(key);
    values.push_back(value);
  }
};

/// Returns the devices that annotations request.
Result<AnnotatedDevices> annotated_devices(const AnnotationEntries& entries);

}  // namespace detail

/// Returns a device plugin's annotation key: prefix, plugin, `_` and device id, with each slash in
/// the id replaced by `_`. Fails with `Errc::invalid` if the result is not an annotation key with
/// at most 63 bytes after the slash, if plugin or id is empty, or if the plugin contains a slash.
Result<std::string> annotation_key(std::string_view plugin, std::string_view device_id,
                                   std::string_view prefix = annotation_prefix);

/// Returns the annotation value that requests devices: their qualified names, separated by commas.
/// Names are written unchanged, including repetitions; without names, the value is empty. Fails
/// with `Errc::invalid_name` for the first name that is not a qualified name.
Result<std::string> annotation_value(Names names);

/// Adds the annotation that requests devices to a map of text, such as `std::map`. The key, the
/// value and the errors come from `annotation_key` and `annotation_value`. Fails with
/// `Errc::conflict` if the key exists. An error leaves the map unchanged.
template <OwningTextMap Annotations>
Result<void> update_annotations(Annotations& annotations, std::string_view plugin,
                                std::string_view device_id, Names names,
                                std::string_view prefix = annotation_prefix) {
  auto key = annotation_key(plugin, device_id, prefix);
  if (!key) return std::move(key).error();
  auto value = cdi::annotation_value(names);
  if (!value) return std::move(value).error();
  if (annotations.emplace(*key, *std::move(value)).second) return {};
  return Error{.code = Errc::conflict,
               .message = "annotation " + cdi::quoted(*key) + " already exists",
               .advice = "use another device id, or remove the annotation first"};
}

/// Returns the devices requested by a container's annotations: any map of text, such as `std::map`
/// or `oci::Spec::annotations`, or a `nlohmann::json` object; JSON null means no annotations. Only
/// keys that begin with `prefix`, in the same case, are read. An empty value requests nothing.
///
/// Fails with `Errc::invalid_name`, with key and name in the message, for the first invalid name,
/// and with `Errc::schema` for JSON other than an object or a value other than a string. To read a
/// whole config with its variables, use `gather_requests` or `inject_requested`.
template <class Annotations>
Result<AnnotatedDevices> parse_annotations(const Annotations& annotations,
                                           std::string_view prefix = annotation_prefix) {
  detail::AnnotationEntries entries;
  if (auto done = entries.add(annotations, prefix); !done) return std::move(done).error();
  return detail::annotated_devices(entries);
}

}  // namespace cdi

#if CDI_BODIES
#include <cdi/requests/annotations.inl>
#endif

#endif  // CDI_REQUESTS_ANNOTATIONS_HPP
