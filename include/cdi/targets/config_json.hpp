// `ConfigJson`: the JSON text of an OCI `config.json` as a target of edits.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TARGETS_CONFIG_JSON_HPP
#define CDI_TARGETS_CONFIG_JSON_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/apply/apply.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/targets/json_patch.hpp>
#include <cdi/targets/part_check.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// The JSON text of an OCI spec, such as a `config.json`, as a target of edits: for `apply`,
/// `Registry::inject` and `Cache::inject`. Edits write only what they change. All other bytes stay
/// as they are, including blanks, unknown members, the order of members and the digits of numbers.
/// New values are put on separate lines and indented if their neighbours are.
///
/// An injection costs one pass over the text. It also fails with the errors of `parse_json`, which
/// include line and column.
struct ConfigJson {
  std::string text{};  ///< edited in place; unchanged after an error
  std::string file{};  ///< the text's name in errors, often a path
  Limits limits{};     ///< limits for the text

  friend bool operator==(const ConfigJson&, const ConfigJson&) = default;
};

namespace detail {

/// A list in a JSON text. Valid as long as the changes exist.
class ConfigJsonList {
 public:
  ConfigJsonList(JsonPatch& patch, JsonPatch::Id list, std::string_view key_member)
      : patch_{&patch}, list_{list}, key_member_{key_member} {}

  std::size_t size() const { return patch_->size(list_); }
  std::string_view key(std::size_t i) const;
  std::uint32_t id(std::size_t i) const;
  /// Returns an old item as JSON text; for `NAME=value`, the plain text.
  std::string_view record(std::size_t i) const;
  template <class Record>
  bool equals(std::size_t i, const Record& record) const {
    // At once: an item of a hostile config can have a million members, and each hook looks at it.
    if (patch_->item(list_, i).size() > table_of<Record>().field_count) return false;
    if constexpr (requires { record.args; }) {  // compared first: most hooks differ here
      if (!has_command_of(i, record)) return false;
    }
    if (has_other_members(i, table_of<Record>())) return false;  // before reading any value
    const auto found = cdi::read<Record>(patch_->item(list_, i));
    return found && *found == record;
  }
  template <class Record>
  void append(const Record& record) {
    patch_->append(list_, {&record, table_of<Record>()});
  }
  template <class Record>
  void assign(std::size_t i, const Record& record) {
    patch_->assign(list_, i, {&record, table_of<Record>()});
  }
  void rearrange(std::span<const std::size_t> order) { patch_->rearrange(list_, order); }

 private:
  std::string_view text_member(std::size_t i, std::string_view key) const;
  bool has_command_of(std::size_t i, const oci::HookView& hook) const;
  /// Returns whether an item has members that records of a type lack.
  bool has_other_members(std::size_t i, const Type& type) const;

  JsonPatch* patch_;
  JsonPatch::Id list_;
  std::string_view key_member_;  // empty if the items are `NAME=value`
};

/// The object `linux.netDevices` in a JSON text. Valid as long as the changes exist.
class ConfigJsonInterfaces {
 public:
  ConfigJsonInterfaces(JsonPatch& patch, JsonPatch::Id object) : patch_{&patch}, object_{object} {}

  void set(std::string_view key, const oci::LinuxNetDeviceView& record) {
    patch_->set(object_, key, {&record, table_of<oci::LinuxNetDeviceView>()});
  }
  /// Returns the member's JSON text before any change, or nothing if it was absent. The first call
  /// costs a sort, later calls a binary search.
  std::optional<std::string_view> find(std::string_view key);

 private:
  JsonPatch* patch_;
  JsonPatch::Id object_;
  std::optional<std::vector<JsonPatch::Member>> old_{};  // sorted by key
};

}  // namespace detail

/// Edits the JSON text of an OCI spec, for `apply`; apply/spec_editor.hpp describes editors.
/// Missing or null parts are created when needed. Call the other functions only after `check` has
/// succeeded.
template <>
struct SpecEditor<ConfigJson>
    : detail::JsonParts<SpecEditor<ConfigJson>, detail::JsonPatch::Id, detail::ConfigJsonList,
                        detail::ConfigJsonInterfaces> {
  /// Makes an editor for a text, which must outlive the editor.
  explicit SpecEditor(ConfigJson& config) : config_{config} {}
  SpecEditor(const SpecEditor&) = delete;  // the changes refer to the document
  SpecEditor& operator=(const SpecEditor&) = delete;

  /// Reads the text, and checks that the touched parts have the kinds that OCI requires. Fails with
  /// the errors of `parse_json`, and with `Errc::schema` for the first part of a wrong kind.
  Result<void> check(const TouchedParts& touched);

  /// Returns `linux.intelRdt` as JSON text, or nothing if it is absent.
  std::optional<std::string_view> intel_rdt() {
    const auto found = patch_->member(object(root(), "linux"), "intelRdt");
    return found ? std::optional{patch_->source_of(*found)} : std::nullopt;
  }
  /// Returns `process.user`; a missing ID is 0.
  ProcessUser process_user() const;
  /// Returns whether `linux` has a `user` namespace, and mappings of user and group ids.
  bool has_id_mappings() const;

  /// Writes the changes to the text.
  void finish();

 private:
  using Id = detail::JsonPatch::Id;
  friend JsonParts;

  static constexpr Id root() { return detail::JsonPatch::root; }
  Id object(Id outer, std::string_view key) { return patch_->object(outer, key); }
  detail::ConfigJsonList list(Id outer, std::string_view key, std::string_view key_member) {
    return {*patch_, patch_->list(outer, key), key_member};
  }
  detail::ConfigJsonInterfaces entries(Id object) { return {*patch_, object}; }
  template <class Record>
  void set(Id outer, std::string_view key, const Record& record) {
    patch_->set(outer, key, {&record, detail::table_of<Record>()});
  }
  bool is_empty(Id object) const { return patch_->is_empty(object); }

  ConfigJson& config_;
  std::optional<Document> document_{};
  std::optional<detail::JsonPatch> patch_{};  // changes to the document
};

#ifdef CDI_COMPILED
extern template Result<void> detail::edit(ConfigJson& target, JoinedEdits& edits,
                                          const HostRef& host);
#endif

}  // namespace cdi

#if CDI_BODIES
#include <cdi/targets/config_json.inl>
#endif

#endif  // CDI_TARGETS_CONFIG_JSON_HPP
