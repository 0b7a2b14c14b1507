// What was read from spec directories: specs, devices, rejected files and the directories.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_LOADED_SPEC_HPP
#define CDI_REGISTRY_LOADED_SPEC_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/model/release.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A device that was left out of its spec because the device is invalid.
struct QuarantinedDevice {
  std::string name{};  ///< as written in the file; empty if absent
  Error why{};         ///< with its place in the file; `where` is relative to the spec
};

/// The places of the members of a spec in its text.
class MemberPlaces {
 public:
  virtual ~MemberPlaces() = default;
  /// The place of a member, such as `devices[0].name`, or of the deepest one on the way to it.
  virtual Position locate(std::string_view where) const = 0;
  /// The line where each item of a list begins, from 1; empty when there is no such list.
  virtual std::vector<std::uint32_t> lines_of(std::string_view where) const = 0;
};

/// The owner of a file, and its permissions.
struct FileAccess {
  std::uint32_t owner = 0;  ///< user ID
  std::uint32_t group = 0;  ///< group ID
  std::uint32_t mode = 0;   ///< permission bits, at most 07777

  friend bool operator==(const FileAccess&, const FileAccess&) = default;
};

/// A member of a file that the file's declared release does not have. The file is valid if the
/// member is empty or `Rule::version_earlier_devices` applies, but engines that do not know the
/// member refuse the file.
struct NewerMember {
  Release since{};      ///< the first release with the member
  std::string key{};    ///< as written in the file
  Position position{};  ///< the position of the key
};

/// A valid spec, and its origin.
struct LoadedSpec {
  Spec spec{};                    ///< valid, without the devices in `quarantined`
  std::string path{};             ///< path of its file, or name of its text
  int priority = 0;               ///< its directory's priority; the higher wins
  std::vector<Error> warnings{};  ///< about the file; `rule` is the code of the rule
  /// The line where each device begins, from 1; empty when it was not read from a text.
  std::vector<std::uint32_t> lines{};
  std::uint32_t edits_line = 0;  ///< the line where its `containerEdits` begin; 0 when unknown
  std::string digest{};          ///< digest of the parsed bytes: see `ReadOptions::digest`
  /// The access of the file that was read; nothing for a spec that does not come from a file.
  std::optional<FileAccess> access{};
  /// The devices that were left out: see `ReadOptions::quarantine_devices`.
  std::vector<QuarantinedDevice> quarantined{};
  /// The file's current fault if `spec` holds its last valid contents; otherwise null.
  std::shared_ptr<const Error> fault{};
  /// The places of its members; null unless `ReadOptions::keep_places` asks for them.
  std::shared_ptr<const MemberPlaces> places{};
  /// The owner in the comment in the first line of a YAML file; empty if there is no such comment.
  std::string owner_comment{};
  /// The newest of the members that are newer than `cdiVersion`; nothing if there are none.
  std::optional<NewerMember> newer_member{};
  /// Whether `spec` is unchanged since it was read: its texts are then UTF-8, and an injection need
  /// not check them. False for a spec made by hand; set it to false when you change `spec`.
  bool as_read = false;

  /// The place of a member, such as `devices[0].containerEdits.mounts[2]`, in the file. With
  /// `places` the line and column of the member; else the line of its device, or of
  /// `containerEdits`; else only the file.
  Position locate(std::string_view where) const;

  /// Returns the owner that the file records, as a `Publisher` does: in the annotation
  /// `owner_annotation` or, failing that, in the comment. Empty without a record, or if
  /// `check_owner` refuses it. Valid as long as this object is unchanged.
  std::string_view owner() const;
};

/// A spec file that provides no devices, or a directory that cannot be listed.
struct RejectedFile {
  Error why{};                         ///< contains the path in `position.file`
  std::string kind{};                  ///< the devices' kind if known; otherwise empty
  std::vector<std::string> devices{};  ///< device names, as far as known; empty if more than 1000
  std::string needs_version{};         ///< the required CDI release if it is the fault
};

/// The state of a spec directory after the last read.
struct SpecDir {
  /// Whether a directory exists and was read.
  enum class State : std::uint8_t {
    read,        ///< its files were read
    missing,     ///< it does not exist, which is not an error
    unreadable,  ///< it cannot be listed; the errors of the registry contain the reason
  };

  std::string path{};            ///< cleaned by `clean_path`
  int priority = 0;              ///< index in the list of directories, from 0; the higher wins
  State state = State::missing;  ///< whether it was read
  std::size_t specs = 0;         ///< the number of its files that provide a spec

  friend bool operator==(const SpecDir&, const SpecDir&) = default;
};

/// A device and the spec that provides it. Valid as long as the registry that returned them exists.
struct ResolvedDevice {
  const LoadedSpec* spec = nullptr;  ///< the spec that has the device; null if there is none
  const Device* device = nullptr;    ///< points into `spec`; null if there is none

  /// Returns the index of the device in its spec. Requires a device.
  std::size_t index() const { return static_cast<std::size_t>(device - spec->spec.devices.data()); }
  /// The line of the file where the device begins, from 1; 0 when it was not read from a text. Only
  /// when there is a device.
  std::uint32_t line() const { return index() < spec->lines.size() ? spec->lines[index()] : 0; }
};

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/loaded_spec.inl>
#endif

#endif  // CDI_REGISTRY_LOADED_SPEC_HPP
