// The journal of claims: one file for each claim, which survives crashes and reboots.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_CLAIMS_JOURNAL_HPP
#define CDI_TOOLS_PREPARE_CLAIMS_JOURNAL_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <cdi/files/access.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>

#include "../base/json_output.hpp"
#include "../host/directories.hpp"
#include "claim.hpp"
#include "claim_json.hpp"

// Spec files in /var/run do not survive a reboot. After a crash, the journal shows the last
// completed step of a call.

namespace prepare {

/// The journal in a directory, locked by one process at a time; others wait.
class Journal {
 public:
  /// Claims by UID, or why they cannot be read.
  using Claims = std::map<std::string, cdi::Result<Claim>>;

  /// Waits for the lock on an open directory. `Errc::denied` if other users may write the
  /// directory, because the journal decides which files this process writes. `Errc::timeout` if
  /// other processes keep the lock.
  static cdi::Result<Journal> open(Directory directory, std::chrono::duration<double> timeout) {
    if (auto good = check_writers(directory); !good) return std::move(good).error();
    std::error_code failed;
    auto real_path = std::filesystem::canonical(directory.path, failed).string();
    errno = failed.value();
    if (failed) return cdi::file_error(directory.path, "cannot open the directory");
    Journal journal{std::move(directory), std::move(real_path)};
    if (auto locked = journal.lock(timeout); !locked) return std::move(locked).error();
    return journal;
  }

  /// The path of the directory; under the root, if it is there.
  const std::string& path() const { return directory_.path; }

  /// The path of the directory without links, which is the same for all callers.
  const std::string& directory() const { return real_path_; }

  /// Whether this process had to wait for the lock.
  bool has_waited() const { return has_waited_; }

  std::string path_of(std::string_view uid) const { return directory_.path_of(file_of(uid)); }

  /// Reads all claims. Removes temporary files of killed writers.
  cdi::Result<Claims> load() const {
    const auto names = names_in(directory_);
    if (!names) return names.error();
    Claims claims;
    for (const auto& name : *names) {
      const auto uid = name.substr(0, name.rfind('.'));
      if (cdi::is_temporary_name(name)) {
        ::unlinkat(directory_.number(), name.c_str(), 0);
      } else if (name == file_of(uid) && is_claim_uid(uid)) {
        claims.emplace(uid, read(uid));
      }
    }
    return claims;
  }

  /// The spec directory of a claim that `load` could not read, if its file still contains it;
  /// otherwise empty.
  std::string named_directory(const std::string& uid) const {
    const auto text = read_text(uid);
    return text ? named_output_dir(*text) : std::string{};
  }

  /// Writes a claim so that it survives a crash of the host.
  cdi::Result<void> save(const Claim& claim) const {
    const auto name = file_of(claim.uid);
    return cdi::replace_file_at(directory_.number(), name, json_text(to_json(claim)),
                                directory_.path_of(name), {.mode = 0600});
  }

  /// Removes a claim permanently.
  cdi::Result<void> erase(std::string_view uid) const {
    if (::unlinkat(directory_.number(), file_of(uid).c_str(), 0) != 0 && errno != ENOENT) {
      return cdi::file_error(path_of(uid), "cannot remove the file");
    }
    return cdi::sync_directory(directory_.number(), directory_.path);
  }

 private:
  Journal(Directory directory, std::string real_path)
      : directory_{std::move(directory)}, real_path_{std::move(real_path)} {}

  static std::string file_of(std::string_view uid) { return fmt::format("{}.json", uid); }

  static cdi::Result<void> check_writers(const Directory& directory) {
    struct stat info = {};
    if (::fstat(directory.number(), &info) != 0) {
      return cdi::file_error(directory.path, "cannot read the directory");
    }
    auto good = cdi::check_writers(directory.path, info);
    if (!good) {
      good.error().advice =
          "use another --state-dir, or change its owner and mode with chown and chmod";
    }
    return good;
  }

  cdi::Result<void> lock(std::chrono::duration<double> timeout) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds pause{5};
    const auto path = directory_.path_of(".lock");
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    lock_ = cdi::Descriptor{::openat(directory_.number(), ".lock", flags, 0600)};
    if (!lock_) return cdi::file_error(path, "cannot open the lock");
    const auto end = Clock::now() + timeout;
    while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return cdi::file_error(path, "cannot lock");
      if (!(Clock::now() < end)) {  // also if `timeout` is NaN
        return cdi::Error{.code = cdi::Errc::timeout,
                          .message = "another process holds the lock",
                          .advice = "try again",
                          .position = {.file = path}};
      }
      has_waited_ = true;
      std::this_thread::sleep_for(pause);
    }
    return {};
  }

  /// Reads the claim with this UID.
  cdi::Result<Claim> read(const std::string& uid) const {
    const auto text = read_text(uid);
    auto claim = text ? parse_claim(*text, path_of(uid)) : text.error();
    if (claim && claim->uid != uid) claim = not_a_claim();
    if (!claim) claim.error().position.file = path_of(uid);
    return claim;
  }

  /// The text of the file for this UID. Files that are not regular do not block.
  cdi::Result<std::string> read_text(const std::string& uid) const {
    constexpr std::size_t size_limit = 1 << 20;
    const auto path = path_of(uid);
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const cdi::Descriptor file{::openat(directory_.number(), file_of(uid).c_str(), flags)};
    struct stat status = {};
    if (!file || ::fstat(file.get(), &status) != 0) {
      return cdi::file_error(path, "cannot open the file");
    }
    if (!S_ISREG(status.st_mode)) return not_a_claim();
    return cdi::read_all(file.get(), path, size_limit);
  }

  Directory directory_;
  std::string real_path_;
  cdi::Descriptor lock_{-1};
  bool has_waited_ = false;
};

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_CLAIMS_JOURNAL_HPP
