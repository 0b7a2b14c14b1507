// Explains why a name does not resolve: conflicts, rejected files, unknown kinds and devices.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_EXPLAIN_HPP
#define CDI_REGISTRY_EXPLAIN_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/device_index.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/registry/unresolved.hpp>
#include <cdi/rules/name.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Makes the conflict error for a device's spec. `devices` is the number of devices that `other`, a
/// spec of the same rank, also provides; `mine` is the first of these devices.
inline Error conflict(const ResolvedDevice& mine, const LoadedSpec& other, std::size_t devices) {
  std::string message =
      "device " + cdi::quoted(qualified_name(mine.spec->spec.kind, mine.device->name));
  if (devices > 1) message.append(" and ").append(std::to_string(devices - 1)).append(" more");
  message.append(devices > 1 ? " are" : " is").append(" also defined by ");
  message.append(cdi::quoted(other.path)).append(", which has the same priority");
  return {.code = Errc::conflict,
          .message = std::move(message),
          .advice = "keep only one",
          .position = mine.position()};
}

/// Returns whether a file or directory was not read, so that its contents are unknown.
inline bool may_hold_specs(const Error& error) {
  const bool other_kind_of_file = error.system == EINVAL || error.system == EISDIR;
  return error.code == Errc::denied || error.code == Errc::limit ||
         (error.code == Errc::system && !other_kind_of_file);
}

/// Returns whether a rejected file may define a device: it is of the kind, and names the device or,
/// as far as known, none.
inline bool may_define(const RejectedFile& file, std::string_view kind, std::string_view device) {
  if (file.kind != kind) return false;
  bool named = file.devices.empty();
  for (const auto& name : file.devices) named = named || name == device;
  return named;
}

inline Reason reason_of(const Error& error) {
  if (error.code == Errc::system) return Reason::unreadable;
  return error.code == Errc::denied ? Reason::denied : Reason::rejected;
}

/// The names that a message offers instead of an unknown name.
struct OfferedNames {
  NearestNames nearest;
  FirstNames first{};

  void add(std::string_view name, bool related = false) {
    nearest.add(name, related);
    first.add(name);
  }
  std::string nearest_text() const {
    std::string text;
    for (std::size_t i = 0; i < nearest.names().size(); ++i) {
      text.append(i == 0 ? "" : ", ").append(escaped(nearest.names()[i]));
    }
    return text;
  }
};

/// Returns whether to keep one more cause of a name; counts it if not. If each of many names kept
/// each of many files, the cost would be their product.
inline bool keeps_cause(Unresolved& one, bool in_full) {
  const bool kept = in_full || one.causes.size() < few_causes;
  if (!kept) ++one.more_causes;
  return kept;
}

/// Explains unresolved names from everything that was read.
class Explainer {
 public:
  /// `in_full` adds similar names, and keeps all causes instead of a few.
  Explainer(const DeviceIndex& index,
            const std::vector<std::shared_ptr<const RejectedFile>>& rejected,
            const std::vector<SpecDir>& dirs, bool in_full)
      : index_{index}, rejected_{rejected}, dirs_{dirs}, in_full_{in_full} {}

  /// Explains why a name does not resolve.
  Unresolved explain(std::string_view name) const {
    Unresolved out{.name = std::string{name}};
    out.why.code = Errc::not_found;
    const auto parsed = parse_name(name);
    const auto kind = name.substr(0, name.find('='));
    if (const auto* slot = index_.find(name)) {
      explain_conflict(index_.device_of(*slot), out);
    } else if (!parsed) {
      out.why = qualified_name_error(name);
    } else if (!explain_faulty_file(kind, parsed->device, out)) {
      is_known(kind) ? explain_unknown_device(kind, parsed->device, out)
                     : explain_unknown_kind(kind, *parsed, out);
    }
    out.why.message.insert(0, "cannot resolve " + cdi::quoted(name) + ": ");
    return out;
  }

