// Reports where devices are defined, or why their names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "name_report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/cdi_specs/diagnose.hpp"
#include "../base/reports.hpp"

namespace {

/// The errors in rejected files of a kind, which may also define a device.
std::vector<cdi::Error> unused_of_kind(const cdi::Registry& registry, std::string_view kind) {
  std::vector<cdi::Error> errors;
  for (const auto& file : registry.rejected()) {
    if (file->kind == kind) errors.push_back(file->why);
  }
  return errors;
}

/// Where a device is defined.
ExplainedName origin_record(const std::string& name, const cdi::ResolvedDevice& found,
                            const std::vector<cdi::Error>& unused) {
  ExplainedName record{{}, name, true, found.spec->path};
  record.line = found.line();
  record.priority = found.spec->priority;
  record.not_used = records_of("warning", unused);
  return record;
}

/// Why a name does not resolve, and what to do.
ExplainedName fault_record(const cdi::Unresolved& one, std::string advice) {
  ExplainedName record{fault_of(one), one.name};
  record.message = one.why.message;
  record.advice = std::move(advice);
  return record;
}

/// The same as text; `by` is the engine that resolves the name, and `effect` what else is the case.
std::string origin_text(const std::string& name, const cdi::ResolvedDevice& found,
                        const std::vector<cdi::Error>& unused, std::string_view by,
                        std::string_view effect) {
  auto text = fmt::format("resolved{}{}{}: {}: {}:{}\n", by.empty() ? "" : " by ", by, effect, name,
                          printable(found.spec->path), found.line());
  for (const auto& error : unused) {
    text += fmt::format("  same kind, but not used: {}\n", to_string(error));
  }
  return text;
}

/// The lines about the files that may define a device.
std::string causes_text(const cdi::Unresolved& one, std::string_view label) {
  std::string text;
  for (const auto& cause : one.causes) text += fmt::format("  {}: {}\n", label, to_string(cause));
  if (one.more_causes > 0) text += fmt::format("  and {} more\n", one.more_causes);
  return text;
}

/// Why a name does not resolve, and what to do.
std::string reason_text(const cdi::Unresolved& one) {
  const auto& row = cdi::row_of(one.reason);
  const bool unknown = is_unknown(one.reason) || one.causes.empty();
  auto text = unknown ? fmt::format("{}: {}\n", row.code, one.why.message)
                      : fmt::format("{}: {}: {}\n", row.code, cdi::quoted(one.name), row.meaning);
  text += causes_text(one, unknown ? "may be in" : "at");
  if (!one.nearest.empty()) text += fmt::format("  similar: {}\n", fmt::join(one.nearest, ", "));
  return text + fmt::format("  fix: {}\n", advice_on(one));
}

/// The directories in which `tools::diagnose` looks for names, whether they are searched or not.
std::vector<std::string> other_dirs(const Question& question) {
  const bool elsewhere = question.host && question.host->is_other();
  return elsewhere ? question.spec_dirs : tools::usual_spec_dirs();
}

/// Adds the engine's further needs and possible rejections, if the engine reads a device's file.
void add_doubts(const SearchedSpecs& specs, const cdi::LoadedSpec& spec, Explanation& out) {
  const auto& engine = *specs.engine;
  if (specs.installed != nullptr && specs.installed->state() == tools::Engine::Cdi::off) {
    add_answer(engine, switched_off(*specs.installed), out);
  }
  const auto& warnings = engine.text_warnings(spec);
  for (const auto& warning : warnings) {
    out.text += fmt::format("  may be refused or read differently: {}\n", to_string(warning));
  }
  out.record.warnings = records_of("warning", warnings);
  if (!warnings.empty()) {
    const auto& advice = engine.advice(spec);
    out.text += fmt::format("  fix: {}\n", advice);
    out.record.advice = advice;
  }
  if (const auto assumed = engine.assumption(); !assumed.empty()) {
    out.text += fmt::format("  assumed: {}\n", assumed);
    out.record.assumed = assumed;
  }
  for (const auto& need : engine.needs(specs.installed != nullptr)) {
    out.text += fmt::format("  needs: {}\n", need);
    out.record.needs.push_back(need);
  }
}

/// Explains a name that does not resolve because of the engine.
Explanation explain_for_engine(const cdi::Unresolved& one, const std::string& advice) {
  Explanation out{{one.reason},
                  fmt::format("{}: {}\n", cdi::row_of(one.reason).code, one.why.message),
                  fault_record(one, advice)};
  out.text += causes_text(one, "at");
  out.text += fmt::format("  fix: {}\n", advice);
  return out;
}

/// The answer about a device that the engine knows only under another name.
cdi::Unresolved under_other_name(const std::string& name, const cdi::Error& why) {
  return {.name = name,
          .reason = cdi::Reason::unknown_device,
          .why = {.code = cdi::Errc::not_found,
                  .message = fmt::format("{}: {}", cdi::quoted(name), why.message)},
          .causes = {why}};
}

Explanation explain(const std::string& name, const cdi::ResolvedDevice& found,
                    const SearchedSpecs& specs) {
  const auto unused = unused_of_kind(*specs.registry, found.spec->spec.kind);
  Explanation out{{.device = found}, {}, origin_record(name, found, unused)};
  if (specs.engine) add_doubts(specs, *found.spec, out);
  const bool fails = specs.host && specs.host->add(name, found, out);
  out.text.insert(0, origin_text(name, found, unused, specs.engine ? specs.engine->name() : "",
                                 fails ? ", but containers with it will fail" : ""));
  return out;
}

Explanation explain(cdi::Unresolved one, const SearchedSpecs& specs) {
  const auto* const other = specs.engine ? specs.engine->renamed(one.name) : nullptr;
  if (other != nullptr) {
    return explain_for_engine(under_other_name(one.name, other->why),
                              specs.engine->advice(*other->spec));
  }
  const auto* const rejected = specs.engine ? specs.engine->cause_of(one) : nullptr;
  if (one.reason == cdi::Reason::not_searched && !specs.engine_dirs.empty()) {
    return explain_for_engine(one, specs.engine->advice_on_directory(specs.engine_dirs));
  }
  if (rejected == nullptr)
    return {{one.reason}, reason_text(one), fault_record(one, advice_on(one))};
  one.why.message =
      fmt::format("{}: {} refuses a file of its kind", cdi::quoted(one.name), specs.engine->name());
  return explain_for_engine(one, specs.engine->advice(*rejected));
}

/// Why names do not resolve. The engine is not the reason if no file defines the device.
std::vector<cdi::Unresolved> diagnosed_names(const Question& question, const SearchedSpecs& specs) {
  const auto others = other_dirs(question);
  const auto diagnose = [&](const cdi::Registry& registry) {
    return tools::diagnose(registry, question.names.names, others, question.common.reading);
  };
  auto missing = diagnose(*specs.registry);
  if (specs.engine && !missing.empty()) {
    std::map<std::string, cdi::Unresolved> unknown;
    for (auto& one : diagnose(*specs.all)) {
      if (is_unknown(one.reason)) unknown.emplace(one.name, std::move(one));
    }
    for (auto& one : missing) {
      if (const auto found = unknown.find(one.name); found != unknown.end()) one = found->second;
    }
  }
  explain_patterns(missing, question.names);
  return missing;
}

}  // namespace

