// `nlohmann::json` and `nlohmann::ordered_json` as targets of edits.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TARGETS_JSON_EDITOR_HPP
#define CDI_TARGETS_JSON_EDITOR_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <cdi/base/result.hpp>
#include <cdi/engine/apply.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/text/json.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A `nlohmann::json`, `nlohmann::ordered_json`, or another `nlohmann::basic_json`.
template <class T>
concept JsonDocument = !std::is_const_v<T> && requires {
  typename T::json_sax_t;
  typename T::object_t;
  typename T::array_t;
  typename T::json_pointer;
};

namespace detail {

/// The member of an object; null when there is none, or when it is null, which OCI takes for
/// absent.
template <class Json>
const Json* json_member(const Json* object, const char* key) {
  if (object == nullptr) return nullptr;
  const auto* members = object->template get_ptr<const typename Json::object_t*>();
  if (members == nullptr) return nullptr;
  const auto found = members->find(key);
  return found == members->end() || found->second.is_null() ? nullptr : &found->second;
}

template <class Json>
std::string_view json_text(const Json* value) {
  const auto* text = value == nullptr ? nullptr : value->template get_ptr<const std::string*>();
  return text == nullptr ? std::string_view{} : std::string_view{*text};
}

/// A user or group id: a whole number of 32 bits, however it is stored.
template <class Json>
std::optional<std::uint32_t> json_id(const Json* value) {
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  if (const auto* positive = value->template get_ptr<const typename Json::number_unsigned_t*>()) {
    if (!std::in_range<std::uint32_t>(*positive)) return std::nullopt;
    return static_cast<std::uint32_t>(*positive);
  }
  const auto number = *value->template get_ptr<const typename Json::number_integer_t*>();
  if (!std::in_range<std::uint32_t>(number)) return std::nullopt;
  return static_cast<std::uint32_t>(number);
}

template <class Json>
Json json_record(std::string_view text) {
  return Json(std::string{text});
}
template <class Json>
Json json_record(std::uint32_t id) {
  return Json(typename Json::number_unsigned_t{id});
}
template <class Json, Described Record>
Json json_record(const Record& record) {
  JsonSink<Json> sink;
  cdi::write(record, sink);
  return std::move(sink).take();
}

/// An array of a JSON document. Records that stay keep the members that the library does not know.
template <class Json>
struct JsonList {
  typename Json::array_t& items;
  const char* key_member;  // nullptr: the items are `NAME=value`

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const {
    if (key_member == nullptr) return env_name(json_text(&items[i]));
    return json_text(json_member<Json>(&items[i], key_member));
  }
  void append(const auto& record) { items.emplace_back(json_record<Json>(record)); }
  void assign(std::size_t i, const auto& record) { items[i] = json_record<Json>(record); }
  void rearrange(std::span<const std::size_t> order) {
    typename Json::array_t kept;
    kept.reserve(order.size());
    for (const std::size_t i : order) kept.push_back(std::move(items[i]));
    items = std::move(kept);
  }
  std::uint32_t id(std::size_t i) const { return json_id(&items[i]).value_or(0); }
};

/// The object `linux.netDevices` of a JSON document.
template <class Json>
struct JsonInterfaces {
  Json& object;

  void set(std::string_view key, const oci::LinuxNetDeviceView& record) {
    object[std::string{key}] = json_record<Json>(record);
  }
};

/// Whether the parts of a JSON document that edits touch are of the kinds that OCI wants. Stops at
/// the first that is not.
template <class Json>
class JsonPartCheck {
 public:
  using Is = bool (*)(const Json&);

  static bool is_object(const Json& value) { return value.is_object(); }
  static bool is_text(const Json& value) { return value.is_string(); }
  static bool is_id(const Json& value) { return json_id(&value).has_value(); }

  /// Expects null or an object.
  const Json* object(const Json* outer, const char* key, std::string_view path) {
    return value(outer, key, path, is_object, "an object");
  }

  /// Expects null or a value that `is` accepts.
  const Json* value(const Json* outer, const char* key, std::string_view path, Is is,
                    std::string_view what) {
    const Json* found = json_member(outer, key);
    if (found != nullptr && !is(*found)) fail(path, what, *found);
    return result_ ? found : nullptr;
  }

