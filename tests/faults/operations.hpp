// The operations of the library whose allocations out_of_memory_test.cpp lets fail.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TESTS_FAULTS_OPERATIONS_HPP
#define CDI_TESTS_FAULTS_OPERATIONS_HPP

#include <chrono>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/publish.hpp>
#include <cdi/requests.hpp>
#include <cdi/sandbox.hpp>
#include <cdi/versions.hpp>

#include "../support/good_spec.hpp"
#include "world.hpp"

using Prepare = void (*)(World& world);

/// An operation, and what it leaves when memory runs out.
struct Operation {
  enum class Leaves {
    all_as_before,
    before_or_after,  // some files are as before, the others as after
    valid_objects,    // some members of an object may have changed
    as_killed,        // what the next call finishes or undoes, as after a kill
  };

  std::string_view name;
  std::string (*call)(World& world);  // returns the result as text
  Leaves leaves = Leaves::all_as_before;
  Prepare prepare = [](World&) {
  };  // before the call; no allocation fails
};

inline constexpr auto as_before = Operation::Leaves::all_as_before;
inline constexpr auto in_files = Operation::Leaves::before_or_after;
inline constexpr auto in_objects = Operation::Leaves::valid_objects;
inline constexpr auto as_killed = Operation::Leaves::as_killed;

inline const cdi::VersionedEngine old_engine{"podman", {4, 9, 3}};
inline const cdi::HostWithOptions<> drift_fails{.options = {.drift = cdi::HostDrift::fail}};
inline const cdi::HostWithOptions<> all_host_options{
    .options = {.hook_env = {"PATH=/usr/sbin:/usr/bin"}, .resolve_links = true}};
inline const auto policy = *cdi::read_policy(policy_text);
inline const auto plan_of_both =
    *cdi::plan(cdi::make_registry({{"v.json", json_spec}, {"w.yaml", yaml_spec}}), device_names);
inline const auto json_config = nlohmann::ordered_json::parse(config_text);
inline const std::string claim_text =
    *cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {card("0")}});
inline const cdi::RequestOptions with_variable{.variable = cdi::visible_devices_variable};
inline const cdi::ReadOptions quarantine{.quarantine_devices = true};

using W = World&;

// The call of an operation with the result of an expression, which may use the world `w`.
#define CDI_CALL(...)                                \
  [](World& w) {                                     \
    return static_cast<void>(w), shown(__VA_ARGS__); \
  }

