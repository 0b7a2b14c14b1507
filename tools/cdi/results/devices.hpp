// What the commands of `cdi` about devices print with -o json and -o yaml.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/model/any_value.hpp>
#include <cdi/plan.hpp>
#include <cdi/policy.hpp>
#include <cdi/spec.hpp>

#include "../../kit/base/error_record.hpp"
#include "files.hpp"

/// Where an edit comes from.
template <>
struct cdi::Describe<cdi::Origin> {
  static constexpr void fields(auto& list) {
    list("name", &Origin::name, required);
    list("file", &Origin::file, required);
    list("line", &Origin::line);
    list("where", &Origin::where, required);
  }
};

/// An edit with its place.
template <class Edit>
struct ShownEdit {
  Edit edit{};
  cdi::Origin origin{};
  bool overridden = false;  // a later edit replaces it

  static constexpr void fields(auto& list) {
    list("edit", &ShownEdit::edit, cdi::required);
    list("origin", &ShownEdit::origin, cdi::required);
    list("overridden", &ShownEdit::overridden);
  }
};

/// A hook with its place and its class.
template <>
struct ShownEdit<cdi::Hook> {
  cdi::Hook edit{};
  cdi::Origin origin{};
  bool overridden = false;
  std::string_view hook_class{};  // a name in `cdi::hook_classes`

  static constexpr void fields(auto& list) {
    list("edit", &ShownEdit::edit, cdi::required);
    list("origin", &ShownEdit::origin, cdi::required);
    list("class", &ShownEdit::hook_class, cdi::required);
    list("overridden", &ShownEdit::overridden);
  }
};

/// The edits of one kind.
template <class Edit>
struct EditsOf {
  std::vector<ShownEdit<Edit>> list{};
};

/// The edits of all kinds: `EditsOf` each.
struct ShownEdits : EditsOf<std::string>,
                    EditsOf<cdi::DeviceNode>,
                    EditsOf<cdi::NetDevice>,
                    EditsOf<cdi::Hook>,
                    EditsOf<cdi::Mount>,
                    EditsOf<cdi::IntelRdt>,
                    EditsOf<std::uint32_t> {
  /// Passes the lists in the order of a spec.
  static constexpr void each_list(auto& list, cdi::Presence presence) {
    cdi::Plan::each_kind([&]<class Edit>(const char* key,
                                         std::vector<cdi::Planned<Edit>> cdi::Plan::*,
                                         auto) { list(key, &EditsOf<Edit>::list, presence); });
  }
  static constexpr void fields(auto& list) { each_list(list, cdi::Presence::omit_empty); }

  template <class Edit>
  void add(ShownEdit<Edit> edit) {
    EditsOf<Edit>::list.push_back(std::move(edit));
  }
};

/// A device in its file.
struct DeviceInFile {
  std::string name{};
  std::string file{};
  std::uint32_t line = 0;
  decltype(cdi::Device::annotations) annotations{};

  static constexpr void fields(auto& list) {
    list("name", &DeviceInFile::name, cdi::required);
    list("file", &DeviceInFile::file, cdi::required);
    list("line", &DeviceInFile::line, cdi::required);
    list("annotations", &DeviceInFile::annotations);
  }
};

/// A device that `cdi devices` lists.
struct ListedDevice : DeviceInFile {
  cdi::ContainerEdits container_edits{};
  std::optional<ShownEdits> edits{};  // with --verbose

  static constexpr void fields(auto& list) {
    DeviceInFile::fields(list);
    list("containerEdits", &ListedDevice::container_edits, cdi::required);
    list("edits", &ListedDevice::edits);
  }
};

/// A device of `cdi show`.
struct ShownDevice : DeviceInFile {
  ShownEdits edits{};

  static constexpr void fields(auto& list) {
    DeviceInFile::fields(list);
    list("edits", &ShownDevice::edits, cdi::required);
  }
};

/// `cdi show`
struct ShownDevices {
  std::uint32_t version = 1;
  std::vector<ShownDevice> devices{};

  static constexpr void fields(auto& list) {
    list("version", &ShownDevices::version, cdi::required);
    list("devices", &ShownDevices::devices, cdi::required);
  }
};

/// How the effect of a hook is made.
struct ShownNote {
  std::string_view hook_class{};  // a name in `cdi::hook_classes`
  std::string_view way{};         // of `cdi::hook_way_names`
  std::string subject{};
  std::string reason{};
  cdi::Origin origin{};

  static constexpr void fields(auto& list) {
    list("class", &ShownNote::hook_class, cdi::required);
    list("way", &ShownNote::way, cdi::required);
    list("subject", &ShownNote::subject, cdi::required);
    list("reason", &ShownNote::reason, cdi::required);
    list("origin", &ShownNote::origin, cdi::required);
  }
};

/// Two edits, or two devices, that overlap.
struct ShownOverlap {
  std::string_view code{};  // a code in `tools::overlap_kinds`
  std::string key{};
  bool equal = false;
  cdi::Origin first{};
  cdi::Origin second{};

