// What the operations of out_of_memory_test.cpp work on, and what others see of it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cdi/cdi.hpp>
#include <cdi/claims.hpp>
#include <cdi/file.hpp>
#include <cdi/host.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/json.hpp>
#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/publish.hpp>
#include <cdi/requests.hpp>
#include <cdi/scan.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/watch.hpp>
#include <cdi/yaml.hpp>

#include "../support/card_driver.hpp"
#include "../support/failing_memory.hpp"
#include "../support/temp_tree.hpp"

inline const std::string json_spec = R"({"cdiVersion": "1.1.0", "kind": "v.com/c",
 "annotations": {"a.com/note": "a text that is longer than a short string"},
 "devices": [{"name": "d", "annotations": {"a": "b"}, "containerEdits": {
   "env": ["A_VARIABLE_OF_THE_DEVICE=with a long value"],
   "deviceNodes": [{"path": "/dev/null"},
                   {"path": "/dev/zero", "type": "c", "major": 1, "minor": 77}],
   "netDevices": [{"hostInterfaceName": "eth7", "name": "eth0"}],
   "mounts": [{"hostPath": "/opt/the/driver/lib", "containerPath": "/opt/the/driver/lib",
               "options": ["ro", "bind"]}],
   "hooks": [{"hookName": "createContainer", "path": "/usr/bin/nvidia-cdi-hook",
              "args": ["nvidia-cdi-hook", "create-symlinks", "--link", "lib.so.1::/opt/lib.so"]}],
   "intelRdt": {"closID": "a-class-of-service", "schemata": ["L3:0=f"]},
   "additionalGids": [7, 8]}},
  {"name": "e", "containerEdits": {"env": ["E=1"]}}],
 "containerEdits": {"env": ["OF_THE_SPEC=1"]}})";
inline const std::string yaml_spec =
    "# a comment\ncdiVersion: 0.6.0\nkind: w.com/c\ndevices:\n"
    "- name: \"1\"\n  containerEdits:\n    env: [\"W=\\u00e9 and some more text behind it\"]\n";
/// A spec with a device that breaks a rule.
inline const std::string bad_device = yaml_spec + "- name: \"no name\"\n";
inline const std::string config_text = R"({
  "ociVersion": "1.2.0",
  "annotations": {"cdi.k8s.io/a": "v.com/c=d"},
  "process": {"cwd": "/", "user": {"uid": 7, "gid": 7},
              "env": ["PATH=/usr/bin:/usr/sbin:/bin:/sbin", "VISIBLE_CDI_DEVICES=w.com/c=1"]},
  "mounts": [{"destination": "/proc/is/mounted/here", "type": "proc", "source": "proc"}],
  "linux": {"namespaces": [{"type": "user"}], "devices": [{"path": "/dev/null", "type": "c",
            "major": 1, "minor": 3}]}
})";
inline const std::string policy_text =
    R"({"rules": [{"name": "a rule with a long name", "allow": true, "devices": ["v.com/c=*"],
  "edits": {"env": ["A_*"], "mounts": ["/opt"], "deviceNodes": ["/dev/null"]}}]})";
inline const std::vector<std::string> device_names{"v.com/c=d", "w.com/c=1"};
inline const std::vector<std::string> wrong_names{"v.com/c=x", "u.com/c=1", "no name at all"};

inline const auto first_oci = *cdi::read_json<cdi::oci::Spec>(config_text);
inline const auto first_spec = *cdi::read_json<cdi::Spec>(json_spec);

