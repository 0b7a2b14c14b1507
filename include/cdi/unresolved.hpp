// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_UNRESOLVED_HPP
#define CDI_UNRESOLVED_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/minimum_version.hpp>
#include <cdi/result.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

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
inline std::string advice(const Unresolved& one) {
  if (!one.needs_version.empty() && parse_release(one.needs_version)) {
    return "write cdiVersion \"" + one.needs_version + "\" into the file";
  }
  if (!one.needs_version.empty()) {
    return "the file needs a program that knows CDI " + one.needs_version + ", this one knows " +
           to_string(current_release) + ": update this one, or have the file written for that";
  }
  std::string text{row_of(one.reason).advice};
  if (!is_unknown(one.reason) || one.causes.empty()) return text;
  return "if one of the files named is to define it, mend that; else " + text;
}

namespace detail {

/// How many letters to change, add or drop to make one name of the other, cases alike; more than
/// `most` counts as `most + 1`, and so does a name of more than 64 bytes. Costs the product of both
/// lengths at most, no allocation.
inline std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  constexpr std::size_t longest = 64;
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() > longest || b.size() - a.size() > most) return most + 1;
  std::array<std::size_t, longest + 1> row{};
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    std::size_t least = row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const bool same = detail::ascii_lower(a[i]) == detail::ascii_lower(b[j]);
      const std::size_t changed = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      const auto added = (diagonal < row[j] ? diagonal : row[j]) + 1;  // or dropped
      row[j + 1] = changed < added ? changed : added;
      if (row[j + 1] < least) least = row[j + 1];
    }
    if (least > most) return most + 1;
  }
  return row[b.size()] <= most ? row[b.size()] : most + 1;
}

/// The first few of many names, by rank and then in the order of bytes, each once.
class FewNames {
 public:
  static constexpr std::size_t longest = 9;

  /// Keeps `most`, and no more than `longest`.
  explicit FewNames(std::size_t most) : most_{most} {}

  void add(std::size_t rank, std::string_view name) {
    const Entry entry{rank, name};
    std::size_t at = size_;  // where it belongs
    while (at > 0 && entry < entries_[at - 1]) --at;
    if (at == most_ || (at > 0 && entry == entries_[at - 1])) return;
    if (size_ < most_) ++size_;
    for (auto i = size_ - 1; i > at; --i) entries_[i] = entries_[i - 1];
    entries_[at] = entry;
  }

  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t i) const { return entries_[i].name; }

 private:
  struct Entry {
    std::size_t rank = 0;
    std::string_view name{};

    friend bool operator==(const Entry&, const Entry&) = default;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.rank != b.rank ? a.rank < b.rank : a.name < b.name;
    }
  };

  std::size_t most_;
  std::size_t size_ = 0;
  std::array<Entry, longest> entries_{};
};

/// The few of many names that resemble one, best first.
class NearestNames {
 public:
  explicit NearestNames(std::string_view wanted) : wanted_{wanted} {
    most_ = wanted.size() < 6 ? 1 : wanted.size() < 9 ? 2 : 3;
  }

  /// `related`: whether the name is worth telling, however it is spelt.
  void add(std::string_view name, bool related = false) {
    const auto distance = detail::edit_distance(wanted_, name, most_);
    const bool holds = wanted_.size() > 2 && name.find(wanted_) != std::string_view::npos;
    if (distance <= most_ || related || holds) names_.add(distance, name);
  }

  const FewNames& names() const { return names_; }

 private:
  static constexpr std::size_t limit = 5;

  std::string_view wanted_;
  std::size_t most_ = 0;
  FewNames names_{limit};
};

/// The first few of many names in the order of bytes, each once.
class FirstNames {
 public:
  void add(std::string_view name) { names_.add(0, name); }
  bool empty() const { return names_.size() == 0; }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      out.append(i == 0 ? "" : ", ").append(i == most ? "..." : detail::escaped(names_[i]));
    }
    return out.empty() ? "none" : out;
  }

 private:
  static constexpr std::size_t most = 8;
  FewNames names_{most + 1};  // one more tells that there are more
};

}  // namespace detail

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_UNRESOLVED_HPP
