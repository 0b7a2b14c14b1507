// The parts of a JSON OCI spec that edits change: their places, and a check of their kinds.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_PART_CHECK_HPP
#define CDI_TARGETS_PART_CHECK_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/apply/spec_editor.hpp>
#include <cdi/base/result.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/text/member_case.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// The name of a member, and its position.
struct MemberName {
  std::string text{};
  Position position{};
};

/// The result of looking up a key in an object.
template <class View>
struct FoundMember {
  View value{};                     // empty if the member is missing or null
  std::optional<MemberName> odd{};  // the first member whose name is the key in another case
};

/// Checks that the touched parts of an OCI spec have the kinds that OCI requires, and stops at the
/// first violation.
///
/// The check also rejects a name in another case if its member leads to a touched part or
/// identifies an entry. The Go runtimes read `User` as `user`: an added second member would replace
/// what the first member states, such as the user ID.
///
/// A `View` is a value of the JSON document, or empty. It provides `operator bool`, `is_object`,
/// `is_array`, `is_text`, `is_any`, `is_id` (a whole number of 32 bits), `find(key)`, which returns
/// a `FoundMember`, `each(visit)`, which visits an array's items while `visit` returns true,
/// `describe()` and `position()`.
template <class View>
class PartCheck {
 public:
  explicit PartCheck(const TouchedParts& touched) : touched_{touched} {}

  /// Fails with `Errc::schema` and the path of the part.
  Result<void> check(const View& spec) && {
    static_assert(sizeof(TouchedParts) == 6 + sizeof(TouchedParts::hooks), "cdi: check each part");
    if (!spec.is_object()) fail("", "an object", spec);
    check_process(spec);
    check_linux(spec);
    check_hooks(spec);
    return std::move(result_);
  }

 private:
  using Is = bool (View::*)() const;

  void check_process(const View& spec) {
    const bool needs_user = touched_.devices || touched_.additional_gids;
    if (!touched_.env && !needs_user) return;
    const View process = value(spec, "process", "process", &View::is_object, "an object");
    if (touched_.env) array(process, "env", "process.env", &View::is_text, "text");
    if (!needs_user) return;
    const View user = value(process, "user", "process.user", &View::is_object, "an object");
    if (touched_.devices) {
      value(user, "uid", "process.user.uid", &View::is_id, "a user id");
      value(user, "gid", "process.user.gid", &View::is_id, "a group id");
    }
    if (touched_.additional_gids) {
      array(user, "additionalGids", "process.user.additionalGids", &View::is_id, "a group id");
    }
  }

  void check_linux(const View& spec) {
    if (!touched_.devices && !touched_.net_devices && !touched_.intel_rdt && !touched_.mounts) {
      return;
    }
    const View part = value(spec, "linux", "linux", &View::is_object, "an object");
    if (touched_.devices) {
      array(part, "devices", "linux.devices", &View::is_object, "an object", "path");
      const View resources =
          value(part, "resources", "linux.resources", &View::is_object, "an object");
      array(resources, "devices", "linux.resources.devices", &View::is_object, "an object");
    }
    if (touched_.net_devices) {
      value(part, "netDevices", "linux.netDevices", &View::is_object, "an object");
    }
    if (touched_.intel_rdt) value(part, "intelRdt", "linux.intelRdt", &View::is_any, "");
    if (touched_.mounts) {
      array(part, "namespaces", "linux.namespaces", &View::is_object, "an object", "type");
      array(part, "uidMappings", "linux.uidMappings", &View::is_object, "an object");
      array(part, "gidMappings", "linux.gidMappings", &View::is_object, "an object");
      array(spec, "mounts", "mounts", &View::is_object, "an object", "destination");
    }
  }

  void check_hooks(const View& spec) {
    bool needs_hooks = false;
    for (const bool point : touched_.hooks) needs_hooks = needs_hooks || point;
    if (!needs_hooks) return;
    const View hooks = value(spec, "hooks", "hooks", &View::is_object, "an object");
    for (std::size_t i = 0; i < touched_.hooks.size(); ++i) {
      if (!touched_.hooks[i]) continue;
      const std::string name{oci::hook_point_names[i]};
      array(hooks, name.c_str(), "hooks." + name, &View::is_object, "an object", "path");
    }
  }

  /// Checks that a member is missing or has a value that `is` accepts.
  View value(const View& outer, const char* key, std::string_view path, Is is,
             std::string_view what) {
    if (!outer || !result_) return {};
    auto found = outer.find(key);
    if (found.odd) fail_case(*found.odd, key, path);
    if (found.value && !(found.value.*is)()) fail(path, what, found.value);
    return result_ ? found.value : View{};
  }

