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

/// A device that was left out of its spec because its own definition is not valid.
struct QuarantinedDevice {
  std::string name{};  ///< as the file has it; empty when it has none
  Error why{};         ///< with its place in the file, `where` seen from the spec
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

/// Who owns a file, and who may use it.
struct FileAccess {
  std::uint32_t owner = 0;  ///< the user
  std::uint32_t group = 0;  ///< the group
  std::uint32_t mode = 0;   ///< permission bits, at most 07777

  friend bool operator==(const FileAccess&, const FileAccess&) = default;
};

/// A member of a file that the release of the file does not have. The file is valid if the member
/// is empty, or `Rule::version_earlier_devices` is about it; but engines that do not know the
/// member refuse the file.
struct NewerMember {
  Release since{};      ///< the first release that has it
  std::string key{};    ///< as the file has it
  Position position{};  ///< of the key
};

/// A valid spec, and where it comes from.
struct LoadedSpec {
  Spec spec{};                    ///< valid, without the devices in `quarantined`
  std::string path{};             ///< of its file, or the name given to its text
  int priority = 0;               ///< of its directory; the higher wins
  std::vector<Error> warnings{};  ///< about the file; `rule` is the code of the rule
  /// The line where each device begins, from 1; empty when it was not read from a text.
  std::vector<std::uint32_t> lines{};
  std::uint32_t edits_line = 0;  ///< the line where its `containerEdits` begin; 0 when unknown
  std::string digest{};          ///< of the bytes that were parsed: see `ReadOptions::digest`
  /// Of the file that was read; nothing for a spec that does not come from a file.
  std::optional<FileAccess> access{};
  /// The devices that were left out: see `ReadOptions::quarantine_devices`.
  std::vector<QuarantinedDevice> quarantined{};
  /// The fault of the file now, when `spec` is its last valid content; null when it has none.
  std::shared_ptr<const Error> fault{};
  /// The places of its members; null unless `ReadOptions::keep_places` asks for them.
  std::shared_ptr<const MemberPlaces> places{};
  /// The owner that the comment in the first line of a YAML file records; empty when it has none.
  std::string owner_comment{};
  /// The newest of the members that are newer than `cdiVersion`; nothing when there is none.
  std::optional<NewerMember> newer_member{};
  /// Whether `spec` is as it was read, so that its texts are UTF-8, and an injection need not check
  /// them. False for a spec made by hand; set it to false when you change `spec`.
  bool as_read = false;

  /// The place of a member, such as `devices[0].containerEdits.mounts[2]`, in the file. With
  /// `places` the line and column of the member; else the line of its device, or of
  /// `containerEdits`; else only the file.
  Position locate(std::string_view where) const;

  /// The owner that the file records, as a `Publisher` does: in the annotation `owner_annotation`,
  /// or else in the comment; empty when it records none, or a text that `check_owner` refuses.
  /// Valid as long as this object is unchanged.
  std::string_view owner() const;
};

/// A spec file that gives no devices, or a directory that cannot be listed.
struct RejectedFile {
  Error why{};                         ///< with the path in `position.file`
  std::string kind{};                  ///< of its devices, as far as it is known; else empty
  std::vector<std::string> devices{};  ///< their names, as far as known; empty when more than 1000
  std::string needs_version{};         ///< the CDI release that it needs, when that is the fault
};

/// A spec directory at the time when it was last read.
struct SpecDir {
  /// The state of a directory.
  enum class State : std::uint8_t {
    read,        ///< its files were read
    missing,     ///< it does not exist, which is not an error
    unreadable,  ///< it cannot be listed; the reason is among the errors of the registry
  };

  std::string path{};            ///< as `clean_path` makes it
  int priority = 0;              ///< the place in the list of directories, from 0; the higher wins
  State state = State::missing;  ///< whether it was read
  std::size_t specs = 0;         ///< the number of its files that give a spec

  friend bool operator==(const SpecDir&, const SpecDir&) = default;
};

/// A device and the spec that provides it. Valid as long as the registry that returned it.
struct ResolvedDevice {
  const LoadedSpec* spec = nullptr;  ///< the spec that has the device; null when there is none
  const Device* device = nullptr;    ///< in `spec`; null when there is none

  /// The index of the device in its spec. Only when there is a device.
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
