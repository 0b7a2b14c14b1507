// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_CLAIMS_JOURNAL_HPP
#define CDI_PREPARE_CLAIMS_JOURNAL_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/json.hpp>
#include <cdi/name.hpp>
#include <cdi/result.hpp>
#include <cdi/text/document.hpp>

#include "../base/json_output.hpp"
#include "../base/text.hpp"
#include "../host/directories.hpp"

// What has been promised to whom: a file for each claim, which survives the spec files of
// /var/run, and tells after a crash how far a call had come.

namespace prepare {

/// A GPU, or a partition of one, that a claim has.
struct ClaimedDevice {
  std::string request{};      // of the claim; empty for all of them
  std::string asked{};        // the name by which it was asked for: "1", "all"
  std::string kind{};         // "nvidia.com/gpu"
  std::string name{};         // the first of its names when it was claimed
  std::string id{};           // of the GPU, as in `Gpu`; empty as long as it is unknown
  std::string suffix{};       // of the partition; empty for the whole
  std::string pci_address{};  // where it was the last time
  std::string pci_id{};       // another one at that address is another GPU
  bool by_iommufd = false;

  friend bool operator==(const ClaimedDevice&, const ClaimedDevice&) = default;
};

/// A claim, and how far its preparation has come.
struct Claim {
  enum class Phase : std::uint8_t { preparing, prepared, removing };

  std::string uid{};
  std::string name_space{};
  std::string name{};
  Phase phase = Phase::preparing;
  std::string kind{};                          // of its CDI devices
  std::string boot_id{};                       // in which its spec was verified
  std::map<std::string, std::string> holds{};  // the options that decide what its spec holds
  std::vector<ClaimedDevice> devices{};

  friend bool operator==(const Claim&, const Claim&) = default;

  /// JSON, which engines read faster, and so do we: all of them, each time.
  std::string file_name() const { return *cdi::transient_spec_name(kind, uid) + ".json"; }

  /// The name in the claim's spec of one of `devices`. The UID makes it new each time: runtimes may
  /// still know another content of an older one.
  std::string device_name(std::size_t index) const { return fmt::format("{}-{}", uid, index); }

