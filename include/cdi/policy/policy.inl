// The bodies of <cdi/policy/policy.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_POLICY_POLICY_INL
#define CDI_POLICY_POLICY_INL

#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/base/path.hpp>
#include <cdi/policy/policy.hpp>
#include <cdi/requests/requests.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline Error invalid_policy(std::string where, std::string message, std::string_view advice = {}) {
  return {.code = Errc::invalid,
          .message = std::move(message),
          .advice = std::string{advice},
          .where = std::move(where)};
}

inline Error policy_over_limit(std::string where, std::string_view what, std::size_t max) {
  std::string message = "at most ";
  message.append(std::to_string(max)).append(" ").append(what).append(" are allowed");
  return {.code = Errc::limit,
          .message = std::move(message),
          .advice = "use fewer",
          .where = std::move(where)};
}

/// A fault in an entry of a list, and its remedy; empty if there is no fault.
struct TextFault {
  std::string_view message = {};
  std::string_view advice = {};
};
using FaultOfText = TextFault (*)(std::string_view text);

/// Checks a kind and a device, each of which is a name or a pattern.
inline TextFault fault_of_device(std::string_view text) {
  constexpr TextFault no_device{"is neither a device nor a pattern",
                                "write vendor.com/class=device, with * for any text"};
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {"has no =", "write vendor.com/class=* for a kind"};
  const auto kind = text.substr(0, equals);
  const auto device = text.substr(equals + 1);
  const bool has_both = kind.find_first_of("/*") != std::string_view::npos && !device.empty();
  if (!has_both || device.find_first_of("=/") != std::string_view::npos) return no_device;
  if (kind.find('/') != kind.rfind('/')) return no_device;
  for (const char c : text) {
    const bool in_names = is_alphanumeric(c) || inner_chars.find(c) != std::string_view::npos;
    if (!in_names && c != '*' && c != '/' && c != '=') {
      return {"contains a character that names cannot contain: only * is special", {}};
    }
  }
  return {};
}

inline TextFault fault_of_path(std::string_view text) {
  if (!text.starts_with('/')) return {"is not an absolute path", "start it with /"};
  if (has_parent_part(text)) return {"contains ..", "write the path without it"};
  return {};
}

inline TextFault fault_of_variable(std::string_view text) {
  if (text.empty()) return {"is empty", "use * for any variable"};
  if (text.find('=') != std::string_view::npos) return {"contains a =", "write only the name"};
  return {};
}

inline TextFault fault_of_interface(std::string_view text) {
  return text.empty() ? TextFault{"is empty", "use * for any interface"} : TextFault{};
}

inline TextFault fault_of_option(std::string_view text) {
  return text.empty() ? TextFault{"is empty", "use * for any option"} : TextFault{};
}

inline TextFault fault_of_source(std::string_view text) {
  for (const auto name : request_origin_names) {
    if (name == text) return {};
  }
  return {"is not a source", "use field, annotation, variable or commandLine"};
}

inline Result<void> check_texts(const OptionalTexts& texts, std::string_view key,
                                FaultOfText fault) {
  std::size_t wildcards = 0;
  for (std::size_t i = 0; texts && i < texts->size(); ++i) {
    const auto& text = (*texts)[i];
    const auto found = fault(text);
    if (!found.message.empty()) {
      return invalid_policy(item_path(key, i), cdi::quoted(text).append(" ").append(found.message),
                            found.advice);
    }
    if (text.find('*') != std::string::npos) ++wildcards;
    if (wildcards > max_wildcards) {
      return policy_over_limit(item_path(key, i), "patterns with * in a list", max_wildcards);
    }
  }
  return {};
}

