// Checks of the parts of an OCI spec in JSON that edits touch.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TARGETS_PART_CHECK_HPP
#define CDI_TARGETS_PART_CHECK_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/base/member_path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/engine/spec_editor.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// Checks that the touched parts of an OCI spec are of the kinds that OCI requires, and stops at
/// the first that is not.
///
/// A `View` is a value of the JSON document, or nothing: `operator bool`, `is_object`, `is_array`,
/// `is_text`, `is_id` (a whole number of 32 bits), `member(key)`, which is nothing for a member
/// that is missing or null, `each(visit)` for the items of an array while `visit` returns true,
/// `describe()`, and `position()`.
template <class View>
class PartCheck {
 public:
  explicit PartCheck(const TouchedParts& touched) : touched_{touched} {}

  /// `Errc::schema`, with the path of the part.
  Result<void> check(const View& spec) && {
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
    if (touched_.mounts) {
      array(part, "namespaces", "linux.namespaces", &View::is_object, "an object", "type");
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
      array(hooks, name.c_str(), "hooks." + name, &View::is_object, "an object");
    }
  }

  /// Expects nothing, or a value that `is` accepts.
  View value(const View& outer, const char* key, std::string_view path, Is is,
             std::string_view what) {
    const View found = outer.member(key);
    if (found && !(found.*is)()) fail(path, what, found);
    return result_ ? found : View{};
  }

  /// Expects nothing, or an array of values that `is` accepts; of objects, those whose `key_member`
  /// is text.
  void array(const View& outer, const char* key, std::string_view path, Is is,
             std::string_view what, const char* key_member = nullptr) {
    const View list = value(outer, key, path, &View::is_array, "an array");
    std::size_t i = 0;
    list.each([&](const View& item) {
      if (!(item.*is)()) {
        fail(item_path(path, i), what, item);
      } else if (const View text = key_member == nullptr ? View{} : item.member(key_member);
                 text && !text.is_text()) {
        fail(item_path(path, i).append(".").append(key_member), "text", text);
      }
      ++i;
      return result_.has_value();
    });
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

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_TARGETS_PART_CHECK_HPP