  /// The CDI id of one of `devices`.
  std::string device_id(std::size_t index) const {
    return cdi::qualified_name(kind, device_name(index));
  }
};

/// UIDs that can be part of a file name and of a device name, which has at most 63 characters, and
/// cannot be a path: 1 to 56 letters, digits and `-`, a letter or digit at both ends.
inline bool is_claim_uid(std::string_view text) {
  constexpr std::size_t longest = 56;
  return text.size() <= longest && cdi::is_device_name(text) &&
         text.find_first_of("_.:") == std::string_view::npos;
}

inline constexpr int journal_version = 1;

inline constexpr std::pair<Claim::Phase, std::string_view> phase_names[] = {
    {Claim::Phase::preparing, "preparing"},
    {Claim::Phase::prepared, "prepared"},
    {Claim::Phase::removing, "removing"}};

/// The members of a claimed device that are text, as its journal names them.
inline constexpr std::pair<const char*, std::string ClaimedDevice::*> device_members[] = {
    {"request", &ClaimedDevice::request},
    {"asked", &ClaimedDevice::asked},
    {"kind", &ClaimedDevice::kind},
    {"name", &ClaimedDevice::name},
    {"id", &ClaimedDevice::id},
    {"suffix", &ClaimedDevice::suffix},
    {"pci_address", &ClaimedDevice::pci_address},
    {"pci_id", &ClaimedDevice::pci_id}};

/// The same of a claim.
inline constexpr std::pair<const char*, std::string Claim::*> claim_members[] = {
    {"uid", &Claim::uid},
    {"namespace", &Claim::name_space},
    {"name", &Claim::name},
    {"kind", &Claim::kind},
    {"boot_id", &Claim::boot_id}};

inline Json to_json(const ClaimedDevice& device) {
  Json out;
  for (const auto& [key, member] : device_members) out[key] = device.*member;
  out["by_iommufd"] = device.by_iommufd;
  return out;
}

inline Json to_json(const Claim& claim) {
  Json out{{"version", journal_version}};
  for (const auto& [key, member] : claim_members) out[key] = claim.*member;
  for (const auto& [phase, name] : phase_names) {
    if (phase == claim.phase) out["phase"] = name;
  }
  out["holds"] = claim.holds;
  out["devices"] = Json::array();
  for (const auto& device : claim.devices) out["devices"].push_back(to_json(device));
  return out;
}

namespace journal_detail {

using Value = cdi::Document::Value;

/// A member of an object; none when it is not there.
inline std::optional<Value> member(const Value& object, std::string_view name) {
  for (const auto [key, value] : object.members()) {
    if (key.text() == name) return value;
  }
  return std::nullopt;
}

inline bool is_text(const std::optional<Value>& value) {
  return value && value->kind() == cdi::Document::Kind::quoted;
}

/// Reads members of text into an object; whether all are there.
template <typename Object, std::size_t count>
bool read_members(const Value& json, Object& out,
                  const std::pair<const char*, std::string Object::*> (&members)[count]) {
  return std::all_of(members, members + count, [&](const auto& entry) {
    const auto found = member(json, entry.first);
    if (!is_text(found)) return false;
    out.*entry.second = found->text();
    return true;
  });
}

inline bool read_phase(const Value& json, Claim::Phase& out) {
  const auto found = member(json, "phase");
  for (const auto& [phase, name] : phase_names) {
    if (!is_text(found) || found->text() != name) continue;
    out = phase;
    return true;
  }
  return false;
}

inline bool read_holds(const Value& json, std::map<std::string, std::string>& out) {
  const auto found = member(json, "holds");
  if (!found || found->kind() != cdi::Document::Kind::map) return false;
  for (const auto [key, value] : found->members()) {
    if (!is_text(value)) return false;
    out[std::string{key.text()}] = value.text();
  }
  return true;
}

inline bool read_devices(const Value& json, std::vector<ClaimedDevice>& out) {
  const auto found = member(json, "devices");
  if (!found) return false;
  for (const auto element : found->items()) {
    ClaimedDevice device;
    if (!read_members(element, device, device_members)) return false;
    if (!cdi::is_device_name(device.name)) return false;
    const auto by_iommufd = member(element, "by_iommufd");
    device.by_iommufd = by_iommufd && by_iommufd->text() == "true";
    out.push_back(std::move(device));
  }
  return !out.empty();
}

inline bool read_claim(const Value& json, Claim& out) {
  return read_members(json, out, claim_members) && is_claim_uid(out.uid) &&
         cdi::parse_kind(out.kind) && read_phase(json, out.phase) && read_holds(json, out.holds) &&
         read_devices(json, out.devices);
}

/// The version that a journal records; 0 when it records none.
inline int recorded_version(const Value& json) {
  const auto found = member(json, "version");
  if (!found || found->kind() != cdi::Document::Kind::plain) return 0;
  return parse_number<int>(found->text()).value_or(0);
}

}  // namespace journal_detail

inline cdi::Error not_a_claim() {
  return {.code = cdi::Errc::schema, .message = "it is damaged, or no journal of a claim"};
}

/// Reads a claim from the text that `to_json` makes of it. `path` is for messages.
inline cdi::Result<Claim> parse_claim(std::string_view text, std::string_view path) {
  const auto json = cdi::parse_json(text, path);
  if (!json) {
    auto error = not_a_claim();
    error.message.append(": ").append(json.error().message);
    error.position = json.error().position;
    return error;
  }
  const int version = journal_detail::recorded_version(json->root());
  if (version > journal_version) {
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message = "a newer cdi-prepare wrote it: use that one"};
  }
  Claim claim;
  if (version == journal_version && journal_detail::read_claim(json->root(), claim)) return claim;
  return not_a_claim();
}

/// The journal in a directory. One process at a time has it; another one waits.
class Journal {
 public:
  /// Claims by UID, or why there is none to be read.
  using Claims = std::map<std::string, cdi::Result<Claim>>;

  /// Takes an open directory, and waits for the lock. `Errc::refused` for a directory that others
  /// may write: the journal decides which files this process writes. `Errc::timeout` when others
  /// have the lock all the time.
  static cdi::Result<Journal> open(Directory directory, std::chrono::duration<double> patience) {
    if (auto good = check_writers(directory); !good) return std::move(good).error();
    std::error_code failed;
    auto real_path = std::filesystem::canonical(directory.path, failed).string();
    errno = failed.value();
    if (failed) return cdi::file_error(directory.path, "cannot open the directory");
    Journal journal{std::move(directory), std::move(real_path)};
    if (auto locked = journal.lock(patience); !locked) return std::move(locked).error();
    return journal;
  }