  /// Expects null or an array of values that `is` accepts; of objects, those with a text
  /// `key_member`.
  void array(const Json* outer, const char* key, std::string_view path, Is is,
             std::string_view what, const char* key_member = nullptr) {
    const Json* list = json_member(outer, key);
    if (list == nullptr || !result_) return;
    if (!list->is_array()) return fail(path, "an array", *list);
    for (std::size_t i = 0; i < list->size() && result_; ++i) {
      const Json& item = (*list)[i];
      if (!is(item)) {
        fail(item_path(path, i), what, item);
      } else if (key_member != nullptr) {
        value(&item, key_member, item_path(path, i).append(".").append(key_member), is_text,
              "text");
      }
    }
  }

  Result<void> take() && { return std::move(result_); }

  void fail(std::string_view path, std::string_view what, const Json& found) {
    if (!result_) return;
    std::string message = "expected ";
    message.append(what).append(" in the OCI spec, not ");
    message.append(found.is_number() ? found.dump() : std::string{name(found)});
    result_ =
        Error{.code = Errc::schema, .message = std::move(message), .where = std::string{path}};
  }

 private:
  static std::string_view name(const Json& value) {
    if (value.is_null()) return "null";
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    if (value.is_string()) return "text";
    if (value.is_boolean()) return "true or false";
    return value.is_discarded() ? "a text that is not valid JSON" : "such a value";
  }

  Result<void> result_{};
};

}  // namespace detail

/// Edits an OCI `config.json` as a document, for `apply`: unknown members keep their values and,
/// with `ordered_json`, their places. Parts that are missing or null are created when they are
/// needed. Before `check` has passed, only `process_user` and `has_user_namespace` may be called:
/// the other functions expect parts of the kinds that OCI requires.
template <JsonDocument Json>
struct SpecEditor<Json> {
  /// An array of the document.
  using List = detail::JsonList<Json>;

  Json& document;  ///< the edited document; outlives the editor and its lists

  /// Checks that the touched parts are of the kinds that OCI requires. `Errc::schema`, with the
  /// path of the first that is not. Changes nothing.
  Result<void> check(const TouchedParts& touched) const {
    Check check;
    if (!document.is_object()) check.fail("", "an object", document);
    check_process(touched, check);
    check_linux(touched, check);
    check_hooks(touched, check);
    return std::move(check).take();
  }