/// The result of an operation as text. It is made after the operation, so no allocation fails here.
template <class T>
std::string shown(const T& value) {
  failing::left = 0;
  if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::string{std::string_view{value}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, cdi::Result<void>>) {
    return value ? "done" : to_string(value.error());
  } else if constexpr (requires { value.error(); }) {
    return value ? shown(*value) : "error: " + to_string(value.error());
  } else if constexpr (cdi::Described<T>) {
    return *cdi::write_json(value);
  } else if constexpr (requires { to_string(value); }) {
    return to_string(value);
  } else if constexpr (requires { value.breaks; }) {
    return value.where + value.what;
  } else if constexpr (requires { value.losses; }) {
    return shown(value.spec) + shown(value.losses);
  } else if constexpr (requires { value.spec; }) {
    return shown(value.spec);
  } else if constexpr (requires { value.edits(); }) {
    return shown(value.edits());
  } else if constexpr (requires { value.plan; }) {
    return shown(value.plan);
  } else if constexpr (requires { value.changes; }) {
    return shown(value.changes);
  } else if constexpr (requires { value.why; }) {
    return shown(value.why);
  } else if constexpr (requires { value.action; }) {
    return value.path + " " + std::string{to_string(value.action)};
  } else if constexpr (requires { value.files; }) {
    return shown(value.files) + shown(value.errors);
  } else if constexpr (requires { value.keys; }) {
    return shown(value.keys) + shown(value.devices);
  } else if constexpr (requires { value.version; }) {
    return shown(value.version);
  } else if constexpr (requires { value.dump(); }) {
    return value.dump();
  } else if constexpr (requires { value.resolve(""); }) {
    return shown(value.devices()) + shown(value.errors());
  } else if constexpr (requires { value.first; }) {
    return shown(value.first) + ": " + shown(value.second);
  } else if constexpr (requires { value.begin(); }) {
    std::string out;
    for (const auto& item : value) out.append(shown(item)).append("\n");
    return out;
  } else {
    return value ? shown(*value) : "none";
  }
}

inline const auto plan_of_both =
    *cdi::plan(cdi::make_registry({{"v.json", json_spec}, {"w.yaml", yaml_spec}}), device_names);

/// Targets of edits and other arguments, and directories: `specs` with two spec files and a file
/// that is ignored, and `out`, `state` and `image`, which are empty.
struct World {
  World() { REQUIRE(registry->errors().empty()); }

  std::string specs() const { return dir / "specs"; }
  std::string out() const { return dir / "out"; }
  std::string state() const { return dir / "state"; }

  cdi::Publisher publisher() const { return cdi::Publisher{"an-owner", out()}; }
  cdi::ClaimJournal journal() const {
    return *cdi::ClaimJournal::open(state(), std::chrono::seconds{20});
  }
  cdi::ClaimOptions claim_options() const {
    return {.kind = "vendor.com/claim", .spec_dir = out(), .boot_id = "this boot"};
  }

  /// The devices of `names`.
  std::vector<cdi::ResolvedDevice> devices() const { return *registry->resolve_all(device_names); }
  /// A spec as it was loaded.
  const cdi::LoadedSpec& loaded() const { return *registry->specs().front(); }

  /// All that an operation may change: files by path, and objects by name.
  std::map<std::string, std::string> seen() const {
    std::map<std::string, std::string> all{
        {"config", config.text},
        {"oci", shown(oci)},
        {"spec", shown(spec)},
        {"annotations", shown(annotations)},
        {"requests", shown(requests.devices())},
        {"cache", cache ? shown(cache->snapshot()) : ""},
    };
    for (const auto* name : {"specs", "out", "state"}) {
      for (const auto& file : std::filesystem::directory_iterator{dir / name}) {
        if (file.is_directory()) continue;
        all[file.path().string()] = get_file(file.path());
      }
    }
    return all;
  }

  struct Directories : TempTree {
    Directories() : TempTree{"/dev/shm"} {
      for (const auto* name : {"specs", "out", "state", "image"}) make_dir(name);
      put("specs/v.json", json_spec);
      put("specs/w.yaml", yaml_spec);
      put("specs/ignored.yml", yaml_spec);
    }
  };

  Directories dir{};
  std::shared_ptr<const cdi::Registry> registry = cdi::scan_spec_dirs({specs()});
  cdi::ConfigJson config{config_text};
  cdi::oci::Spec oci = first_oci;
  cdi::Spec spec = first_spec;
  std::map<std::string, std::string> annotations{{"cdi.k8s.io/first", "v.com/c=d"}};
  cdi::Requests requests{};
  mutable std::optional<cdi::Cache> cache{};  // read once, if there is one
  std::optional<cdi::Watcher> watcher{};
  bool has_rewatched = false;
  CardDriver driver{};
};