inline const Operation text_operations[] = {
    {"parse_json", CDI_CALL(cdi::parse_json(json_spec).has_value())},
    {"parse_json, a wrong text", CDI_CALL(cdi::parse_json("{\"a\": [1,\n x]}", "f").error())},
    {"parse_yaml", CDI_CALL(cdi::parse_yaml(yaml_spec).has_value())},
    {"parse_yaml, a wrong text",
     [](W) {
       return shown(cdi::parse_yaml("a: [1,\n b: }", "f").error());
     }},
    {"read_json", CDI_CALL(cdi::read_json<cdi::Spec>(json_spec))},
    {"read_json, an OCI spec", CDI_CALL(cdi::read_json<cdi::oci::Spec>(config_text))},
    {"read_yaml", CDI_CALL(cdi::read_yaml<cdi::Spec>(yaml_spec))},
    {"write_json", CDI_CALL(cdi::write_json(w.oci))},
    {"write_yaml", CDI_CALL(cdi::write_yaml(w.spec))},
    {"parse_spec, JSON", CDI_CALL(cdi::parse_spec(json_spec, "v.json", cdi::Format::json))},
    {"parse_spec, YAML", CDI_CALL(cdi::parse_spec(yaml_spec, "w.yaml", cdi::Format::yaml))},
    {"parse_spec, YAML in a file for JSON",
     CDI_CALL(cdi::parse_spec(yaml_spec, "w.json", cdi::Format::json))},
    {"parse_spec, without invalid devices",
     CDI_CALL(cdi::parse_spec(bad_device, "b", cdi::Format::yaml, quarantine))},
    {"spec_errors", CDI_CALL(cdi::spec_errors(bad_device, "b.yaml", cdi::Format::yaml))},
    {"write_spec", CDI_CALL(cdi::write_spec(w.spec, cdi::Format::yaml))},
    {"write_spec, with an owner", CDI_CALL(cdi::write_spec(w.spec, cdi::Format::json, "an-owner"))},
    {"copy_as", CDI_CALL(cdi::copy_as<cdi::Spec>(cdi::copy_as<cdi::SpecView>(w.spec)))},
    {"validate", CDI_CALL(cdi::validate(w.spec))},
    {"every_error", CDI_CALL(cdi::every_error(cdi::Spec{.devices = {{}}}))},
    {"minimum_need", CDI_CALL(cdi::minimum_need(w.spec))},
    {"minimum_version", CDI_CALL(cdi::minimum_version(w.spec))},
    {"spec_name", CDI_CALL(cdi::spec_name("a-long-vendor.com/a-class"))},
    {"transient_spec_name", CDI_CALL(cdi::transient_spec_name("vendor.com/class", "a/container"))},
    {"qualified_name", CDI_CALL(cdi::qualified_name("vendor.com/class", "device"))},
    {"qualified_name_error", CDI_CALL(cdi::qualified_name_error("vendor.com/c ass"))},
    {"name_error", CDI_CALL(cdi::name_error(cdi::NamePart::vendor, "a very long vendor"))},
    {"kind_error", CDI_CALL(cdi::kind_error("vendor.com/a very long class"))},
    {"check_annotation_key", CDI_CALL(cdi::check_annotation_key("a/b c with a long name"))},
    {"annotation_key_error", CDI_CALL(cdi::annotation_key_error("a/b c with a long name"))},
    {"clean_path", CDI_CALL(cdi::clean_path("/a/long/path/../with/./dots//and/slashes"))},
    {"escaped", CDI_CALL(cdi::escaped("a text with\n a line end"))},
    {"quoted", CDI_CALL(cdi::quoted("a text with\n a line end"))},
    {"to_string",
     CDI_CALL(to_string(
         cdi::Error{.message = "a message", .where = "a.member"}.under("an.outer.place")))},
    {"Document::position, positions_of",
     [](W) {
       const auto document = cdi::parse_json(json_spec, "a/file/with/a/long/name.json");
       const auto root = document->root();
       return shown(root.position().file) + shown(document->positions_of(root).size());
     }},
    {"move_root", CDI_CALL(cdi::move_root(w.spec, "/opt/the", "/run/nvidia/driver")), in_objects},
};

inline const Operation device_operations[] = {
    {"make_registry",
     CDI_CALL(cdi::make_registry({{"v.json", json_spec}, {"w.yaml", yaml_spec, 1}}))},
    {"Registry",
     CDI_CALL(cdi::Registry{w.registry->specs(), w.registry->rejected()})},
    {"Registry::resolve",
     CDI_CALL(w.registry->resolve("v.com/c=d").has_value())},
    {"Registry::resolve_all",
     CDI_CALL(w.registry->resolve_all(wrong_names).error())},
    {"Registry::resolvable",
     CDI_CALL(w.registry->resolvable(device_names).size())},
    {"Registry::unresolved",
     CDI_CALL(w.registry->unresolved(wrong_names))},
    {"Registry::require",
     CDI_CALL(w.registry->require(wrong_names))},
    {"Registry::devices",
     CDI_CALL(w.registry->devices())},
    {"Registry::vendors",
     CDI_CALL(w.registry->vendors())},
    {"Registry::classes",
     CDI_CALL(w.registry->classes())},
    {"Registry::inject, ConfigJson",
     CDI_CALL(w.registry->inject(w.config, device_names))},
    {"Registry::inject, oci::Spec", CDI_CALL(w.registry->inject(w.oci, device_names)),
     in_objects},
    {"Registry::inject, an error with its line",
     CDI_CALL(w.registry->inject(w.config, {"v.com/c=d"}, drift_fails))},
    {"Registry::inject_resolved",
     CDI_CALL(cdi::Registry::inject_resolved(w.config, w.devices()))},
    {"apply",
     CDI_CALL(cdi::apply(w.spec.devices[0].container_edits, w.config))},
    {"ContainerEdits::apply",
     CDI_CALL(w.spec.devices[0].container_edits.apply(w.oci)), in_objects},
    {"resolve_host_links",
     CDI_CALL(cdi::resolve_host_links("/proc/self/exe"))},
    {"HostOptions",
     CDI_CALL(w.registry->inject(w.config, device_names, all_host_options))},
    {"find_drift",
     CDI_CALL(cdi::find_drift(w.devices()))},
    {"LoadedSpec::locate",
     CDI_CALL(w.loaded().locate("devices[1].containerEdits.env").line)},
    {"LoadedSpec::locate_part", CDI_CALL(w.loaded().locate_part("devices[1]").file)},
    {"ResolvedDevice::position", CDI_CALL(w.devices()[0].position().file)},
    {"advice", CDI_CALL(advice(w.registry->unresolved(wrong_names)[0]))},
    {"missing_parts", CDI_CALL(cdi::missing_parts<cdi::oci::Spec>())},
    {"read_policy",
     CDI_CALL(cdi::read_policy(policy_text))},
    {"validate_policy",
     CDI_CALL(cdi::validate_policy(policy))},
    {"decide, require_allowed, write_decisions",
     [](W w) {
       const auto decisions = cdi::decide(policy, w.devices(), cdi::RequestOrigin::field);
       return cdi::write_decisions(decisions) + shown(cdi::require_allowed(decisions));
     }},
    {"plan",
     CDI_CALL(cdi::plan(*w.registry, device_names))},
    {"plan_resolved",
     CDI_CALL(cdi::plan_resolved(w.devices()))},
    {"inject_recorded",
     CDI_CALL(cdi::inject_recorded(w.config, w.devices())), in_files},
    {"Plan::diff",
     CDI_CALL(plan_of_both.diff(w.oci))},
    {"Plan::edits", CDI_CALL(plan_of_both.edits())},
    {"to_string, an origin", CDI_CALL(to_string(plan_of_both.devices[0]))},
    {"Plan::apply",
     CDI_CALL(plan_of_both.apply(w.config))},
    {"find_overlaps",
     CDI_CALL(cdi::find_overlaps(plan_of_both))},
    {"find_origin",
     CDI_CALL(cdi::find_origin(plan_of_both, {.part = "mounts", .key = "/opt/the/driver/lib"}))},
};