  /// `process.env`; the key of a variable is its name.
  List env() { return list(process(), "env", nullptr); }
  /// `linux.devices`; the key of a node is its path in the container.
  List devices() { return list(object(document, "linux"), "devices", "path"); }
  /// `linux.resources.devices`, to append to.
  List device_rules() {
    return list(object(object(document, "linux"), "resources"), "devices", "path");
  }
  /// `linux.netDevices`; the key of an interface is its name on the host.
  detail::JsonInterfaces<Json> net_devices() {
    return {object(object(document, "linux"), "netDevices")};
  }
  /// `mounts`; the key of a mount is its destination, as text.
  List mounts() { return list(document, "mounts", "destination"); }
  /// The list of `hooks` of one hook point, to append to.
  List hooks(oci::HookPoint point) {
    return list(object(document, "hooks"), oci::hook_point_name(point), "path");
  }
  /// Replaces `linux.intelRdt` by these settings.
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) {
    place(object(document, "linux"), "intelRdt") = detail::json_record<Json>(settings);
  }
  /// `process.user.additionalGids`.
  List additional_gids() { return list(user(process()), "additionalGids", nullptr); }

  /// `process.user`; an id that is missing, or not a number of 32 bits, is 0.
  ProcessUser process_user() const {
    const Json* user = detail::json_member(detail::json_member<Json>(&document, "process"), "user");
    return {id(user, "uid"), id(user, "gid")};
  }
  /// Whether `linux.namespaces` has one of type `user`, new or existing.
  bool has_user_namespace() const {
    const Json* all =
        detail::json_member(detail::json_member<Json>(&document, "linux"), "namespaces");
    const auto* items =
        all == nullptr ? nullptr : all->template get_ptr<const typename Json::array_t*>();
    if (items == nullptr) return false;
    for (const Json& item : *items) {
      if (detail::json_text(detail::json_member(&item, "type")) == "user") return true;
    }
    return false;
  }

 private:
  using Check = detail::JsonPartCheck<Json>;

  void check_process(const TouchedParts& touched, Check& check) const {
    const bool needs_process = touched.env || touched.devices || touched.additional_gids;
    const Json* process = needs_process ? check.object(&document, "process", "process") : nullptr;
    if (touched.env) check.array(process, "env", "process.env", Check::is_text, "text");
    const bool needs_user = touched.devices || touched.additional_gids;
    const Json* user = needs_user ? check.object(process, "user", "process.user") : nullptr;
    if (touched.devices) {
      check.value(user, "uid", "process.user.uid", Check::is_id, "a user id");
      check.value(user, "gid", "process.user.gid", Check::is_id, "a group id");
    }
    if (touched.additional_gids) {
      check.array(user, "additionalGids", "process.user.additionalGids", Check::is_id,
                  "a group id");
    }
  }

  void check_linux(const TouchedParts& touched, Check& check) const {
    const bool needs_linux =
        touched.devices || touched.net_devices || touched.intel_rdt || touched.mounts;
    const Json* part = needs_linux ? check.object(&document, "linux", "linux") : nullptr;
    if (touched.devices) {
      check.array(part, "devices", "linux.devices", Check::is_object, "an object", "path");
      const Json* resources = check.object(part, "resources", "linux.resources");
      check.array(resources, "devices", "linux.resources.devices", Check::is_object, "an object");
    }
    if (touched.net_devices) check.object(part, "netDevices", "linux.netDevices");
    if (touched.mounts) {
      check.array(part, "namespaces", "linux.namespaces", Check::is_object, "an object", "type");
      check.array(&document, "mounts", "mounts", Check::is_object, "an object", "destination");
    }
  }

  void check_hooks(const TouchedParts& touched, Check& check) const {
    bool needs_hooks = false;
    for (const bool point : touched.hooks) needs_hooks = needs_hooks || point;
    const Json* hooks = needs_hooks ? check.object(&document, "hooks", "hooks") : nullptr;
    for (std::size_t i = 0; i < touched.hooks.size(); ++i) {
      if (!touched.hooks[i]) continue;
      const std::string name{oci::hook_point_names[i]};
      check.array(hooks, name.c_str(), "hooks." + name, Check::is_object, "an object");
    }
  }

  static std::uint32_t id(const Json* user, const char* key) {
    return detail::json_id(detail::json_member(user, key)).value_or(0);
  }

  /// The value at a key; a missing one is created as null.
  static Json& place(Json& outer, std::string_view key) { return outer[std::string{key}]; }

  /// The object at a key; created when missing or null.
  static Json& object(Json& outer, std::string_view key) {
    Json& value = place(outer, key);
    if (value.is_null()) value = Json(Json::value_t::object);
    return value;
  }

  /// The process; created with the members that OCI requires.
  Json& process() {
    Json& value = object(document, "process");
    if (value.empty()) {
      user(value);
      place(value, "cwd") = detail::json_record<Json>(std::string_view{});
    }
    return value;
  }
  Json& user(Json& process) {
    Json& value = object(process, "user");
    if (value.empty()) {
      place(value, "uid") = detail::json_record<Json>(0U);
      place(value, "gid") = detail::json_record<Json>(0U);
    }
    return value;
  }

  static List list(Json& outer, std::string_view key, const char* key_member) {
    Json& value = place(outer, key);
    if (value.is_null()) value = Json(Json::value_t::array);
    return {*value.template get_ptr<typename Json::array_t*>(), key_member};
  }
};

#ifdef CDI_COMPILED
extern template Result<void> detail::edit(nlohmann::json& target, JoinedEdits& edits,
                                          const AnyHost& host, std::size_t& failed);
extern template Result<void> detail::edit(nlohmann::ordered_json& target, JoinedEdits& edits,
                                          const AnyHost& host, std::size_t& failed);
#endif

}  // namespace CDI_ABI
}  // namespace cdi

#ifdef CDI_SOURCE
#include <cdi/targets/impl/json_editor.hpp>
#endif

#endif  // CDI_TARGETS_JSON_EDITOR_HPP