cdi::Result<Question> open_question(const CommonOptions& common, const WhyOptions& options) {
  Question question{.common = common, .options = options, .spec_dirs = common.spec_dirs()};
  if (options.no_host) return question;
  auto host = HostView::open(options.root);
  if (!host) return std::move(host).error();
  question.host = *std::move(host);
  for (auto& dir : question.spec_dirs) {
    if (!common.dirs_named()) dir = question.host->path_of(dir);
  }
  return question;
}

cdi::Result<tools::VersionedEngine> requested_engine(const std::string& engine,
                                                     std::optional<HostView>& host) {
  if (!tools::can_be_asked(engine)) return *tools::parse_engine(engine);
  if (host) return host->engine_named(engine);
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = fmt::format("--for {} takes the version from the host", engine),
                    .advice = "leave out --no-host, or give the version, such as " +
                              tools::with_newest_version(engine)};
}

cdi::Result<SearchedSpecs> search_specs(Question& question) {
  const auto& common = question.common;
  const auto& options = question.options;
  auto& host = question.host;
  SearchedSpecs specs;
  auto dirs = question.spec_dirs;
  std::optional<tools::VersionedEngine> engine;
  if (!options.engine.empty()) {
    auto requested = requested_engine(options.engine, host);
    if (!requested) return std::move(requested).error();
    engine = *requested;
    if (host && tools::can_be_asked(options.engine)) specs.installed = host->find(options.engine);
    if (!common.dirs_named()) {
      specs.engine_dirs =
          specs.installed ? specs.installed->spec_dirs : EngineView::default_dirs(*engine);
    }
  }
  if (!specs.engine_dirs.empty()) {
    dirs = specs.engine_dirs;
    for (auto& dir : dirs) dir = host ? host->path_of(dir) : dir;
  }
  specs.all = host ? host->scan(dirs, common.reading) : cdi::scan_spec_dirs(dirs, common.reading);
  specs.registry = specs.all;
  question.names = expand_for_why(options.names, *specs.all, other_dirs(question), common.reading);
  if (engine) {
    specs.engine.emplace(
        *engine, *specs.all,
        SpecHost{.root = host ? host->root() : std::string{}, .dirs_named = common.dirs_named()});
    specs.registry = specs.engine->registry();
  }
  const auto& names = question.names.names;
  const bool any = std::any_of(names.begin(), names.end(), [&](const auto& name) {
    return specs.registry->find(name).device != nullptr;
  });
  const bool in_guest = engine && engine->name == "kata-agent";  // this host is not its host
  if (host && any && !in_guest)
    specs.host.emplace(*host, *specs.all, !specs.engine, common.dirs_named());
  return specs;
}

NameAnswers answer_names(const Question& question, const SearchedSpecs& specs) {
  NameAnswers out;
  const auto missing = diagnosed_names(question, specs);
  std::map<std::string_view, const cdi::Unresolved*> reasons;
  for (const auto& one : missing) reasons.emplace(one.name, &one);
  out.list.reserve(question.names.names.size());
  for (const auto& name : question.names.names) {
    const auto found = specs.registry->find(name);
    auto one =
        found.device != nullptr ? explain(name, found, specs) : explain(*reasons.at(name), specs);
    if (one.reason && out.code == exit_done) out.code = exit_code_of(*one.reason);
    if (specs.engine) {
      one.record.engine = specs.engine->name();
      one.record.reads = specs.engine->newest();
      if (specs.installed) add_setup_warnings(*specs.installed, one);
    }
    out.text += one.text;
    out.list.push_back(std::move(one.record));
    out.by_name.emplace(name, std::move(static_cast<NameFacts&>(one)));
  }
  return out;
}