inline const Operation request_operations[] = {
    {"annotation_key", CDI_CALL(cdi::annotation_key("plugin", "a/device-number-1"))},
    {"annotation_value", CDI_CALL(cdi::annotation_value(device_names))},
    {"update_annotations",
     CDI_CALL(cdi::update_annotations(w.annotations, "plugin", "number-1", device_names))},
    {"parse_annotations", CDI_CALL(cdi::parse_annotations(w.annotations))},
    {"parse_selector", CDI_CALL(cdi::parse_selector("v.com/c=1, 2 : w.com/c=all"))},
    {"Requests::add_field",
     [](W w) {
       return w.requests.add_field(device_names), shown(w.requests.devices());
     }},
    {"Requests::add_annotations", CDI_CALL(w.requests.add_annotations(w.annotations))},
    {"Requests::add_variable", CDI_CALL(w.requests.add_variable("A_VARIABLE", "v.com/c=1, 2"))},
    {"gather_requests", CDI_CALL(cdi::gather_requests(w.config, with_variable))},
    {"gather_requests, nlohmann", CDI_CALL(cdi::gather_requests(json_config, with_variable))},
    {"inject_requested",
     [](W w) {
       cdi::Cache cache{{w.specs()}};
       return shown(cdi::inject_requested(cache, w.config, {.requests = with_variable}));
     }},
    {"command_of, classify_hook, lower_hook",
     [](W w) {
       const auto command = cdi::command_of(w.spec.devices[0].container_edits.hooks[0]);
       const cdi::SortedOutline outline{cdi::outline_of(plan_of_both)};
       return shown(lower_hook(command, cdi::oci::HookPoint::create_container, outline));
     }},
    {"merge",
     [](W w) {
       cdi::merge(w.changes, {.links = {{"/a/link", "to"}}, .library_folders = {"/another"}});
       return shown(w.changes);
     },
     in_objects},
    {"masked_params", CDI_CALL(cdi::masked_params("A: 1\nModifyDeviceFiles: 1\n"))},
    {"params_mount", CDI_CALL(cdi::params_mount("/run/a/file/of/the/host"))},
    {"without_hooks",
     CDI_CALL(without_hooks(plan_of_both,
                            {.image_root = w.dir / "image", .state_dir = w.dir / "state"})),
     in_files},
    {"unused_generated", CDI_CALL(cdi::unused_generated(w.dir / "state", std::chrono::seconds{0}))},
    {"remove_generated", CDI_CALL(cdi::remove_generated(w.dir / "state", std::chrono::seconds{0}))},
    {"to_version", CDI_CALL(cdi::to_version(w.spec, {0, 5, 0}, cdi::Losses::allow))},
    {"convert_spec", CDI_CALL(cdi::convert_spec(w.loaded(), {0, 6, 0}))},
    {"convert_for", CDI_CALL(cdi::convert_for(old_engine, w.loaded()))},
    {"spec_version_for", CDI_CALL(cdi::spec_version_for(old_engine, w.spec))},
    {"rejection_by", CDI_CALL(cdi::rejection_by(old_engine, w.loaded()))},
    {"text_warnings", CDI_CALL(cdi::text_warnings(old_engine, w.loaded()))},
    {"conversion_advice", CDI_CALL(cdi::conversion_advice(old_engine, w.loaded()))},
    {"to_error, to_string",
     CDI_CALL(to_string(to_error(cdi::Loss{"a.path.to.a.member", "what is lost", "a breakage"})))},
    {"parse_engine", CDI_CALL(cdi::parse_engine("an-unknown-engine@4.9.3"))},
    {"newest_spec_version_for", CDI_CALL(cdi::newest_spec_version_for("podman@4.9.3"))},
    {"written_spec_version_for", CDI_CALL(cdi::written_spec_version_for("podman@4.9.3"))},
    {"assumption_about", CDI_CALL(cdi::assumption_about({"podman", {99, 0, 0}}))},
    {"unsupported_edits",
     CDI_CALL(cdi::unsupported_edits(w.devices(), {.oci_version_max = "1.0.0"}))},
};