 private:
  /// Adds a cause; the first cause determines the reason.
  void add_cause(Reason reason, const Error& cause, Unresolved& out) const {
    const auto known = out.causes.size() + out.more_causes;
    if (known == 0) {
      out.reason = reason;
      out.why.code = cause.code;
      out.why.system = cause.system;
      out.why.message = row_of(reason).meaning;
    }
    if (known < few_causes) {
      out.why.message.append(known == 0 ? ": " : "; ").append(to_string(cause));
    } else if (known == few_causes) {
      out.why.message.append("; and more");
    }
    if (keeps_cause(out, in_full_)) out.causes.push_back(cause);
  }

  void add_cause(const RejectedFile& file, Unresolved& out) const {
    add_cause(reason_of(file.why), file.why, out);
    if (out.needs_version.empty()) out.needs_version = file.needs_version;
  }

  bool is_known(std::string_view kind) const {
    for (const auto& spec : index_.specs()) {
      if (spec->spec.kind == kind) return true;
    }
    return false;
  }

  void explain_conflict(const ResolvedDevice& found, Unresolved& out) const {
    out.reason = Reason::conflict;
    const auto rivals = index_.rivals_of(*found.device);
    const auto& first = *index_.rival(rivals.first).spec;
    out.causes.push_back(detail::conflict(found, first, 1));
    for (auto i = rivals.first; i < rivals.last; ++i) {
      if (!keeps_cause(out, in_full_)) continue;
      out.causes.push_back(detail::conflict(index_.rival(i), *found.spec, 1));
    }
    out.why.code = Errc::conflict;
    out.why.message = "both " + cdi::quoted(found.spec->path) + " and " + cdi::quoted(first.path) +
                      " define it, with the same priority";
    out.why.advice = "keep only one";
  }

  /// Returns whether a faulty file may explain why a device is not found, and explains it if so.
  bool explain_faulty_file(std::string_view kind, std::string_view device, Unresolved& out) const {
    for (const auto& spec : index_.specs()) {
      if (spec->spec.kind != kind) continue;
      for (const auto& one : spec->quarantined) {
        if (one.name == device) add_cause(Reason::quarantined, one.why, out);
      }
      if (spec->last_error) add_cause(reason_of(*spec->last_error), *spec->last_error, out);
    }
    for (const auto& file : rejected_) {
      if (may_define(*file, kind, device)) add_cause(*file, out);
    }
    if (!out.causes.empty() || is_known(kind)) return !out.causes.empty();
    // The kind is unknown, so any unread file or directory may define it. They come first: a file
    // of the kind that names other devices is a less likely place.
    for (const auto& file : rejected_) {
      const bool unseen = file->kind.empty() && may_hold_specs(file->why);
      if (unseen && file->why.code != Errc::limit) add_cause(*file, out);
    }
    for (const auto& file : rejected_) {
      if (file->kind == kind) add_cause(*file, out);
    }
    return !out.causes.empty();
  }