  /// The directory; no part of the path is a link, so that it is the same whatever the way to it.
  const std::string& directory() const { return real_path_; }

  /// Whether another process had the lock first.
  bool has_waited() const { return has_waited_; }

  std::string path_of(std::string_view uid) const { return directory_.path_of(file_of(uid)); }

  /// Reads all claims. Removes what writers left that were killed.
  cdi::Result<Claims> load() const {
    const auto names = names_in(directory_);
    if (!names) return names.error();
    Claims claims;
    for (const auto& name : *names) {
      const auto uid = name.substr(0, name.rfind('.'));
      if (cdi::detail::is_temporary_name(name)) {
        ::unlinkat(directory_.number(), name.c_str(), 0);
      } else if (name == file_of(uid) && is_claim_uid(uid)) {
        claims.emplace(uid, read(uid));
      }
    }
    return claims;
  }

  /// Writes a claim so that it survives a crash of the host.
  cdi::Result<void> save(const Claim& claim) const {
    return replace_file(directory_, file_of(claim.uid), json_text(to_json(claim)), 0600);
  }

  /// Forgets a claim, for good.
  cdi::Result<void> erase(std::string_view uid) const {
    if (::unlinkat(directory_.number(), file_of(uid).c_str(), 0) != 0 && errno != ENOENT) {
      return cdi::file_error(path_of(uid), "cannot remove the file");
    }
    return sync_names(directory_);
  }

 private:
  Journal(Directory directory, std::string real_path)
      : directory_{std::move(directory)}, real_path_{std::move(real_path)} {}

  static std::string file_of(std::string_view uid) { return fmt::format("{}.json", uid); }

  static cdi::Result<void> check_writers(const Directory& directory) {
    struct stat info = {};
    if (::fstat(directory.number(), &info) != 0) {
      return cdi::file_error(directory.path, "cannot look at the directory");
    }
    if (!cdi::detail::is_writable_by_others(info)) return {};
    auto error = cdi::detail::writable_by_others(directory.path, "directory", info);
    error.message += ": take another --state-dir, or chown and chmod this one";
    return error;
  }

  cdi::Result<void> lock(std::chrono::duration<double> patience) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds pause{5};
    const auto path = directory_.path_of(".lock");
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    lock_ = cdi::Descriptor{::openat(directory_.number(), ".lock", flags, 0600)};
    if (!lock_) return cdi::file_error(path, "cannot open the lock");
    const auto end = Clock::now() + patience;
    while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return cdi::file_error(path, "cannot lock");
      if (!(Clock::now() < end)) {  // also when `patience` is no number
        return cdi::Error{.code = cdi::Errc::timeout,
                          .message = "another call has had the lock all the time: try again",
                          .position = {.file = path}};
      }
      has_waited_ = true;
      std::this_thread::sleep_for(pause);
    }
    return {};
  }

  /// Reads the claim in the file of a UID. What is no regular file is not waited for.
  cdi::Result<Claim> read(const std::string& uid) const {
    constexpr std::size_t size_limit = 1 << 20;
    const auto path = path_of(uid);
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const cdi::Descriptor file{::openat(directory_.number(), file_of(uid).c_str(), flags)};
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0) {
      return cdi::file_error(path, "cannot open the file");
    }
    cdi::Result<Claim> claim = not_a_claim();
    if (S_ISREG(status.st_mode)) {
      const auto text = cdi::read_all(file.get(), path, size_limit);
      if (!text) return text.error();
      claim = parse_claim(*text, path);
    }
    if (claim && claim->uid != uid) claim = not_a_claim();
    if (!claim) claim.error().position.file = path;
    return claim;
  }

  Directory directory_;
  std::string real_path_;
  cdi::Descriptor lock_{-1};
  bool has_waited_ = false;
};

}  // namespace prepare

#endif  // CDI_PREPARE_CLAIMS_JOURNAL_HPP
