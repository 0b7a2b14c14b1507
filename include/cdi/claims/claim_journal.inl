// The bodies of <cdi/claims/claim_journal.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_JOURNAL_INL
#define CDI_CLAIMS_CLAIM_JOURNAL_INL

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <cdi/claims/claim_journal.hpp>
#include <cdi/claims/claim_json.hpp>
#include <cdi/files/access.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/replace_file.hpp>
#include <cdi/files/temporary.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

inline std::string claim_file(std::string_view uid) {
  return std::string{uid}.append(".json");
}

/// The path of an existing file without links.
inline Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real{::realpath(path.c_str(), nullptr), std::free};
  if (!real) return file_error(path, "cannot open the directory");
  return std::string{real.get()};
}

/// The text of the file of a claim.
inline Result<std::string> read_claim_text(const ClaimDirectory& directory,
                                           const std::string& uid) {
  const auto name = claim_file(uid);
  const auto path = directory.path_of(name);
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor file{::openat(directory.number(), name.c_str(), flags)};
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) return file_error(path, "cannot open the file");
  if (!S_ISREG(status.st_mode)) return not_a_claim();
  return read_all(file.get(), path, claim_size_limit);
}

inline Result<Claim> read_claim(const ClaimDirectory& directory, const std::string& uid) {
  const auto path = directory.path_of(claim_file(uid));
  const auto text = read_claim_text(directory, uid);
  auto claim = text ? parse_claim(*text, path) : text.error();
  if (claim && claim->uid != uid) claim = not_a_claim();
  if (!claim) claim.error().position.file = path;
  return claim;
}

/// Lists the files of a journal, of any kind.
inline Result<Listing> list_journal(const ClaimDirectory& directory) {
  const auto all = [](std::string_view) {
    return true;
  };
  return list_directory(directory.number(), directory.path, all, SIZE_MAX - 1);
}

/// Reads the claims among listed files. Files that are gone meanwhile are left out.
inline ClaimJournal::Claims claims_among(const Listing& listing, const ClaimDirectory& directory) {
  ClaimJournal::Claims claims;
  for (const auto& entry : listing.entries) {
    const std::string uid{uid_of_claim_file(entry.name)};
    if (uid.empty()) continue;
    auto claim = read_claim(directory, uid);
    const bool is_gone = !claim && claim.error().system == ENOENT;
    if (!is_gone) claims.emplace(uid, std::move(claim));
  }
  return claims;
}

}  // namespace detail

CDI_INLINE Result<ClaimJournal> ClaimJournal::open(ClaimDirectory directory,
                                                   std::chrono::duration<double> timeout) {
  struct stat info = {};
  if (::fstat(directory.number(), &info) != 0) {
    return file_error(directory.path, "cannot read the directory");
  }
  if (auto good = check_writers(directory.path, info); !good) {
    good.error().advice =
        "use another directory for the journal, or change its owner and mode with chown and chmod";
    return std::move(good).error();
  }
  auto real = detail::real_path(directory.path);
  if (!real) return std::move(real).error();
  ClaimJournal journal{std::move(directory), std::move(*real)};
  if (auto locked = journal.lock(timeout); !locked) return std::move(locked).error();
  return journal;
}

CDI_INLINE Result<ClaimJournal> ClaimJournal::open(const std::string& path,
                                                   std::chrono::duration<double> timeout) {
  auto directory = open_claim_directory(path, MissingDirectory::made);
  if (!directory) return std::move(directory).error();
  return open(std::move(*directory), timeout);
}

CDI_INLINE Result<void> ClaimJournal::check_apart(const ClaimDirectory& specs) const {
  struct stat own = {};
  struct stat its = {};
  const bool is_same = ::fstat(directory_.number(), &own) == 0 &&
                       ::fstat(specs.number(), &its) == 0 && own.st_dev == its.st_dev &&
                       own.st_ino == its.st_ino;
  if (!is_same) return {};
  return Error{.code = Errc::invalid,
               .message = "this is also the directory of the journal of claims",
               .advice = "use another directory for one of them",
               .position = {.file = specs.path}};
}

CDI_INLINE std::string ClaimJournal::path_of(std::string_view uid) const {
  return directory_.path_of(detail::claim_file(uid));
}

CDI_INLINE Result<ClaimJournal::Claims> ClaimJournal::peek(const ClaimDirectory& directory) {
  const auto listing = detail::list_journal(directory);
  if (!listing) return listing.error();
  return detail::claims_among(*listing, directory);
}

CDI_INLINE Result<ClaimJournal::Claims> ClaimJournal::load() const {
  const auto listing = detail::list_journal(directory_);
  if (!listing) return listing.error();
  for (const auto& entry : listing->entries) {
    if (!is_temporary_name(entry.name)) continue;
    ::unlinkat(directory_.number(), entry.name.c_str(), 0);
  }
  return detail::claims_among(*listing, directory_);
}

CDI_INLINE std::string ClaimJournal::named_directory(const std::string& uid) const {
  const auto text = detail::read_claim_text(directory_, uid);
  return text ? detail::named_spec_dir(*text) : std::string{};
}

CDI_INLINE Result<void> ClaimJournal::save(const Claim& claim) const {
  const auto text = claim_to_json(claim);
  if (!text) return text.error();
  const auto name = detail::claim_file(claim.uid);
  return replace_file_at(directory_.number(), name, *text, directory_.path_of(name),
                         {.mode = 0600});
}

CDI_INLINE Result<void> ClaimJournal::erase(std::string_view uid) const {
  if (::unlinkat(directory_.number(), detail::claim_file(uid).c_str(), 0) != 0 && errno != ENOENT) {
    return file_error(path_of(uid), "cannot remove the file");
  }
  return sync_directory(directory_.number(), directory_.path);
}

CDI_INLINE Result<void> ClaimJournal::lock(std::chrono::duration<double> timeout) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  auto lock = FileLock::open(directory_.number(), ".lock", directory_.path_of(".lock"), [&] {
    has_waited_ = true;
    return Clock::now() < end;  // also if `timeout` is NaN
  });
  if (!lock) return std::move(lock).error();
  lock_ = std::move(*lock);
  return {};
}

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_JOURNAL_INL
