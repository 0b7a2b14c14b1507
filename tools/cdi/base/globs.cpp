// Expands patterns in device names: `vendor.com/gpu=*` means all devices of the kind.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "globs.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace {

/// The first device of a valid file that a pattern matches, although it does not resolve.
std::optional<cdi::Unresolved> unusable_match(const cdi::Registry& registry,
                                              const tools::Glob& glob) {
  const auto explain = [&](const auto& devices,
                           const std::string& kind) -> std::optional<cdi::Unresolved> {
    for (const auto& device : devices) {
      const std::string names[] = {cdi::qualified_name(kind, device.name)};
      if (!glob.matches(names[0])) continue;
      auto missing = registry.unresolved(names);
      const bool could_resolve =
          !missing.empty() && missing.front().reason != cdi::Reason::invalid_name;
      if (could_resolve) return std::move(missing.front());
    }
    return std::nullopt;
  };
  for (const auto& loaded : registry.specs()) {
    const auto& kind = loaded->spec.kind;
    if (auto found = explain(loaded->spec.devices, kind)) return found;
    if (auto found = explain(loaded->quarantined, kind)) return found;
  }
  return std::nullopt;
}

/// A name whose explanation also explains a pattern without matches. If no file has a kind of the
/// pattern, any kind that no file has will do: the reason is in directories and unread files.
std::string name_for(std::string_view kind, const tools::Glob& kinds, const cdi::Registry& registry,
                     const GlobSearch& search) {
  std::string name{kind};
  if (!cdi::parse_kind(kind)) {
    name = "vendor.invalid/none";
    for (const auto& loaded : registry.specs()) {
      if (kinds.matches(loaded->spec.kind)) name = loaded->spec.kind;
    }
  }
  name += "=none";
  const auto defined = detail::defined_names(registry);
  const auto has_name = [&](const std::vector<std::string>& list) {
    return std::binary_search(list.begin(), list.end(), name);
  };
  const auto& lists = search.lists;
  while (has_name(defined) || std::any_of(lists.begin(), lists.end(), has_name)) name += "-none";
  return name;
}

/// The rejected files of the kinds of a pattern: they may define a device that it matches.
cdi::Unresolved explain_rejected(const tools::Glob& kinds, const cdi::Registry& registry) {
  cdi::Unresolved out{.reason = cdi::Reason::rejected};
  for (const auto& file : registry.rejected()) {
    if (file->kind.empty() || !kinds.matches(file->kind)) continue;
    if (out.causes.empty()) out.needs_version = file->needs_version;
    out.causes.push_back(file->why);
  }
  return out;
}

/// Explains why a valid pattern matches no device: matching devices do not resolve, or no file
/// defines one. Rejected files of its kind may define one.
cdi::Unresolved explain_no_match(const cdi::Registry& registry, const tools::Glob& glob,
                                 const std::string& pattern, const GlobSearch& search) {
  if (auto found = unusable_match(registry, glob)) {
    found->name = pattern;
    found->why.message.insert(
        0, fmt::format("no device that {} matches resolves: ", cdi::quoted(pattern)));
    return *std::move(found);
  }
  const auto kind = std::string_view{pattern}.substr(0, pattern.find('='));
  const auto kinds = tools::Glob::parse(kind);
  cdi::Error why{.code = cdi::Errc::not_found,
                 .message = fmt::format("no device matches {}: ", cdi::quoted(pattern)),
                 .advice = "`cdi devices` lists all names"};
  if (kind.size() == pattern.size() || kind.find('/') == kind.npos || !kinds) {
    why.code = cdi::Errc::invalid_name;
    why.message += "a pattern has the form of a whole name, such as vendor.com/gpu=*";
    return {.name = pattern, .reason = cdi::Reason::invalid_name, .why = std::move(why)};
  }
  auto out = explain_rejected(*kinds, registry);
  if (out.causes.empty()) out = search.explain(name_for(kind, *kinds, registry, search));
  if (out.reason != cdi::Reason::unknown_kind || !cdi::parse_kind(kind)) out.nearest.clear();
  why.message += out.reason == cdi::Reason::unknown_device
                     ? "its kind has no device of such a name"
                     : std::string{row_of(out.reason).meaning};
  if (!is_unknown(out.reason)) {
    why.advice.clear();
    for (const auto& cause : out.causes) why.message += ": " + to_string(cause);
  }
  out.name = pattern;
  out.why = std::move(why);
  return out;
}

}  // namespace

