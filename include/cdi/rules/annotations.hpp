// The annotations by which a Kubernetes device plugin names devices to a runtime.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_RULES_ANNOTATIONS_HPP
#define CDI_RULES_ANNOTATIONS_HPP

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// The prefix of the keys of CDI annotations, such as
/// `cdi.k8s.io/PLUGIN_DEVICE: vendor.com/class=dev0,vendor.com/class=dev1`. Functions with a
/// `prefix` accept any other, such as `nvidia.cdi.k8s.io/`; an empty one makes every annotation a
/// CDI annotation.
inline constexpr std::string_view annotation_prefix = "cdi.k8s.io/";

/// The devices that the CDI annotations of a container request.
struct AnnotatedDevices {
  std::vector<std::string> keys{};     ///< of the CDI annotations, sorted by bytes
  std::vector<std::string> devices{};  ///< qualified names, each once: by key, then as written

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

/// `qualified_name_error`, preceded by the whole name: `"v/0=a": class "0" must begin with ...`.
Error whole_name_error(std::string_view name);

/// `Errc::schema`: what a member must be.
Error wrong_kind(std::string_view where, std::string_view expected);

/// The text of a value: of text itself, or of a JSON string. Null data when it is not text.
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

/// The annotations of a prefix.
struct AnnotationEntries {
  std::vector<std::string_view> keys{};
  std::vector<std::string_view> values{};  // with null data when the value is not text

  /// Adds those of a map of text, or of an object of `nlohmann::json`; null has none.
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

/// The devices that annotations request.
Result<AnnotatedDevices> annotated_devices(const AnnotationEntries& entries);

}  // namespace detail

/// The key of the annotation of a device plugin: prefix, plugin, `_` and device id, in which
/// slashes become `_`. `Errc::invalid` when it is not an annotation key, of at most 63 bytes after
/// the slash; when plugin or id is empty; or when the plugin contains a slash.
Result<std::string> annotation_key(std::string_view plugin, std::string_view device_id,
                                   std::string_view prefix = annotation_prefix);

/// The value that requests devices: their qualified names, separated by commas. Names are written
/// as given, also repeated ones; no names make an empty value. `Errc::invalid_name` for the first
/// that is not a qualified name.
Result<std::string> annotation_value(Names names);

/// Adds the annotation that requests devices to a map of text, such as `std::map`: key and value
/// are those of `annotation_key` and `annotation_value`, and so are the errors. `Errc::conflict`
/// when the key exists. After an error the map is unchanged.
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
               .message = "annotation " + cdi::quoted(*key) + " exists already",
               .advice = "use another device id, or remove it first"};
}

/// The devices that the annotations of a container request: of any map of text, such as `std::map`
/// and `oci::Spec::annotations`, or of an object of `nlohmann::json`; a null of JSON has none. Only
/// keys that begin with `prefix`, in this case, count. An empty value requests nothing.
///
/// `Errc::invalid_name`, with key and name in the message, for the first name that is not valid;
/// `Errc::schema` for JSON that is not an object, and for a value that is not a string.
/// `gather_requests` and `inject_requested` read a whole config, with its variables too.
template <class Annotations>
Result<AnnotatedDevices> parse_annotations(const Annotations& annotations,
                                           std::string_view prefix = annotation_prefix) {
  detail::AnnotationEntries entries;
  if (auto done = entries.add(annotations, prefix); !done) return std::move(done).error();
  return detail::annotated_devices(entries);
}

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/rules/annotations.inl>
#endif

#endif  // CDI_RULES_ANNOTATIONS_HPP