/// A cache that has read the spec files once, one of which changes then.
inline void open_cache(World& world) {
  world.cache.emplace(std::vector{world.specs()});
  world.cache->registry();
  world.dir.put("specs/w.yaml", yaml_spec + "- {name: two, containerEdits: {env: [TWO=2]}}\n");
}

/// A watcher that has not yet seen that its directory was created.
inline void watch(World& world) {
  world.watcher.emplace(*cdi::Watcher::open({world.out() + "/new"}));
  world.dir.make_dir("out/new");
}

/// Whether a watcher reports that its directory was created, and then a file in it.
inline std::string consume_twice(World& world) {
  const auto file = world.out() + "/new/v.json";
  const bool has_changed = world.watcher->consume();
  ::close(::creat(file.c_str(), 0644));
  return shown(has_changed) + shown(world.watcher->consume());
}

/// Two spec files of the owner, and one of another.
inline void publish(World& world) {
  REQUIRE(world.publisher().write("a.json", world.spec));
  REQUIRE(world.publisher().write("b.yaml", world.spec));
  REQUIRE(cdi::Publisher{"another", world.out()}.write("c.yaml", world.spec));
}

/// What a program does that starts: repairs claims, and gives devices to one.
inline cdi::Result<cdi::Claim> claim_cards(World& world) {
  const auto journal = cdi::ClaimJournal::open(world.state(), std::chrono::seconds{20});
  if (!journal) return journal.error();
  cdi::Claims claims{*journal, world.driver, world.claim_options()};
  if (auto done = claims.repair(); !done) return std::move(done).error();
  return claims.prepare("claim-1", {card("0"), card("1")});
}

inline cdi::Result<void> unclaim_cards(World& world) {
  const auto journal = cdi::ClaimJournal::open(world.state(), std::chrono::seconds{20});
  if (!journal) return journal.error();
  cdi::Claims claims{*journal, world.driver, world.claim_options()};
  if (auto done = claims.repair(); !done) return done;
  return claims.unprepare("claim-1");
}

inline void claim(World& world) {
  REQUIRE(claim_cards(world));
}