inline Result<void> check_limits(const EditLimits& limits) {
  const struct {
    const OptionalTexts& texts;
    std::string_view key;
    FaultOfText fault;
  } lists[] = {{limits.env, "env", fault_of_variable},
               {limits.device_nodes, "deviceNodes", fault_of_path},
               {limits.net_devices, "netDevices", fault_of_interface},
               {limits.hooks, "hooks", fault_of_path},
               {limits.hook_env, "hookEnv", fault_of_variable},
               {limits.mounts, "mounts", fault_of_path},
               {limits.mount_options, "mountOptions", fault_of_option}};
  for (const auto& list : lists) {
    if (auto good = check_texts(list.texts, list.key, list.fault); !good) {
      return std::move(good).error().under("edits");
    }
  }
  return {};
}

inline Result<void> check_rule(const PolicyRule& rule) {
  if (rule.name.empty()) return invalid_policy("name", "the rule needs a name for the log");
  if (auto good = check_texts(rule.devices, "devices", fault_of_device); !good) return good;
  if (auto good = check_texts(rule.sources, "sources", fault_of_source); !good) return good;
  if (auto good = check_texts(rule.files, "files", fault_of_path); !good) return good;
  if (!rule.file_mode.empty() && !parse_mode(rule.file_mode)) {
    return invalid_policy("fileMode", cdi::quoted(rule.file_mode) + " is not a mode",
                          "write \"0644\"");
  }
  if (!rule.allow && rule.edits != EditLimits{}) {
    return invalid_policy("edits", "a rule that denies cannot limit edits",
                          "remove the limits, or "
                          "allow the device");
  }
  return check_limits(rule.edits);
}

/// Rejects nulls: a null would mean an absent list, which allows everything.
inline Result<void> reject_nulls(const Document::Value& value, std::string_view key) {
  if (value.is_null()) {
    return Error{.code = Errc::schema,
                 .message = "null is not allowed",
                 .advice = "remove the member, or write a value",
                 .where = std::string{key},
                 .position = value.position()};
  }
  for (const auto [name, member] : value.members()) {
    if (auto r = reject_nulls(member, name.text()); !r) {
      return key.empty() ? std::move(r) : std::move(r).error().under(key);
    }
  }
  std::size_t index = 0;
  for (const auto item : value.items()) {
    if (auto r = reject_nulls(item, item_path(key, index++)); !r) return r;
  }
  return {};
}

/// Unlike in CDI specs, member names have only one spelling.
inline Error policy_in_other_case(const Reading& reading) {
  auto error = detail::wrong_case(reading.odd_case->text(), reading.field, {});
  error.position = reading.odd_case->position();
  return error;
}

}  // namespace detail

CDI_INLINE Result<void> validate_policy(const Policy& policy) {
  if (policy.rules.size() > max_rules) {
    return detail::policy_over_limit(detail::item_path("rules", max_rules), "rules", max_rules);
  }
  const auto first = detail::first_of_equals(
      policy.rules.size(),
      [&](std::size_t a, std::size_t b) { return policy.rules[a].name < policy.rules[b].name; });
  for (std::size_t i = 0; i < policy.rules.size(); ++i) {
    const auto& rule = policy.rules[i];
    if (auto good = detail::check_rule(rule); !good) {
      return std::move(good).error().under(detail::item_path("rules", i));
    }
    if (first[i] == i) continue;
    return detail::invalid_policy(detail::item_path("rules", i) + ".name",
                                  "another rule is also named " + cdi::quoted(rule.name) +
                                      ": the log could not distinguish them");
  }
  return {};
}

CDI_INLINE Result<Policy> read_policy(std::string_view text, std::string_view file,
                                      const Limits& limits) {
  const auto document = parse_json(text, file, limits);
  if (!document) return document.error();
  if (auto good = detail::reject_nulls(document->root(), {}); !good) return good.error();
  detail::Reading reading{.is_strict = true};
  auto policy = detail::read_noting<Policy>(document->root(), reading);
  if (!policy) return policy;
  if (reading.odd_case) return detail::policy_in_other_case(reading);
  if (auto good = validate_policy(*policy); !good) {
    good.error().position = document->locate(good.error().where);
    return std::move(good).error();
  }
  return policy;
}

}  // namespace cdi

#endif  // CDI_POLICY_POLICY_INL
