// `Unresolved`: the reason why a device name is not resolved, and advice.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_UNRESOLVED_HPP
#define CDI_REGISTRY_UNRESOLVED_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// Why a name cannot be resolved, for code that has to decide; `reasons` tells of each.
enum class Reason : std::uint8_t {
  invalid_name,    ///< it is no `vendor.com/class=device`
  unknown_kind,    ///< no spec is of its kind
  unknown_device,  ///< specs are of its kind, and none has the device
  conflict,        ///< two files of one priority define it
  rejected,        ///< a file of its kind is not a valid spec
  quarantined,     ///< it was left out of its file: see `ReadOptions::quarantine_devices`
  unreadable,      ///< a file or directory that may define it cannot be read
  refused,         ///< `ReadOptions::refuse_writable` forbids what may define it
  no_directory,    ///< none of the spec directories is there
  not_searched,    ///< it is in a directory that is not searched; only `diagnose` can tell
};

/// What is to be said of a reason.
struct ReasonRow {
  Reason reason;             ///< which one
  std::string_view code;     ///< stable: for programs
  std::string_view meaning;  ///< what it is, in one sentence about the name, for people
  std::string_view advice;   ///< what to do
};

/// Every reason, in the order of `Reason`.
inline constexpr std::array<ReasonRow, 10> reasons{{
    {Reason::invalid_name, "invalid-name", "it is not a qualified name",
     "write vendor.com/class=device"},
    {Reason::unknown_kind, "unknown-kind", "no spec is of its kind",
     "look for a slip of the pen in the kind; else run the vendor's generator, so that it writes a "
     "spec of this kind"},
    {Reason::unknown_device, "unknown-device", "its kind is there, but has no such device",
     "ask for a device that is there; if the hardware has changed, have the spec written anew"},
    {Reason::conflict, "conflict", "two files of one priority define it",
     "keep the device in one of the files and remove it from the other"},
    {Reason::rejected, "file-rejected", "a file of its kind is not a valid spec",
     "mend the file at that place, or have it written anew"},
    {Reason::quarantined, "device-quarantined", "its own definition is not valid",
     "mend the device at that place, or have the file written anew"},
    {Reason::unreadable, "unreadable", "a file or directory that may define it cannot be read",
     "if it is a permission, chmod a+r the file and a+rx the directories above it; if a link leads "
     "nowhere, make what it leads to, or remove it; if it is no directory, name the one that is "
     "meant"},
    {Reason::refused, "refused-by-policy",
     "others may write a file or directory that may define it",
     "give it to root and take the others' right to write: chmod go-w"},
    {Reason::no_directory, "no-directory", "none of the spec directories is there",
     "make the directory and have the specs written, or name the directory where they are"},
    {Reason::not_searched, "not-searched", "it is in a directory that is not searched",
     "add that directory to those searched, or move the file"},
}};

/// The row of a reason in `reasons`.
constexpr const ReasonRow& row_of(Reason reason) {
  return reasons[static_cast<std::size_t>(reason)];
}

/// Whether nobody is to blame: as far as anybody knows there is no such device.
constexpr bool is_unknown(Reason reason) {
  return reason == Reason::unknown_kind || reason == Reason::unknown_device;
}

/// A name that cannot be resolved, and why.
struct Unresolved {
  std::string name{};                    ///< as it was asked for
  Reason reason = Reason::invalid_name;  ///< why, typed
  Error why{};                           ///< why, in words, the name included
  std::vector<std::string> nearest{};  ///< kinds or qualified names like it, best first, 5 at most
  /// Files and directories to blame, with path, line and column; when the kind or device is
  /// unknown, those that nobody could look into.
  std::vector<Error> causes{};
  std::string needs_version{};  ///< the CDI release that the file to blame needs, when that is it
};

/// What to do about a name that is not resolved, in one sentence: what the row of its reason
/// advises, unless the release of a file is the fault.
std::string advice(const Unresolved& one);

}  // namespace CDI_ABI
}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/impl/unresolved.hpp>
#endif

#endif  // CDI_REGISTRY_UNRESOLVED_HPP
