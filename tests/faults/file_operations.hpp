// The operations on files: caches, publishers and claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/publish.hpp>

#include "../support/good_spec.hpp"
#include "operation.hpp"
#include "world.hpp"

inline const std::string claim_text =
    *cdi::claim_to_json({.uid = "a", .kind = "v.com/c", .devices = {card("0")}});

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
    {"Cache::wait_for, without success",
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