  static constexpr void fields(auto& list) {
    list("code", &ShownOverlap::code, cdi::required);
    list("key", &ShownOverlap::key, cdi::required);
    list("equal", &ShownOverlap::equal, cdi::required);
    list("first", &ShownOverlap::first, cdi::required);
    list("second", &ShownOverlap::second, cdi::required);
  }
};

/// `cdi resolve`
struct ResolvedEdits : ShownEdits {
  std::uint32_t version = 1;
  std::vector<cdi::Origin> devices{};
  std::vector<ShownNote> notes{};
  std::vector<ShownOverlap> overlaps{};

  static constexpr void fields(auto& list) {
    list("version", &ResolvedEdits::version, cdi::required);
    list("devices", &ResolvedEdits::devices, cdi::required);
    each_list(list, cdi::required);
    list("notes", &ResolvedEdits::notes, cdi::required);
    list("overlaps", &ResolvedEdits::overlaps, cdi::required);
  }
};

/// `cdi names`
struct NamesResult {
  std::uint32_t version = 1;
  std::string variable{};
  Texts names{};

  static constexpr void fields(auto& list) {
    list("version", &NamesResult::version, cdi::required);
    list("variable", &NamesResult::variable, cdi::required);
    list("names", &NamesResult::names, cdi::required);
  }
};

/// An edit, or a part of one, that a program cannot express.
struct LostEdit {
  std::string edit{};         // its kind, such as `hook`
  std::string subject{};      // what it is about, such as a path
  std::string consequence{};  // what it means for the user

  static constexpr void fields(auto& list) {
    list("edit", &LostEdit::edit, cdi::required);
    list("subject", &LostEdit::subject, cdi::required);
    list("consequence", &LostEdit::consequence, cdi::required);
  }
};

/// The error about a lost edit, with its place.
struct LostEditError : ErrorRecord, LostEdit {
  static constexpr void fields(auto& list) {
    ErrorRecord::fields(list);
    LostEdit::fields(list);
  }
};

/// `cdi args`
struct ArgsResult {
  std::uint32_t version = 1;
  std::string_view program{};
  Texts args{};
  std::vector<LostEdit> lost{};

  static constexpr void fields(auto& list) {
    list("version", &ArgsResult::version, cdi::required);
    list("program", &ArgsResult::program, cdi::required);
    list("args", &ArgsResult::args, cdi::required);
    list("lost", &ArgsResult::lost, cdi::required);
  }
};

/// `cdi policy`
struct PolicyResult {
  std::uint32_t version = 1;
  std::string valid{};  // the file
  std::size_t rules = 0;

  static constexpr void fields(auto& list) {
    list("version", &PolicyResult::version, cdi::required);
    list("valid", &PolicyResult::valid, cdi::required);
    list("rules", &PolicyResult::rules, cdi::required);
  }
};

/// `cdi policy` with names
struct PolicyDecisions {
  std::uint32_t version = 1;
  bool allowed = false;
  std::vector<cdi::Decision> decisions{};

  static constexpr void fields(auto& list) {
    list("version", &PolicyDecisions::version, cdi::required);
    list("allowed", &PolicyDecisions::allowed, cdi::required);
    list("decisions", &PolicyDecisions::decisions, cdi::required);
  }
};

/// A change of a config by `cdi inject --diff`.
struct ChangeRecord {
  std::string_view change{};
  std::string part{};
  std::string key{};
  std::optional<cdi::AnyValue> before{};  // an entry of the list or object `part`
  std::optional<cdi::AnyValue> after{};
  std::optional<std::size_t> from{};  // the index in the old list
  std::optional<std::size_t> to{};
  std::optional<cdi::Origin> origin{};

  static constexpr void fields(auto& list) {
    using Self = ChangeRecord;
    list("change", &Self::change, cdi::required);
    list("part", &Self::part, cdi::required);
    list("key", &Self::key, cdi::required);
    list("before", &Self::before);
    list("after", &Self::after);
    list("from", &Self::from);
    list("to", &Self::to);
    list("origin", &Self::origin);
  }
};

/// The events of `cdi monitor`.
inline constexpr std::array<std::string_view, 6> monitor_events{"watching", "added", "changed",
                                                                "removed",  "error", "error-gone"};

/// A line of `cdi monitor`. An error has the members of `ErrorRecord`.
struct MonitorEvent : ErrorRecord {
  std::string_view event{};
  std::optional<Texts> dirs{};     // of `watching`
  std::optional<Texts> devices{};  // of `watching`
  std::string name{};              // the device

  static constexpr void fields(auto& list) {
    list("event", &MonitorEvent::event, cdi::required);
    list("dirs", &MonitorEvent::dirs);
    list("devices", &MonitorEvent::devices);
    list("name", &MonitorEvent::name);
    list("level", &ErrorRecord::level);
    list("message", &ErrorRecord::message);
    list("advice", &ErrorRecord::advice);
    list("where", &ErrorRecord::where);
    list("file", &ErrorRecord::file);
    list("line", &ErrorRecord::line);
    list("column", &ErrorRecord::column);
    list("rule", &ErrorRecord::rule);
  }
};
