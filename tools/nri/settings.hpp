// The settings of cdi-nri: from its command line, or from the runtime that launches it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/result.hpp>
#include <cdi/scan.hpp>

#include "../kit/base/toml.hpp"
#include "../kit/names/policy_file.hpp"

namespace nri {

/// The settings, with their defaults.
struct Settings {
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();
  /// Who turns names into edits: `auto`, the runtime if it can; `always`, this plugin; `never`, the
  /// runtime, and nothing is checked.
  std::string resolve = "auto";
  std::string policy{};                   // a file; empty: everything is allowed
  std::vector<std::string> namespaces{};  // patterns for pods that may request; empty: all
  std::vector<std::string> prefixes{};    // of annotations, in addition to `annotation_families`
  std::string host_root{};                // the host's root directory, as this process sees it
  /// How long an answer may take, in milliseconds. A runtime waits for each answer, and by default
  /// drops a plugin after 2 s.
  std::int32_t answer_limit = 90;

  static constexpr void fields(auto& list) {
    list("spec-dirs", &Settings::spec_dirs);
    list("resolve", &Settings::resolve);
    list("policy", &Settings::policy);
    list("namespaces", &Settings::namespaces);
    list("prefixes", &Settings::prefixes);
    list("host-root", &Settings::host_root);
    list("answer-limit", &Settings::answer_limit);
  }
};

inline constexpr int max_answer_limit = 60'000;

/// Fails for settings that contradict each other.
inline cdi::Result<void> check(const Settings& settings) {
  if (settings.policy.empty() || settings.resolve != "never") return {};
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "a policy has no effect if the runtime resolves the names",
                    .advice = "leave out one of them"};
}

/// Fails if the policy cannot be read now. It is read again for each container.
inline cdi::Result<void> try_policy(const Settings& settings) {
  if (settings.policy.empty()) return {};
  const auto policy = tools::read_policy_file(settings.policy);
  return policy ? cdi::Result<void>{} : policy.error();
}

/// Applies the settings in a TOML text. `name` is for messages. Unknown settings are errors,
/// because a misspelt policy would have no effect.
inline cdi::Result<void> read_settings(std::string_view text, std::string_view name,
                                       Settings& settings) {
  const auto document = tools::read_toml(text, name, settings);
  if (!document) return document.error();
  for (const auto member : document->root().members()) {  // nothing would be allowed, or all
    const auto& value = member.value;
    if (value.kind() != cdi::Document::Kind::list || value.size() > 0) continue;
    return tools::member_error(*document, member.key.text(), "must not be empty");
  }
  const auto& way = settings.resolve;
  if (way != "auto" && way != "always" && way != "never") {
    return tools::member_error(*document, "resolve", "must be auto, always or never");
  }
  if (settings.answer_limit <= 0 || settings.answer_limit > max_answer_limit) {
    return tools::member_error(*document, "answer-limit",
                               "must be a number of milliseconds from 1 to 60000");
  }
  return {};
}

}  // namespace nri
