// Makes a JSON schema, draft 2020-12, of field lists.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <concepts>
#include <cstdlib>
#include <cxxabi.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/minimum_version.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/shapes.hpp>
#include <cdi/validate.hpp>

using Json = nlohmann::ordered_json;

inline Json one_of(const auto& texts) {
  return {{"enum", texts}};
}

/// What a rule requires of a member, besides its type. A demand without a rule is always an error,
/// and one without a key is about the object.
struct Demand {
  std::string_view type;
  std::string_view key;
  std::optional<cdi::Rule> rule;
  Json words;
  bool is_used = false;
};

/// A type with only some of its members in the schema, none of them required.
struct Part {
  std::string_view type;
  std::vector<std::string_view> keys;
};

/// Which members a schema has: those of the current CDI version, or those of all.
enum class Members : bool { current, of_all_versions };

/// Whether an object may have members that the schema does not know.
enum class Unknown : bool { refused, ignored };

/// Whether a type is a template of the tools, and not one of the models.
template <class T>
inline const bool is_template_of_ours = false;

/// For example, `LinuxDevice` for `cdi::oci::BasicLinuxDevice<cdi::Owning>`, `Policy` for
/// `cdi::Policy`, and `dra.LogLine` for `dra::LogLine`, of which other tools have one, too.
template <class T>
std::string type_name() {
  const std::unique_ptr<char, void (*)(void*)> whole{
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr), std::free};
  constexpr std::string_view mark = "Basic";
  std::string_view name{whole.get()};
  name = name.substr(0, name.find('<'));
  const auto space = name.substr(0, name.find("::"));
  name = name.substr(name.rfind(':') + 1);
  if (name.starts_with(mark)) name.remove_prefix(mark.size());
  const bool is_of_tool = space == "dra" || space == "nri" || space == "pod" || space == "prepare";
  return (is_of_tool ? std::string{space} + "." : std::string{}).append(name);
}

class Schema {
 public:
  Schema(std::vector<Demand> demands, std::vector<Part> parts, Members members,
         Unknown unknown = Unknown::refused)
      : demands_{std::move(demands)},
        parts_{std::move(parts)},
        members_{members},
        unknown_{unknown} {}

  /// The schema of a document whose root is a `T`. Can be called only once.
  template <cdi::Described T>
  Json document(std::string_view id, std::string_view title) {
    return with_definitions(id, title, object<T>());
  }

  /// Adds a definition of this name, for `collection`.
  template <class T>
  void define(std::string_view name) {
    definitions_[std::string{name}] = value<T>();
  }

  /// The schema with only the definitions. Can be called only once.
  Json collection(std::string_view id, std::string_view title) {
    return with_definitions(id, title, Json::object());
  }

 private:
  Json with_definitions(std::string_view id, std::string_view title, const Json& root) {
    Json schema{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", id}, {"title", title}};
    schema.update(root);
    schema["$defs"] = std::move(definitions_);
    for (const auto& demand : demands_) {
      if (demand.is_used) continue;
      const std::string member = std::string{demand.type}.append(".").append(demand.key);
      throw std::logic_error{"a rule names the member " + member + ", which does not exist"};
    }
    return schema;
  }

  /// A value, or null.
  static Json or_null(Json words) {
    if (words.contains("type")) {
      words["type"] = Json::array({words["type"], "null"});
      return words;
    }
    return {{"anyOf", Json::array({std::move(words), {{"type", "null"}}})}};
  }

  /// The member of an object.
  template <class T>
  Json member(std::string_view key, cdi::Presence when) {
    if (std::integral<T> && key == "version") return {{"const", 1}};
    if (cdi::detail::Optional<T> && when == cdi::Presence::required) return or_null(value<T>());
    return value<T>();
  }

  template <cdi::Described T>
  Json object() {
    const std::string type = type_name<T>();
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& other) { return other.type == type; });
    const bool whole = part == parts_.end();
    Json properties = Json::object();
    Json required = Json::array();
    cdi::every_field<T>([&](const auto& field) {
      using Member = typename std::remove_cvref_t<decltype(field)>::value_type;
      const bool here = whole || std::count(part->keys.begin(), part->keys.end(), field.key) > 0;
      if (!here || (members_ == Members::current && !field.lifetime.has(cdi::current_version))) {
        return true;
      }
      Json& words = properties[std::string{field.key}] = member<Member>(field.key, field.when);
      words.update(take_demand(type, field.key), /*merge_objects=*/true);
      const bool is_written = unknown_ == Unknown::ignored &&  // in what we print
                              field.when == cdi::Presence::keep_empty;
      if (whole && (is_written || field.when == cdi::Presence::required)) {
        required.push_back(field.key);
      }
      return true;
    });
    Json words{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) words["required"] = std::move(required);
    if (unknown_ == Unknown::refused) words["additionalProperties"] = false;
    words.update(take_demand(type, {}));
    return words;
  }

  template <class T>
  Json value() {
    if constexpr (cdi::detail::Optional<T>) {
      using Value = typename T::value_type;
      return cdi::detail::Optional<Value> ? or_null(value<Value>()) : value<Value>();
    } else if constexpr (cdi::Described<T>) {
      return reference<T>();
    } else if constexpr (cdi::detail::is_any_value<T>) {
      return Json::object();
    } else if constexpr (std::same_as<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::integral<T>) {
      return {{"type", "integer"},
              {"minimum", std::numeric_limits<T>::min()},
              {"maximum", std::numeric_limits<T>::max()}};
    } else if constexpr (cdi::detail::Text<T>) {
      return {{"type", "string"}};
    } else if constexpr (cdi::detail::Dict<T>) {
      return {{"type", "object"}, {"additionalProperties", value<typename T::mapped_type>()}};
    } else {
      static_assert(cdi::detail::List<T>);
      return {{"type", "array"}, {"items", value<typename T::value_type>()}};
    }
  }

  template <cdi::Described T>
  Json reference() {
    const std::string type = type_name<T>();
    if (is_template_of_ours<T>) return object<T>();  // several types have the name
    const std::type_index known = types_.try_emplace(type, typeid(T)).first->second;
    if (known != typeid(T)) throw std::logic_error{"two types have the name " + type};
    if (!definitions_.contains(type)) {
      definitions_[type] = nullptr;  // puts it before the types of its members
      definitions_[type] = object<T>();
    }
    return {{"$ref", "#/$defs/" + type}};
  }

  /// What a rule requires of a member, or without a key of the object; empty if the rule is only a
  /// warning.
  Json take_demand(std::string_view type, std::string_view key) {
    const auto found = std::find_if(demands_.begin(), demands_.end(), [&](const Demand& demand) {
      return demand.type == type && demand.key == key;
    });
    if (found == demands_.end()) return Json::object();
    found->is_used = true;
    const bool warns = found->rule && cdi::row_of(*found->rule).severity == cdi::Severity::warning;
    return warns ? Json::object() : found->words;
  }

  std::vector<Demand> demands_;
  std::vector<Part> parts_;
  Members members_;
  Unknown unknown_;
  std::map<std::string, std::type_index> types_{};  // of the definitions
  Json definitions_ = Json::object();
};
