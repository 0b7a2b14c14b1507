// The schemas of what the tools print with -o json.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "results.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/nvidia.hpp>
#include <cdi/sandbox.hpp>

#include "../tools/cdi/results/devices.hpp"
#include "../tools/cdi/results/files.hpp"
#include "../tools/cdi/results/why.hpp"
#include "../tools/dra/inspect/results.hpp"
#include "../tools/dra/log.hpp"
#include "../tools/gpu/model/fault.hpp"
#include "../tools/kit/cdi_specs/overlaps.hpp"
#include "../tools/kit/kubernetes/resource_slice.hpp"
#include "../tools/nri/log_line.hpp"
#include "../tools/pod/answer.hpp"
#include "../tools/prepare/results.hpp"
#include "schema.hpp"

template <class Edit>
inline const bool is_template_of_ours<ShownEdit<Edit>> = true;

namespace {

using Names = std::vector<std::string_view>;

/// One member of each row of a table.
template <class Table, class Row>
Names names_in(const Table& table, std::string_view Row::*name) {
  Names out;
  for (const auto& row : table) out.push_back(row.*name);
  return out;
}

Json hook_class() {
  return one_of(names_in(cdi::hook_classes, &cdi::HookClassRow::name));
}

/// One of these texts, or null.
Json or_null_of(Names texts) {
  Json out = one_of(texts);
  out["enum"].push_back(nullptr);
  return out;
}

/// One of these members, and not two.
Json either(const Names& members) {
  Json ways = Json::array();
  for (const auto member : members) ways.push_back({{"required", {member}}});
  return {{"oneOf", std::move(ways)}};
}

/// Requires members if another has one of these values.
Json when(std::string_view key, const Json& values, const Names& required) {
  return {{"if", {{"properties", {{key, {{"enum", values}}}}}}},
          {"then", {{"required", required}}}};
}

Json all_of(std::vector<Json> conditions) {
  return {{"allOf", std::move(conditions)}};
}

Names edit_kinds() {
  Names out;
  cdi::Plan::each_kind([&](const char* key, auto, auto) { out.emplace_back(key); });
  return out;
}

std::vector<Demand> edit_demands() {
  return {{"ShownEdit", "class", {}, hook_class()}};
}

std::vector<Demand> resolved_demands() {
  auto out = edit_demands();
  out.push_back({"ShownNote", "class", {}, hook_class()});
  out.push_back({"ShownNote", "way", {}, one_of(cdi::hook_way_names)});
  out.push_back({"ShownOverlap",
                 "code",
                 {},
                 one_of(names_in(tools::overlap_kinds, &tools::OverlapRow::code))});
  return out;
}

/// The words that members may have.
std::vector<Demand> words_of_results() {
  auto out = edit_demands();
  const auto add = [&](std::string_view type, std::string_view key, const auto& words) {
    out.push_back({type, key, {}, one_of(words)});
  };
  const auto reasons = names_in(cdi::reasons, &cdi::ReasonRow::code);
  add("ErrorRecord", "level", tools::record_levels);
  add("WriteResult", "action", Names{"created", "replaced", "unchanged"});
  add("ListedRule", "severity", Names{"error", "write-error", "warning"});
  add("ListedDir", "state", dir_states);
  add("Decision", "source", cdi::request_origin_names);
  add("ExplainedName", "reason", reasons);
  add("EngineRecord", "result", engine_results);
  add("BundleEdit", "kind", edit_kinds());
  add("BundleEdit", "state", edit_states);
  add("OtherEntry", "kind", edit_kinds());
  add("StepRecord", "step", step_parts);
  add("StepRecord", "state", step_states);
  add("ChangeRecord", "change", Names{"added", "replaced", "removed", "moved"});
  add("MonitorEvent", "event", monitor_events);
  const auto faults = names_in(prepare::fault_meanings, &prepare::FaultMeaning::code);
  for (const std::string_view type : {"prepare.ShownGpu", "prepare.ShownPartition"}) {
    out.push_back({type, "leftOutCode", {}, or_null_of(faults)});
  }
  out.push_back({"prepare.ShownKind", "notReadyCode", {}, or_null_of(faults)});
  out.push_back({"prepare.ShownKind", "warningCodes", {}, {{"items", one_of(faults)}}});
  add("prepare.ShownMissing", "code", faults);
  add("prepare.ShownFinding", "level", prepare::finding_levels);
  add("prepare.PublishedSpec", "action", prepare::publish_actions);
  add("prepare.ShownEngine", "cdi", prepare::engine_states);
  add("prepare.ListedFile", "kind", prepare::file_kinds);
  add("dra.LogLine", "event", dra::log_events);
  add("nri.LogLine", "event", nri::log_events);
  add("nri.LogLine", "way", Names{"names", "edits"});
  return out;
}

/// What Kubernetes requires of slices.
std::vector<Demand> slice_demands() {
  return {
      {"SliceList", "apiVersion", {}, {{"const", "v1"}}},
      {"SliceList", "kind", {}, {{"const", "List"}}},
      {"ResourceSlice", "apiVersion", {}, {{"const", "resource.k8s.io/v1"}}},
      {"ResourceSlice", "kind", {}, {{"const", "ResourceSlice"}}},
      {"SliceMetadata", {}, {}, either({"name", "generateName"})},
      {"SliceSpec",
       {},
       {},
       all_of({either({"devices", "sharedCounters"}), either({"nodeName", "allNodes"})})},
      {"SliceSpec", "driver", {}, {{"maxLength", 63}}},
      {"SliceSpec", "nodeName", {}, {{"maxLength", 253}}},
      {"SliceSpec", "devices", {}, {{"maxItems", 64}}},
      {"SliceSpec", "sharedCounters", {}, {{"maxItems", 8}}},
      {"SliceDevice", "name", {}, {{"pattern", "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"}}},
      {"SliceDevice",
       "attributes",
       {},
       {{"maxProperties", 32},
        {"propertyNames", {{"pattern", "^([a-z0-9.-]{1,63}/)?[A-Za-z_][A-Za-z0-9_]{0,31}$"}}}}},
      {"SliceDevice", "consumesCounters", {}, {{"minItems", 1}, {"maxItems", 2}}},
      {"SliceDevice", "taints", {}, {{"minItems", 1}, {"maxItems", 16}}},
      {"SliceTaint", "effect", {}, {{"const", "NoSchedule"}}},
      {"SliceAttribute", {}, {}, either({"string", "int", "version"})},
      {"SliceAttribute", "string", {}, {{"maxLength", 64}}},
      {"SliceAttribute", "version", {}, {{"maxLength", 64}}},
  };
}

/// Numbers, texts and lists that are more than their types say.
std::vector<Demand> values_of_results() {
  const Json some{{"minimum", 1}};
  return {
      {"Decision", {}, {}, {{"required", {"device", "allowed", "source", "file"}}}},
      {"DenyReason", {}, {}, {{"required", {"message"}}}},
      {"MovedFile", "changed", {}, some},
      {"prepare.ShownNode", "onHost", {}, {{"const", false}}},
      {"prepare.ClaimResult", "claims", {}, {{"minProperties", 1}}},
      {"prepare.ClaimDevice", "cdi_device_ids", {}, {{"minItems", 1}}},
      {"nri.UsedSpec", "digest", {}, {{"pattern", "^sha256:[0-9a-f]{64}$"}}},
      {"dra.LogLine", "microseconds", {}, some},
      {"dra.LogLine", "generation", {}, some},
      {"dra.LogLine", "slices", {}, some},
  };
}

/// The members that an object has in some cases.
std::vector<Demand> conditions_of_results() {
  Json name = when("resolved", {true}, {"file", "line", "priority"});
  name["else"] = {{"required", {"reason", "message", "nearest", "causes", "advice"}}};
  return {
      {"ExplainedName", {}, {}, std::move(name)},
      {"BundleEdit",
       {},
       {},
       all_of({when("state", {"differs"}, {"inConfig", "container", "spec"}),
               when("state", {"replaced"}, {"inConfig", "replacedBy"})})},
      {"ExplainedBundle", {}, {}, when("holds", {false}, {"advice"})},
      {"StepRecord", {}, {}, when("state", {"missing", "wrong"}, {"advice"})},
      {"MonitorEvent",
       {},
       {},
       all_of({when("event", {"watching"}, {"dirs", "devices"}),
               when("event", {"added", "changed", "removed"}, {"name", "file", "line"}),
               when("event", {"error", "error-gone"}, {"level", "message"})})},
      {"prepare.ClaimList", {}, {}, either({"claims", "error"})},
      {"dra.LogLine",
       {},
       {},
       all_of(
           {when("event", {"refused", "failed", "unhealthy", "warning"}, {"error"}),
            when("event", {"prepared", "unprepared"}, {"claim", "namespace", "name"}),
            when("event", {"healthy", "unhealthy", "allocated", "adopted", "freed"}, {"devices"}),
            when("event", {"published"}, {"generation"}),
            when("event", {"serving", "registered", "repaired"}, {"path"})})},
  };
}

void define_files(Schema& schema) {
  schema.define<VersionResult>("cdi version");
  schema.define<std::vector<ListedSchema>>("cdi schema");
  schema.define<std::vector<ListedSpec>>("cdi specs");
  schema.define<std::vector<ListedDir>>("cdi dirs");
  schema.define<std::vector<ListedRule>>("cdi validate --rules");
  schema.define<ValidFiles>("cdi validate");
  schema.define<cdi::Spec>("cdi new");
  schema.define<cdi::Spec>("cdi convert");
  schema.define<cdi::Spec>("cdi transform root");
  schema.define<BackupResult>("cdi convert --in-place --backup");
  schema.define<MovedFiles>("cdi transform root --in-place");
  schema.define<WriteResult>("cdi write");
  schema.define<RemoveResult>("cdi remove");
  schema.define<RemoveResult>("cdi gc");
}

void define_devices(Schema& schema) {
  schema.define<std::vector<ListedDevice>>("cdi devices");
  schema.define<Texts>("cdi vendors");
  schema.define<Texts>("cdi classes");
  schema.define<NamesResult>("cdi names");
  schema.define<ArgsResult>("cdi args");
  schema.define<PolicyResult>("cdi policy");
  schema.define<PolicyDecisions>("cdi policy with names");
  schema.define<std::vector<ChangeRecord>>("cdi inject --diff");
  schema.define<MonitorEvent>("cdi monitor");
  schema.define<std::vector<ExplainedName>>("cdi why");
  schema.define<std::vector<ExplainedName>>("cdi wait");
  schema.define<ExplainedBundle>("cdi why --bundle");
  schema.define<ExplainedPod>("cdi why --pod");
  schema.define<ErrorRecord>("error");
}

/// Of the tools for nodes and clusters.
void define_node_tools(Schema& schema) {
  schema.define<prepare::DetectResult>("cdi-prepare detect");
  schema.define<prepare::WrittenSpecs>("cdi-prepare write");
  schema.define<prepare::CheckResult>("cdi-prepare check");
  schema.define<prepare::CheckResult>("cdi-prepare diff");
  schema.define<prepare::DoctorResult>("cdi-prepare doctor");
  schema.define<prepare::FilesResult>("cdi-prepare files");
  schema.define<prepare::ClaimResult>("cdi-prepare prepare");
  schema.define<prepare::ClaimResult>("cdi-prepare unprepare");
  schema.define<prepare::ClaimList>("cdi-prepare list");
  schema.define<kubernetes::SliceList>("cdi-prepare slices");
  schema.define<pod::Answer>("cdi-pod");
  schema.define<kubernetes::SliceList>("cdi-pod slices");
  schema.define<dra::StatusResult>("cdi-dra status");
  schema.define<dra::NodeCheckResult>("cdi-dra check");
  schema.define<dra::CallResult>("cdi-dra call");
  schema.define<dra::PodResourcesResult>("cdi-dra pod-resources");
  schema.define<dra::LogLine>("cdi-dra serve");
  schema.define<nri::LogLine>("cdi-nri");
}

}  // namespace

Json resolved_schema() {
  return Schema{resolved_demands(), {}, Members::of_all_versions}.document<ResolvedEdits>(
      "urn:container-device-interface:resolved-1",
      "The resolved edits of devices, as cdi resolve prints them");
}

Json shown_schema() {
  return Schema{edit_demands(), {}, Members::of_all_versions}.document<ShownDevices>(
      "urn:container-device-interface:shown-1",
      "The edits of devices as in their files, as cdi show prints them");
}

Json results_schema() {
  auto demands = words_of_results();
  for (auto* const more : {conditions_of_results, values_of_results, slice_demands}) {
    for (auto& one : more()) demands.push_back(std::move(one));
  }
  Schema schema{std::move(demands), {}, Members::of_all_versions, Unknown::ignored};
  define_files(schema);
  define_devices(schema);
  define_node_tools(schema);
  return schema.collection("urn:container-device-interface:results-1",
                           "The results of the tools with -o json, by command");
}