inline const Operation file_operations[] = {
    {"read_spec_file",
     CDI_CALL(cdi::read_spec_file(w.specs() + "/v.json"))},
    {"read_spec_file, a missing file",
     CDI_CALL(cdi::read_spec_file(w.specs() + "/missing.json"))},
    {"write_spec_file",
     CDI_CALL(cdi::write_spec_file(w.specs() + "/v.json", w.spec)), in_files},
    {"scan_spec_dirs",
     CDI_CALL(cdi::scan_spec_dirs({w.specs(), w.out()}))},
    {"scan_spec_dirs_for",
     CDI_CALL(cdi::scan_spec_dirs_for(device_names, {w.specs()}))},
    {"default_spec_dirs",
     CDI_CALL(cdi::default_spec_dirs())},
    {"usual_spec_dirs",
     CDI_CALL(cdi::usual_spec_dirs())},
    {"diagnose",
     CDI_CALL(cdi::diagnose(*w.registry, wrong_names, {w.out()}))},
    {"ignored_specs, error_of",
     CDI_CALL(cdi::error_of(cdi::ignored_specs({w.specs()}).at(0)))},
    {"inject_json",
     CDI_CALL(cdi::inject_json(w.config.text, device_names, {w.specs()}))},
    {"inject_json, with a cache",
     CDI_CALL(cdi::inject_json(w.config.text, device_names, *w.cache)), in_files,
     open_cache},
    {"Cache",
     CDI_CALL(cdi::Cache{{w.specs()}}.snapshot())},
    {"Cache, watched",
     [](W w) {
       cdi::Cache cache{{w.specs()}, {.freshness = cdi::Freshness::watched}};
       return shown(cache.registry());
     }},
    {"Cache::registry", CDI_CALL(w.cache->registry()), in_files, open_cache},
    {"Cache::refresh", CDI_CALL(w.cache->refresh()), in_files, open_cache},
    {"Cache::wait_for",
     CDI_CALL(w.cache->wait_for(device_names, std::chrono::steady_clock::now())),
     in_files, open_cache},
    {"Cache::wait_for, in vain",
     CDI_CALL(w.cache->wait_for(wrong_names, std::chrono::steady_clock::now())),
     in_files, open_cache},
    {"Cache::inject", CDI_CALL(w.cache->inject(w.config, device_names)), in_files,
     open_cache},
    {"Watcher::open, wait_until",
     [](W w) {
       auto watcher = cdi::Watcher::open({w.specs(), w.out() + "/missing"});
       return watcher ? shown(watcher->wait_until({})) : shown(watcher.error());
     }},
    {"Watcher::consume", consume_twice, as_killed, watch},
    {"Watcher::rewatch",
     [](W w) {
       if (!std::exchange(w.has_rewatched, true)) w.watcher->rewatch();
       return consume_twice(w);
     },
     as_killed, watch},
    {"check_spec_file_name",
     CDI_CALL(cdi::check_spec_file_name("a-name.yml"))},
    {"Publisher::write", CDI_CALL(w.publisher().write("a.json", w.spec)),
     in_files},
    {"Publisher::write, over another file",
     CDI_CALL(w.publisher().write("a.json", good_spec())), in_files, publish},
    {"Publisher::remove", CDI_CALL(w.publisher().remove("a.json")), in_files,
     publish},
    {"Publisher::reconcile",
     CDI_CALL(w.publisher().reconcile({{"b.yaml", good_spec()}})),
     in_files, publish},
    {"Publisher::prune", CDI_CALL(w.publisher().prune({"b.yaml"})), in_files,
     publish},
    {"Publisher::files", CDI_CALL(w.publisher().files()), as_before, publish},
    {"ClaimJournal::open, load", CDI_CALL(w.journal().load()), in_files, claim},
    {"ClaimJournal::peek",
     [](W w) {
       auto directory = cdi::open_claim_directory(w.state(), cdi::MissingDirectory::stays);
       return shown(cdi::ClaimJournal::peek(*directory));
     },
     as_before, claim},
    {"claim_to_json", CDI_CALL(cdi::claim_to_json(*cdi::parse_claim(claim_text, "a.json")))},
    {"parse_claim", CDI_CALL(cdi::parse_claim(claim_text, "claim-1.json"))},
    {"Claim::file_name, device_name, device_id",
     [](W) {
       const auto claim = *cdi::parse_claim(claim_text, "a");
       return claim.file_name() + claim.device_name(0) + claim.device_id(0) + to_string(claim);
     }},
    {"ClaimJournal::save",
     CDI_CALL(w.journal().save(*cdi::parse_claim(claim_text, "a"))), in_files,
     claim},
    {"ClaimJournal::erase", CDI_CALL(w.journal().erase("claim-1")), in_files, claim},
    {"ClaimJournal::check_apart",
     [](W w) {
       auto directory = cdi::open_claim_directory(w.state(), cdi::MissingDirectory::stays);
       return shown(w.journal().check_apart(*directory));
     },
     in_files, claim},
    {"ClaimJournal::named_directory, path_of",
     [](W w) {
       const auto journal = w.journal();
       return journal.named_directory("claim-1") + journal.path_of("claim-1");
     },
     in_files, claim},
    {"Claims::repair, prepare", CDI_CALL(claim_cards(w)), as_killed},
    {"Claims::repair, unprepare", CDI_CALL(unclaim_cards(w)), as_killed, claim},
};

#undef CDI_CALL

#endif  // CDI_TESTS_FAULTS_OPERATIONS_HPP