bool is_glob(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos;
}

ExpandedNames expand_names(const std::vector<std::string>& names, const cdi::Registry& registry,
                           const GlobSearch& search) {
  ExpandedNames out;
  std::set<std::string> added;
  const auto add = [&](const std::string& name) {
    if (added.insert(name).second) out.names.push_back(name);
  };
  for (const auto& name : names) {
    if (!is_glob(name)) {
      add(name);
      continue;
    }
    const auto glob = tools::Glob::parse(name);
    const auto matches = glob ? detail::matching_names(*glob, search) : std::vector<std::string>{};
    for (const auto& one : matches) add(one);
    if (!matches.empty()) continue;
    add(name);
    out.failed.push_back(glob ? explain_no_match(registry, *glob, name, search)
                              : detail::invalid_glob(name, glob.error()));
  }
  return out;
}

ExpandedNames expand_names(const std::vector<std::string>& names, const cdi::Registry& registry) {
  if (std::none_of(names.begin(), names.end(), is_glob)) return {.names = names};
  const auto explain = [&](const std::string& name) {
    return std::move(registry.unresolved({name}).front());
  };
  return expand_names(names, registry, {.lists = {registry.devices()}, .explain = explain});
}

void explain_patterns(std::vector<cdi::Unresolved>& missing, const ExpandedNames& names) {
  for (auto& one : missing) {
    for (const auto& pattern : names.failed) {
      if (pattern.name == one.name) one = pattern;
    }
    const auto advice = advice_on_several(one);
    if (!advice.empty()) one.why.advice = advice;
  }
}

std::vector<cdi::Unresolved> unresolved_names(const ExpandedNames& names,
                                              const cdi::Registry& registry) {
  auto missing = registry.unresolved(names.names);
  explain_patterns(missing, names);
  return missing;
}

std::optional<std::vector<cdi::ResolvedDevice>> resolve_or_report(
    const std::vector<std::string>& names, const cdi::Registry& registry, const Output& output) {
  const auto expanded = expand_names(names, registry);
  auto devices = registry.resolve_all(expanded.names);
  if (devices) return *std::move(devices);
  for (const auto& one : unresolved_names(expanded, registry)) report_unresolved(one, output);
  return std::nullopt;
}

namespace detail {

std::vector<std::string> defined_names(const cdi::Registry& registry) {
  std::set<std::string> names;
  for (const auto& loaded : registry.specs()) {
    const auto& spec = loaded->spec;
    for (const auto& device : spec.devices) {
      names.insert(cdi::qualified_name(spec.kind, device.name));
    }
    for (const auto& one : loaded->quarantined) {
      names.insert(cdi::qualified_name(spec.kind, one.name));
    }
  }
  for (const auto& file : registry.rejected()) {
    for (const auto& name : file->devices) names.insert(cdi::qualified_name(file->kind, name));
  }
  return {names.begin(), names.end()};
}

cdi::Unresolved invalid_glob(const std::string& pattern, const cdi::Error& fault) {
  return {.name = pattern,
          .reason = cdi::Reason::invalid_name,
          .why = {.code = cdi::Errc::invalid_name,
                  .message =
                      fmt::format("{} is not a pattern: {}", cdi::quoted(pattern), fault.message),
                  .advice = fault.advice}};
}

std::vector<std::string> matching_names(const tools::Glob& glob, const GlobSearch& search) {
  std::vector<std::string> out;
  for (const auto& list : search.lists) {
    for (const auto& name : list) {
      if (glob.matches(name)) out.push_back(name);
    }
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace detail