  /// Explains a name whose kind has specs, none of which defines the device.
  void explain_unknown_device(std::string_view kind, std::string_view device,
                              Unresolved& out) const {
    out.reason = Reason::unknown_device;
    out.why.message = "kind " + quoted(kind) + " has no device " + quoted(device);
    for (const auto& file : rejected_) {  // only an unread file may define more devices
      if (!file->kind.empty() || !may_hold_specs(file->why)) continue;
      if (keeps_cause(out, in_full_)) out.causes.push_back(file->why);
    }
    if (!in_full_) return;
    OfferedNames offered{NearestNames{device}};
    for (const auto& spec : index_.specs()) {
      if (spec->spec.kind != kind) continue;
      for (const auto& one : spec->spec.devices) offered.add(one.name);
    }
    const auto& names = offered.nearest.names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      out.nearest.push_back(qualified_name(kind, names[i]));
    }
    const auto near = offered.nearest_text();
    out.why.message.append(near.empty() ? "; its devices: " + offered.first.text()
                                        : "; nearest: " + near);
  }

  /// Explains a name whose kind has no spec.
  void explain_unknown_kind(std::string_view kind, const QualifiedName& parsed,
                            Unresolved& out) const {
    out.reason = Reason::unknown_kind;
    out.why.message = "no spec of kind " + quoted(kind);
    for (const auto& file : rejected_) {
      if (file->kind.empty() && keeps_cause(out, in_full_)) out.causes.push_back(file->why);
    }
    if (in_full_ && offers_kinds(kind, parsed, out)) return;
    if (index_.specs().empty() && !dirs_.empty()) add_searched_dirs(out);
  }

  /// Whether a kind may be meant by a name: its vendor is the same, or without its domain. Devices
  /// of other vendors are not offered for their class alone.
  static bool is_related(const QualifiedName& kind, const QualifiedName& wanted) {
    if (kind.vendor == wanted.vendor) return true;
    const auto is_short = [](std::string_view vendor, std::string_view other) {
      return other.starts_with(vendor) && other.substr(vendor.size()).starts_with('.');
    };
    return kind.device_class == wanted.device_class &&
           (is_short(kind.vendor, wanted.vendor) || is_short(wanted.vendor, kind.vendor));
  }

  /// Adds the similar kinds to the message, or the first kinds; false if there are none.
  bool offers_kinds(std::string_view kind, const QualifiedName& parsed, Unresolved& out) const {
    OfferedNames offered{NearestNames{kind}};
    for (const auto& spec : index_.specs()) {
      const auto other = parse_kind(spec->spec.kind);
      offered.add(spec->spec.kind, other && is_related(*other, parsed));
    }
    for (const auto& file : rejected_) {
      if (!file->kind.empty()) offered.nearest.add(file->kind);
    }
    const auto& names = offered.nearest.names();
    for (std::size_t i = 0; i < names.size(); ++i) out.nearest.emplace_back(names[i]);
    const auto near = offered.nearest_text();
    if (!near.empty()) {
      out.why.message.append("; nearest: ").append(near);
    } else if (!offered.first.empty() || dirs_.empty()) {
      out.why.message.append("; known kinds: ").append(offered.first.text());
    } else {
      return false;
    }
    return true;
  }

  /// Adds the searched directories if there are no specs at all.
  void add_searched_dirs(Unresolved& out) const {
    bool missing = true;
    for (const auto& dir : dirs_) missing = missing && dir.state == SpecDir::State::missing;
    if (missing) out.reason = Reason::no_directory;
    out.why.message.append(missing ? "; missing:" : "; no valid specs in:");
    for (const auto& dir : dirs_) out.why.message.append(" ").append(escaped(dir.path));
  }

  const DeviceIndex& index_;
  const std::vector<std::shared_ptr<const RejectedFile>>& rejected_;
  const std::vector<SpecDir>& dirs_;
  bool in_full_;
};

/// Joins all reasons into one error. If any name is merely unknown, the error also lists unused
/// files and directories, because the reason may be there.
inline Error join(const std::vector<Unresolved>& missing, const std::vector<Error>& not_used) {
  Error error = missing.front().why;
  bool explained = !is_unknown(missing.front().reason);
  if (missing.size() > 1) {  // each reason has its own advice
    error.message = detail::advised_message(error);
    error.advice.clear();
  }
  for (std::size_t i = 1; i < missing.size(); ++i) {
    error.message.append("; ").append(detail::advised_message(missing[i].why));
    explained = explained && !is_unknown(missing[i].reason);
  }
  constexpr std::size_t max = 3;
  std::size_t unused = 0;
  for (const auto& other : not_used) {
    if (explained || other.code == Errc::conflict || ++unused > max) continue;
    error.message.append("; not used: ").append(to_string(other));
  }
  if (unused > max) {
    error.message.append("; and ").append(std::to_string(unused - max)).append(" more");
  }
  return error;
}

}  // namespace cdi::detail

#endif  // CDI_REGISTRY_EXPLAIN_HPP
