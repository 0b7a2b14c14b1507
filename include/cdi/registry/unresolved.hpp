// `Unresolved`: the reason why a device name does not resolve, and advice.
// SPDX-License-Identifier: Apache-2.0 OR MIT

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

namespace cdi::inline CDI_ABI {

/// Why a name does not resolve, for programs; `reasons` has a row for each reason. The order must
/// not change: `cdi why` exits with 10 plus the reason's number. explain.hpp chooses the reason.
enum class Reason : std::uint8_t {
  invalid_name,    ///< the name does not have the form `vendor.com/class=device`
  unknown_kind,    ///< no spec has this kind
  unknown_device,  ///< specs of this kind exist, but none defines the device
  conflict,        ///< two files of the same priority define the device
  rejected,        ///< a file of this kind is not a valid spec
  quarantined,     ///< the device was left out: see `ReadOptions::quarantine_devices`
  unreadable,      ///< a file or directory that may define the device cannot be read
  denied,          ///< `ReadOptions::reject_writable` forbids the file or directory
  no_directory,    ///< none of the spec directories exists
  not_searched,    ///< the directory is not searched; only `diagnose` reports this
  ignored,         ///< programs ignore the file because of its name; only `diagnose` reports this
};

/// A reason's code and texts.
struct ReasonRow {
  Reason reason;             ///< the reason
  std::string_view code;     ///< stable, for programs
  std::string_view meaning;  ///< the reason, in one sentence about the name, for people
  std::string_view advice;   ///< what to do
};

/// All reasons, in the order of `Reason`.
inline constexpr std::array<ReasonRow, 11> reasons{{
    {Reason::invalid_name, "invalid-name", "it is not a qualified name",
     "write vendor.com/class=device"},
    {Reason::unknown_kind, "unknown-kind", "no spec has this kind",
     "check the spelling of the kind, or run the vendor's generator to write a spec of this kind"},
    {Reason::unknown_device, "unknown-device", "the kind exists, but the device does not",
     "request a device that exists; if the hardware has changed, regenerate the spec"},
    {Reason::conflict, "conflict", "two files of the same priority define it",
     "keep the device in one of the files and remove it from the other"},
    {Reason::rejected, "file-rejected", "a file of its kind is not a valid spec",
     "correct the file at that position, or regenerate it"},
    {Reason::quarantined, "device-quarantined", "its definition is invalid",
     "correct the device at that position, or regenerate the file"},
    {Reason::unreadable, "unreadable", "a file or directory that may define it cannot be read",
     "if permissions are missing, chmod a+r the file and a+rx the directories above it; if a link "
     "is broken, create its target or remove the link; if a path is not a directory, pass the "
     "correct path"},
    {Reason::denied, "refused-by-policy",
     "other users can write to a file or directory that may define it",
     "make it owned by root and not writable by others: chown root, chmod go-w"},
    {Reason::no_directory, "no-directory", "none of the spec directories exists",
     "create the directory and generate the specs, or pass the directory that contains the specs"},
    {Reason::not_searched, "not-searched", "it is in a directory that is not searched",
     "search that directory too, or move the file"},
    {Reason::ignored, "file-ignored",
     "it is in a file that is ignored, because its name ends neither in .json nor in .yaml",
     "rename the file"},
}};

namespace detail {

/// Whether a reason is an enumerator: compilers print any other value as `(cdi::Reason)11`.
template <Reason reason>
consteval bool has_name() {
  return std::string_view{__PRETTY_FUNCTION__}.find("Reason::") != std::string_view::npos;
}

/// Whether each reason has its row, in the order of `Reason`.
consteval bool has_all_reasons() {
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    if (static_cast<std::size_t>(reasons[i].reason) != i) return false;
  }
  return !has_name<static_cast<Reason>(reasons.size())>();
}
static_assert(has_all_reasons(), "cdi: give each reason its row, in the order of `Reason`");

}  // namespace detail

/// Returns the row of a reason in `reasons`.
constexpr const ReasonRow& row_of(Reason reason) {
  return reasons[static_cast<std::size_t>(reason)];
}

/// Returns whether, as far as is known, the device does not exist.
constexpr bool is_unknown(Reason reason) {
  return reason == Reason::unknown_kind || reason == Reason::unknown_device;
}

namespace detail {

inline constexpr std::size_t few_causes = 3;  // in a message, and of names not explained in full

}  // namespace detail

/// A name that does not resolve, and the reason.
struct Unresolved {
  std::string name{};                    ///< as requested
  Reason reason = Reason::invalid_name;  ///< the reason as a value
  Error why{};                           ///< the reason in words, including the name
  std::vector<std::string> nearest{};  ///< similar kinds or qualified names, best first, 5 at most
  /// Files and directories that may define the device, with path, line and column. If the kind or
  /// device is unknown, lists everything that could not be read.
  std::vector<Error> causes{};
  std::size_t more_causes = 0;  ///< causes left out: see `Registry::unresolved`
  std::string needs_version{};  ///< the CDI version that a cause needs, if that is the fault
};

/// Returns, in one sentence, what to do about a name that does not resolve: the advice of its
/// reason, unless the version of a file is the fault.
std::string advice(const Unresolved& one);

}  // namespace cdi

#if CDI_BODIES
#include <cdi/registry/unresolved.inl>
#endif

#endif  // CDI_REGISTRY_UNRESOLVED_HPP
