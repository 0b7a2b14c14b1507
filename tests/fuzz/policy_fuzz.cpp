// A policy that is read reads back. It decides about each device of a spec by its first rule that
// applies, so that later rules do not matter; and the log of its decisions is JSON. An input is a
// policy, a record separator, and a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <cdi/file.hpp>
#include <cdi/json.hpp>
#include <cdi/policy.hpp>
#include <cdi/registry.hpp>

#include "fuzz.hpp"

namespace {

/// Whether a pattern matches, by a table of the prefixes of the text that the pattern so far does.
bool matches(std::string_view pattern, std::string_view text) {
  std::vector<bool> matched(text.size() + 1);
  matched[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(text.size() + 1);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const bool one = i > 0 && (c == '*' ? next[i - 1] : matched[i - 1] && text[i - 1] == c);
      next[i] = one || (c == '*' && matched[i]);
    }
    matched = next;
  }
  return matched.back();
}

bool covers(const cdi::OptionalTexts& patterns, std::string_view text) {
  return !patterns || std::any_of(patterns->begin(), patterns->end(),
                                  [&](const auto& pattern) { return matches(pattern, text); });
}

/// Whether a rule applies to all devices that it covers.
bool has_no_other_condition(const cdi::PolicyRule& rule) {
  return !rule.sources && !rule.files && !rule.file_owners && !rule.file_groups &&
         rule.file_mode.empty();
}

void check_decision(const cdi::Policy& policy, const cdi::ResolvedDevice& device,
                    const cdi::Decision& decision, cdi::RequestOrigin origin) {
  fuzz::require(decision.allowed == decision.reasons.empty(), "a denial has a reason");
  for (std::size_t i = 0; i < policy.rules.size(); ++i) {
    const auto& rule = policy.rules[i];
    const bool covered = covers(rule.devices, decision.device);
    if (rule.name != decision.rule) {
      fuzz::require(!covered || !has_no_other_condition(rule), "no earlier rule applies",
                    rule.name);
      continue;
    }
    fuzz::require(covered, "the rule that decides covers the device", rule.name);
    fuzz::require(rule.allow || !decision.allowed, "a rule that denies allows nothing", rule.name);
    const auto end = policy.rules.begin() + static_cast<std::ptrdiff_t>(i + 1);
    const cdi::Policy shorter{.rules = {policy.rules.begin(), end}};
    fuzz::require(cdi::decide(shorter, {&device, 1}, origin)[0] == decision,
                  "later rules do not matter", rule.name);
    return;
  }
  fuzz::require(decision.rule.empty() && !decision.allowed, "without a rule, a device is denied");
}

void check_decisions(const cdi::Policy& policy, const cdi::LoadedSpec& spec,
                     cdi::RequestOrigin origin) {
  std::vector<cdi::ResolvedDevice> devices;
  for (const auto& device : spec.spec.devices) devices.push_back({&spec, &device});
  const auto decisions = cdi::decide(policy, devices, origin);
  fuzz::require(decisions.size() == devices.size(), "each device has a decision");
  bool all = true;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    check_decision(policy, devices[i], decisions[i], origin);
    all = all && decisions[i].allowed;
  }
  fuzz::require(cdi::require_allowed(decisions).has_value() == all, "one denial refuses all");
  fuzz::require(cdi::parse_json(cdi::write_decisions(decisions)).has_value(), "the log is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [text, spec] = fuzz::two_texts(fuzz::text_of(data, size));
  const auto policy = cdi::read_policy(text, "policy.json");
  if (!fuzz::is_read(policy, text)) return 0;
  const auto written = *cdi::write_json(*policy);
  const auto again = cdi::read_policy(written);
  fuzz::require(again && *again == *policy, "a policy reads back", written);
  auto loaded = cdi::parse_spec(spec, "/etc/cdi/s.yaml", cdi::Format::yaml);
  if (!loaded) return 0;
  check_decisions(*policy, *loaded, cdi::RequestOrigin::field);
  loaded->access = {.owner = 0, .group = 1, .mode = 0640};
  check_decisions(*policy, *loaded, cdi::RequestOrigin::command_line);
  return 0;
}
