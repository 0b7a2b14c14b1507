// `nlohmann::json` and `nlohmann::ordered_json` as targets of edits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_NLOHMANN_EDITOR_HPP
#define CDI_NLOHMANN_EDITOR_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/apply/apply.hpp>
#include <cdi/base/result.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/targets/part_check.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// An `nlohmann::json`, an `nlohmann::ordered_json` or another `nlohmann::basic_json`.
template <class T>
concept JsonDocument = !std::is_const_v<T> && requires {
  typename T::json_sax_t;
  typename T::object_t;
  typename T::array_t;
  typename T::json_pointer;
};

namespace detail {

/// Returns the member of an object, or null if the member is missing or null: OCI treats both cases
/// alike.
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

/// Returns a user or group ID: a whole number of 32 bits, however it is stored.
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

/// Returns JSON on one line; bytes that are not UTF-8 become U+FFFD.
template <class Json>
std::string json_line(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
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

/// Returns whether an object contains exactly the members of the other object, in any order. A null
/// member counts as absent.
template <class Json>
bool same_members(const Json& object, const Json& other) {
  std::size_t extra = object.size();
  for (const auto& value : object) extra -= value.is_null();
  for (const auto& [key, value] : other.items()) {
    const Json* const found = json_member<Json>(&object, key.c_str());
    if (found == nullptr || *found != value) return false;
    --extra;
  }
  return extra == 0;
}

/// Returns whether an array contains exactly these texts; a missing array contains none.
template <class Json>
bool has_texts(const Json* array, const std::vector<std::string_view>& texts) {
  if (array == nullptr) return texts.empty();
  const auto* items = array->template get_ptr<const typename Json::array_t*>();
  return items != nullptr && std::equal(items->begin(), items->end(), texts.begin(), texts.end(),
                                        [](const Json& item, std::string_view text) {
                                          return detail::json_text(&item) == text;
                                        });
}

/// An array in a JSON document. Retained records keep members that the library does not know.
template <class Json>
struct JsonList {
  typename Json::array_t& items;
  const char* key_member;  // empty if the items are `NAME=value`

  std::size_t size() const { return items.size(); }
  std::string_view key(std::size_t i) const {
    if (*key_member == '\0') return env_name(json_text(&items[i]));
    return json_text(json_member<Json>(&items[i], key_member));
  }
  /// Compares objects only.
  bool equals(std::size_t i, const auto& record) const {
    if constexpr (requires { record.args; }) {  // compared first: most hooks differ here
      if (json_text(json_member<Json>(&items[i], "path")) != record.path) return false;
      if (!has_texts(json_member<Json>(&items[i], "args"), record.args)) return false;
    }
    return same_members(items[i], json_record<Json>(record));
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
  /// Returns an item as JSON text; for `NAME=value`, only the text.
  std::string record(std::size_t i) const {
    return *key_member == '\0' ? std::string{json_text(&items[i])} : json_line(items[i]);
  }
};

/// The object `linux.netDevices` in a JSON document.
template <class Json>
class JsonInterfaces {
 public:
  explicit JsonInterfaces(Json& object)
      : members_{object.template get_ref<typename Json::object_t&>()} {
    if constexpr (is_ordered) {
      for (const auto& [key, value] : members_) places_.try_emplace(key, places_.size());
    }
  }

  void set(std::string_view key, const oci::LinuxNetDeviceView& record) {
    auto value = json_record<Json>(record);
    if constexpr (is_ordered) {
      const auto [place, is_new] = places_.try_emplace(std::string{key}, places_.size());
      if (!is_new) {
        members_.begin()[static_cast<std::ptrdiff_t>(place->second)].second = std::move(value);
        return;
      }
      detail::make_room(members_);
      members_.emplace_back(std::string{key}, std::move(value));
    } else {
      members_[std::string{key}] = std::move(value);
    }
  }
  /// Returns the entry of a key as JSON text, or nothing if it is absent.
  std::optional<std::string> find(std::string_view key) const {
    if constexpr (is_ordered) {
      const auto place = places_.find(std::string{key});
      if (place == places_.end()) return std::nullopt;
      return json_line(members_.begin()[static_cast<std::ptrdiff_t>(place->second)].second);
    } else {
      const auto found = members_.find(std::string{key});
      if (found == members_.end()) return std::nullopt;
      return json_line(found->second);
    }
  }

 private:
  /// `ordered_map` searches all keys linearly, which would take quadratic time for many keys.
  static constexpr bool is_ordered = requires(typename Json::object_t & object) {
    object.capacity();
  };

  typename Json::object_t& members_;
  std::map<std::string, std::size_t> places_{};  // positions of an ordered object's keys
};

/// A view, perhaps empty, of a value in a JSON document, for `PartCheck`.
template <class Json>
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(const Json* value) : value_{value} {}

  explicit operator bool() const { return value_ != nullptr; }
  bool is_object() const { return value_->is_object(); }
  bool is_array() const { return value_->is_array(); }
  bool is_text() const { return value_->is_string(); }
  bool is_any() const { return true; }
  bool is_id() const { return json_id(value_).has_value(); }

  FoundMember<JsonView> find(std::string_view key) const {
    FoundMember<JsonView> found;
    const auto* members = value_->template get_ptr<const typename Json::object_t*>();
    if (members == nullptr) return found;
    for (const auto& member : *members) {
      if (member.first == key) {
        if (!member.second.is_null()) found.value = JsonView{&member.second};
      } else if (is_in_other_case(member.first, key) && !found.odd) {
        found.odd = {.text = member.first};
      }
    }
    return found;
  }
  template <class Visit>
  void each(Visit visit) const {
    if (value_ == nullptr) return;
    for (std::size_t i = 0; i < value_->size() && visit(JsonView{&(*value_)[i]}); ++i) continue;
  }

  std::string describe() const {
    if (value_->is_number()) return value_->dump();
    if (value_->is_null()) return "null";
    if (value_->is_object()) return "an object";
    if (value_->is_array()) return "an array";
    if (value_->is_string()) return "text";
    if (value_->is_boolean()) return "true or false";
    return value_->is_discarded() ? "invalid JSON text" : "binary data";
  }
  static Position position() { return {}; }

 private:
  const Json* value_ = nullptr;
};

/// Calls `hold_items` for all values in a document.
template <class Json>
void hold_all_items([[maybe_unused]] Json& document) {
#if JSON_DIAGNOSTICS
  std::vector<Json*> open{&document};
  while (!open.empty()) {
    Json& value = *open.back();
    open.pop_back();
    detail::hold_items(value);
    if (!value.is_structured()) continue;
    for (Json& item : value) open.push_back(&item);
  }
#endif
}

}  // namespace detail

/// Edits an OCI `config.json` as a document, for `apply`: unknown members keep their values and,
/// with `ordered_json`, their places. Missing or null parts are created when needed. Before `check`
/// has succeeded, call only `process_user` and `has_id_mappings`: the other functions expect
/// parts of the kinds that OCI requires.
template <JsonDocument Json>
struct SpecEditor<Json> : detail::JsonParts<SpecEditor<Json>, Json&, detail::JsonList<Json>,
                                            detail::JsonInterfaces<Json>> {
  Json& document;  ///< the edited document; outlives the editor and its lists

  /// Makes an editor for a document, which must outlive the editor.
  explicit SpecEditor(Json& edited) : document{edited} {}

  /// Checks that the touched parts have the kinds that OCI requires. Fails with `Errc::schema` and
  /// the path of the first part of a wrong kind. Changes nothing.
  Result<void> check(const TouchedParts& touched) const {
    return detail::PartCheck<detail::JsonView<Json>>{touched}.check(
        detail::JsonView<Json>{&document});
  }

  /// Returns `linux.intelRdt` as JSON text, or nothing if it is absent.
  std::optional<std::string> intel_rdt() const {
    const Json* part = detail::json_member<Json>(&document, "linux");
    const Json* settings = detail::json_member<Json>(part, "intelRdt");
    if (settings == nullptr) return std::nullopt;
    return detail::json_line(*settings);
  }
  /// Returns `process.user`; an ID that is missing or not a number of 32 bits is 0.
  ProcessUser process_user() const {
    const Json* user = detail::json_member(detail::json_member<Json>(&document, "process"), "user");
    return {id(user, "uid"), id(user, "gid")};
  }
  /// Returns whether `linux` has a `user` namespace, and mappings of user and group ids.
  bool has_id_mappings() const {
    const Json* part = detail::json_member<Json>(&document, "linux");
    const auto items = [&](const char* name) {
      const Json* all = detail::json_member(part, name);
      const auto* list =
          all == nullptr ? nullptr : all->template get_ptr<const typename Json::array_t*>();
      return list == nullptr ? std::span<const Json>{} : std::span<const Json>{*list};
    };
    if (items("uidMappings").empty() || items("gidMappings").empty()) return false;
    const auto spaces = items("namespaces");
    return std::any_of(spaces.begin(), spaces.end(), [](const Json& item) {
      return detail::json_text(detail::json_member(&item, "type")) == "user";
    });
  }

  /// Completes the edits.
  void finish() { detail::hold_all_items(document); }

 private:
  using Parts = detail::JsonParts<SpecEditor<Json>, Json&, detail::JsonList<Json>,
                                  detail::JsonInterfaces<Json>>;
  friend Parts;

  Json& root() { return document; }
  static std::uint32_t id(const Json* user, const char* key) {
    return detail::json_id(detail::json_member(user, key)).value_or(0);
  }

  /// Returns the value at a key; creates a missing value as null.
  static Json& place(Json& outer, std::string_view key) {
    auto& members = outer.template get_ref<typename Json::object_t&>();
    detail::make_room(members);
    return members[std::string{key}];
  }

  /// Returns the object at a key; creates a missing or null object.
  static Json& object(Json& outer, std::string_view key) {
    Json& value = place(outer, key);
    if (value.is_null()) value = Json(Json::value_t::object);
    return value;
  }

  static void set(Json& outer, std::string_view key, const auto& record) {
    place(outer, key) = detail::json_record<Json>(record);
  }
  static bool is_empty(const Json& object) { return object.empty(); }
  static detail::JsonInterfaces<Json> entries(Json& object) {
    return detail::JsonInterfaces<Json>{object};
  }
  static detail::JsonList<Json> list(Json& outer, std::string_view key, const char* key_member) {
    Json& value = place(outer, key);
    if (value.is_null()) value = Json(Json::value_t::array);
    return {value.template get_ref<typename Json::array_t&>(), key_member};
  }
};

#ifdef CDI_COMPILED
extern template Result<void> detail::edit(nlohmann::json& target, JoinedEdits& edits,
                                          const HostRef& host);
extern template Result<void> detail::edit(nlohmann::ordered_json& target, JoinedEdits& edits,
                                          const HostRef& host);
#endif

}  // namespace cdi

#ifdef CDI_SOURCE
#include <cdi/nlohmann/editor.inl>
#endif

#endif  // CDI_NLOHMANN_EDITOR_HPP