  /// Checks that a member is missing or an array of values that `is` accepts, and that each
  /// item's `key_member` is missing or a text.
  void array(const View& outer, const char* key, std::string_view path, Is is,
             std::string_view what, const char* key_member = nullptr) {
    const View list = value(outer, key, path, &View::is_array, "an array");
    std::size_t i = 0;
    list.each([&](const View& item) {
      if (!(item.*is)()) {
        fail(item_path(path, i), what, item);
      } else if (key_member != nullptr) {
        check_key(item, key_member, path, i);
      }
      ++i;
      return result_.has_value();
    });
  }

  /// Checks that the member that identifies an array item is missing or a text.
  void check_key(const View& item, const char* key, std::string_view list, std::size_t i) {
    const auto found = item.find(key);
    const bool is_good = !found.value || found.value.is_text();
    if (is_good && !found.odd) return;
    value(item, key, item_path(list, i).append(".").append(key), &View::is_text, "text");
  }

  /// Reports a member whose name is in another case. `path` ends with `key`.
  void fail_case(MemberName& odd, std::string_view key, std::string_view path) {
    path.remove_suffix(path.size() == key.size() ? key.size() : key.size() + 1);  // and the dot
    result_ = detail::wrong_case(odd.text, key, path);
    result_.error().position = std::move(odd.position);
  }

  void fail(std::string_view path, std::string_view what, const View& found) {
    if (!result_) return;
    std::string message = "expected ";
    message.append(what).append(" in the OCI spec, not ").append(found.describe());
    result_ = Error{.code = Errc::schema,
                    .message = std::move(message),
                    .where = std::string{path},
                    .position = found.position()};
  }

  const TouchedParts& touched_;
  Result<void> result_{};
};

/// The parts of a JSON OCI spec that edits change, for the editors of JSON text and of JSON
/// documents. Missing or null parts are created.
///
/// An `Editor` derives from this class and provides `root()`; `object(outer, key)`;
/// `list(outer, key, key_member)`, in which `key_member` identifies an item, or is empty;
/// `entries(object)`; `set(outer, key, record)`; and `is_empty(object)`. A `Part` is what `object`
/// returns.
template <class Editor, class Part, class List, class Entries>
class JsonParts {
 public:
  /// Returns `process.env`; the key of a variable is its name.
  List env() { return editor().list(process(), "env", ""); }
  /// Returns `linux.devices`; the key of a node is its path in the container.
  List devices() { return editor().list(linux_part(), "devices", "path"); }
  /// Returns `linux.resources.devices`, for appending.
  List device_rules() {
    return editor().list(editor().object(linux_part(), "resources"), "devices", "");
  }
  /// Returns `linux.netDevices`; the key of an interface is its name on the host.
  Entries net_devices() { return editor().entries(editor().object(linux_part(), "netDevices")); }
  /// Returns `mounts`; the key of a mount is its destination, as text.
  List mounts() { return editor().list(editor().root(), "mounts", "destination"); }
  /// Returns the list of `hooks` for one hook point, for appending.
  List hooks(oci::HookPoint point) {
    return editor().list(editor().object(editor().root(), "hooks"), oci::hook_point_name(point),
                         "");
  }
  /// Replaces `linux.intelRdt` with these settings.
  void set_intel_rdt(const oci::LinuxIntelRdtView& settings) {
    editor().set(linux_part(), "intelRdt", settings);
  }
  /// Returns `process.user.additionalGids`.
  List additional_gids() { return editor().list(user(process()), "additionalGids", ""); }

 private:
  Editor& editor() { return static_cast<Editor&>(*this); }
  Part linux_part() { return editor().object(editor().root(), "linux"); }

  /// Returns the process; if it is missing or empty, adds the members that OCI requires.
  Part process() {
    Part value = editor().object(editor().root(), "process");
    if (editor().is_empty(value)) {
      user(value);
      editor().set(value, "cwd", std::string_view{});
    }
    return value;
  }
  Part user(Part process) {
    Part value = editor().object(process, "user");
    if (editor().is_empty(value)) {
      editor().set(value, "uid", std::uint32_t{0});
      editor().set(value, "gid", std::uint32_t{0});
    }
    return value;
  }
};

}  // namespace cdi::detail

#endif  // CDI_TARGETS_PART_CHECK_HPP
