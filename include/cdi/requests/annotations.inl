// The bodies of <cdi/requests/annotations.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_ANNOTATIONS_INL
#define CDI_REQUESTS_ANNOTATIONS_INL

#include <cstddef>

#include <cdi/base/order.hpp>
#include <cdi/requests/annotations.hpp>
#include <cdi/rules/annotation_key.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

CDI_INLINE Error whole_name_error(std::string_view name) {
  Error why = qualified_name_error(name);
  const bool is_named = name.find('=') == name.npos;  // otherwise, the error concerns only a part
  if (!is_named) why.message.insert(0, quoted(name) + ": ");
  return why;
}

/// Appends the names in an annotation.
inline Result<void> append_names(std::string_view value, std::vector<std::string_view>& names) {
  bool more = !value.empty();
  while (more) {
    const auto comma = value.find(',');
    const auto name = value.substr(0, comma);
    if (!parse_name(name)) return whole_name_error(name);
    names.push_back(name);
    more = comma != std::string_view::npos;
    if (more) value.remove_prefix(comma + 1);
  }
  return {};
}

/// Returns the names without repetition; no name may be empty.
inline std::vector<std::string> each_once(std::vector<std::string_view> names) {
  const auto order =
      order_of(names.size(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  for (std::size_t i = order.size(); i-- > 1;) {
    if (names[order[i]] == names[order[i - 1]]) names[order[i]] = {};
  }
  std::vector<std::string> out;
  for (const auto name : names) {
    if (!name.empty()) out.emplace_back(name);
  }
  return out;
}

CDI_INLINE Error wrong_kind(std::string_view where, std::string_view expected) {
  return {.code = Errc::schema,
          .message = std::string{"expected "}.append(expected),
          .where = std::string{where}};
}

CDI_INLINE Result<AnnotatedDevices> annotated_devices(const AnnotationEntries& entries) {
  const auto& [keys, values] = entries;
  AnnotatedDevices out;
  std::vector<std::string_view> names;
  const auto by_key = order_of(keys.size(), [&](std::size_t a, std::size_t b) {
    return entries.keys[a] != entries.keys[b] ? entries.keys[a] < entries.keys[b]
                                              : entries.values[a] < entries.values[b];
  });
  for (const auto i : by_key) {
    if (values[i].data() == nullptr) {
      return wrong_kind(inner_path("annotations", keys[i]), "a string");
    }
    if (auto good = append_names(values[i], names); !good) {
      good.error().message.insert(0, "annotation " + quoted(keys[i]) + ": ");
      return std::move(good).error();
    }
    out.keys.emplace_back(keys[i]);
  }
  out.devices = each_once(std::move(names));
  return out;
}

}  // namespace detail

CDI_INLINE Result<std::string> annotation_key(std::string_view plugin, std::string_view device_id,
                                              std::string_view prefix) {
  const auto broken = [](std::string message, std::string_view advice) {
    return Error{
        .code = Errc::invalid, .message = std::move(message), .advice = std::string{advice}};
  };
  if (plugin.empty()) return broken("plugin \"\" is empty", "use the name of the device plugin");
  if (device_id.empty()) return broken("device id \"\" is empty", "use the allocated device's id");
  if (plugin.find('/') != std::string_view::npos) {
    return broken("plugin " + cdi::quoted(plugin) + " must not contain a slash",
                  "write _ or . instead");
  }
  std::string key{prefix};
  key.append(plugin).append(1, '_').append(device_id);
  for (auto at = key.size() - device_id.size(); at < key.size(); ++at) {
    if (key[at] == '/') key[at] = '_';
  }
  if (auto good = check_annotation_key(key); !good) return std::move(good).error();
  return key;
}

CDI_INLINE Result<std::string> annotation_value(Names names) {
  Result<std::string> value{std::string{}};
  names.each([&](std::string_view name) {
    if (!value) return;
    if (parse_name(name)) {
      value->append(value->empty() ? "" : ",").append(name);
    } else {
      value = detail::whole_name_error(name);
    }
  });
  return value;
}

}  // namespace cdi

#endif  // CDI_REQUESTS_ANNOTATIONS_INL
