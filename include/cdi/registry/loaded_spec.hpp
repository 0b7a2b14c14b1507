// The result of reading spec directories: specs, devices, rejected files, directory states.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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
#include <cdi/model/spec.hpp>
#include <cdi/model/spec_version.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A device that was left out of its spec because the device is invalid.
struct QuarantinedDevice {
  std::string name{};  ///< as written in the file; empty if absent
  Error why{};         ///< with its place in the file; `where` is relative to the spec
};

struct LoadedSpec;

/// The positions of the members of a spec in its text.
class MemberPositions {
 public:
  virtual ~MemberPositions() = default;
  /// Returns the place of a member, such as `devices[0].name`, or of its innermost enclosing
  /// member.
  virtual Position locate(std::string_view where) const = 0;
  /// Returns the positions where the items of a list begin; nothing if the list does not exist.
  virtual std::vector<LineColumn> positions_of(std::string_view where) const = 0;
};

/// Finds the positions of a spec's members when they are first needed, and keeps them. Several
/// threads may search at the same time.
class LazyPositions {
 public:
  virtual ~LazyPositions() = default;
  /// Returns the positions, valid as long as this object, or null. `spec` must not have changed.
  virtual const MemberPositions* find(const LoadedSpec& spec) const = 0;
};

/// The owner of a file, and its permissions.
struct FileAccess {
  std::uint32_t owner = 0;  ///< user ID
  std::uint32_t group = 0;  ///< group ID
  std::uint32_t mode = 0;   ///< permission bits, at most 07777

  friend bool operator==(const FileAccess&, const FileAccess&) = default;
};

/// A member that a file contains but that its declared version lacks. The file is valid if the
/// member is empty or `Rule::version_earlier_devices` applies, but engines that do not know the
/// member reject the file.
struct NewerMember {
  SpecVersion since{};  ///< the first version with the member
  std::string key{};    ///< as written in the file
  Position position{};  ///< the position of the key
};

/// A valid spec, and its origin.
struct LoadedSpec {
  Spec spec{};                    ///< valid, without the devices in `quarantined`
  std::string path{};             ///< path of its file, or name of its text
  int priority = 0;               ///< its directory's priority; the highest wins
  std::vector<Error> warnings{};  ///< about the file; `rule` is the code of the rule
  /// The positions where the devices begin; empty if the spec was not read from a text.
  std::vector<LineColumn> device_positions{};
  LineColumn edits_position{};  ///< the place where its `containerEdits` begin
  std::string digest{};         ///< digest of the parsed bytes: see `ReadOptions::digest`
  /// The file's owner and permissions when it was read; nothing for a spec not from a file.
  std::optional<FileAccess> access{};
  /// The devices that were left out: see `ReadOptions::quarantine_devices`.
  std::vector<QuarantinedDevice> quarantined{};
  /// The file's current fault if `spec` holds its last valid contents; otherwise null.
  std::shared_ptr<const Error> last_error{};
  /// The owner in the comment in the first line of a YAML file; empty if there is no such comment.
  std::string owner_comment{};
  /// The newest member that `cdiVersion` does not define; nothing if there is no such member.
  std::optional<NewerMember> newer_member{};
  /// Whether `spec` is unchanged since it was read. If so, its texts are UTF-8, and an injection
  /// need not check them. False for a spec made in code; set it to false when you change `spec`.
  bool as_read = false;
  /// Finds `positions`; shared by copies, and null for a spec made in code.
  std::shared_ptr<const LazyPositions> lazy_positions{};

  /// Returns the positions of the spec's members. The first call reads the file again and keeps the
  /// parsed document, about twice the file's size. Returns null for a spec made or changed in code,
  /// or if the file now contains another spec or exceeds the default `Limits`. Valid as long as
  /// this object exists.
  const MemberPositions* positions() const {
    return as_read && lazy_positions != nullptr ? lazy_positions->find(*this) : nullptr;
  }

  /// Returns the place of a member, such as `devices[0].containerEdits.mounts[2]`, in the file.
  /// Without `positions`, returns what `locate_part` returns.
  Position locate(std::string_view where) const;

  /// Returns the place of the device, or of the spec's `containerEdits`, that a member belongs to;
  /// otherwise only the file. Reads no file.
  Position locate_part(std::string_view where) const;

  /// Returns the owner that the file records as a `Publisher` does: in the annotation
  /// `owner_annotation` or, failing that, in the comment. Empty if there is no record or
  /// `check_owner` rejects it. Valid until this object changes.
  std::string_view owner() const;
};

/// A spec file that provides no devices, or a directory that cannot be listed.
struct RejectedFile {
  Error why{};                         ///< contains the path in `position.file`
  std::string kind{};                  ///< the devices' kind if known; otherwise empty
  std::vector<std::string> devices{};  ///< device names, as far as known; empty if more than 1000
  std::string needs_version{};         ///< the CDI version it needs, if that is the fault
};

/// The state of a spec directory after the last read.
struct SpecDir {
  /// Whether a directory exists and was read.
  enum class State : std::uint8_t {
    read,        ///< its files were read
    missing,     ///< it does not exist, which is not an error
    unreadable,  ///< it cannot be listed; the registry's errors say why
  };

  std::string path{};            ///< cleaned by `clean_path`
  int priority = 0;              ///< index in the list of directories, from 0; the highest wins
  State state = State::missing;  ///< whether it was read
  std::size_t specs = 0;         ///< the number of its files that provide a spec

  friend bool operator==(const SpecDir&, const SpecDir&) = default;
};

/// A device and the spec that provides it. Valid as long as the registry that returned them exists.
struct ResolvedDevice {
  const LoadedSpec* spec = nullptr;  ///< the spec that defines the device; null if there is none
  const Device* device = nullptr;    ///< points into `spec`; null if there is none

  /// Returns the index of the device in its spec. Requires a device.
  std::size_t index() const { return static_cast<std::size_t>(device - spec->spec.devices.data()); }
  /// Returns the place where the device begins, without a line if the spec was not read from text.
  /// Requires a device.
  Position position() const;
  /// Returns the line of `position`.
  std::uint32_t line() const { return position().line; }
};

}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/loaded_spec.inl>
#endif

#endif  // CDI_REGISTRY_LOADED_SPEC_HPP
