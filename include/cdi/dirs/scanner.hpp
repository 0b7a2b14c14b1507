// Scans spec directories; a repeated scan reads only what has changed.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_SCANNER_HPP
#define CDI_DIRS_SCANNER_HPP

#include <cerrno>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/dirs/scanned_dir.hpp>
#include <cdi/files/access.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// Lists the spec files of a directory, without subdirectories; links have the type `DT_LNK`. Reads
/// at most `max` + 1 entries.
inline Result<Listing> list_specs(const DirectoryStream& directory, const std::string& path,
                                  std::size_t max) {
  const auto wanted = [](std::string_view name) {
    return format_of(name).has_value();
  };
  auto listing = directory.list(path, wanted, max);
  if (!listing) return listing;
  for (auto& entry : listing->entries) {
    struct stat info = {};
    const bool unknown = entry.type == DT_UNKNOWN;
    if (unknown &&
        ::fstatat(directory.descriptor(), entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      entry.type = S_ISDIR(info.st_mode) ? DT_DIR : S_ISLNK(info.st_mode) ? DT_LNK : DT_REG;
    }
  }
  std::erase_if(listing->entries, [](const DirectoryEntry& entry) { return entry.type == DT_DIR; });
  return listing;
}

/// Keeps the last valid spec of a file, and records the file's error.
inline void keep_last_good(const FileState& before, FileState& now) {
  Error fault = now.rejected->why;
  fault.message.append("; keeping its last valid contents");
  now.rejected = nullptr;
  now.spec = before.spec;
  if (before.spec->last_error && is_same_error(*before.spec->last_error, fault)) return;
  auto kept = std::make_shared<LoadedSpec>(*before.spec);
  kept->last_error = std::make_shared<const Error>(std::move(fault));
  now.spec = std::move(kept);
}

/// Reads spec directories once. Whatever is unchanged since the previous scan is not read again.
class Scanner {
 public:
  explicit Scanner(const ReadOptions& options, const ScanMode& mode = {})
      : Scanner{options, mode, RetryWindow{options.retry_window}} {}
  /// Waits for files until this retry window ends; another scan may have used part of it.
  Scanner(const ReadOptions& options, const ScanMode& mode, const RetryWindow& retry_window)
      : options_{options}, mode_{mode}, retry_window_{retry_window} {}

  /// Returns the current state of the directories, or `before` itself if nothing has changed.
  /// `paths` must be the same as in the scan `before`, if there was one.
  std::shared_ptr<const Scan> scan(const std::vector<std::string>& paths,
                                   const std::shared_ptr<const Scan>& before,
                                   ScanScope scope) const {
    Scan now;
    bool same = before != nullptr;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const ScannedDir& old = before ? *before->dirs[i] : nothing_;
      if (before && is_unchanged(old, scope)) {
        now.dirs.push_back(before->dirs[i]);
      } else {
        same = false;
        now.dirs.push_back(std::make_shared<const ScannedDir>(
            scan_dir({.path = clean_path(paths[i]), .priority = static_cast<int>(i)}, old)));
      }
    }
    if (same) return before;
    now.registry = before && gives_same_registry(*before, now)
                       ? before->registry
                       : make_registry(now, before ? before->registry.get() : nullptr);
    return std::make_shared<const Scan>(std::move(now));
  }

 private:
  ScannedDir scan_dir(SpecDir dir, const ScannedDir& before) const {
    ScannedDir out{.dir = std::move(dir)};
    const auto now = file_clock();
    const auto directory = detail::open_directory(out.dir.path);
    if (!directory && errno == ENOENT) return out;
    auto listing = directory ? list(directory, out.dir.path) : cannot_open(out.dir.path);
    if (!listing) return unlisted(std::move(listing).error(), before, std::move(out));
    out.signature = listing->signature;
    out.stable = is_stable(out.signature, now);
    out.dir.state = SpecDir::State::read;
    out.files.reserve(listing->entries.size());
    FilePath path{out.dir.path};
    FilesByName files{before};
    for (auto& [name, type] : listing->entries) {
      const std::string& place = path(name);
      ScannedFile found{.name = std::move(name), .is_link = type == DT_LNK};
      scan_file(directory.descriptor(), found, place, files.find(found.name), out);
    }
    return out;
  }

  static Result<Listing> cannot_open(const std::string& path) {
    Error error = file_error(path, "cannot open the directory");
    struct stat info = {};
    if (::stat(path.c_str(), &info) == 0) error = with_access(std::move(error), info);
    return error;
  }

  /// Lists the spec files of an open directory, if the options allow it.
  Result<Listing> list(const DirectoryStream& directory, const std::string& path) const {
    if (options_.reject_writable) {
      struct stat info = {};
      if (::fstat(directory.descriptor(), &info) != 0) {
        return file_error(path, "cannot stat the directory");
      }
      if (auto good = check_writers(path, info); !good) return std::move(good).error();
    }
    auto listing = detail::list_specs(directory, path, options_.files);
    if (listing && (listing->cut || listing->entries.size() > options_.files)) {
      return Error{.code = Errc::limit,
                   .message = "the directory has more than " + std::to_string(options_.files) +
                              " spec files",
                   .position = {.file = path}};
    }
    return listing;
  }

  /// Describes a directory that cannot be listed. Its files count as removed, unless only a
  /// permission or a resource is missing; then, their last valid specs are kept.
  ScannedDir unlisted(Error why, const ScannedDir& before, ScannedDir&& out) const {
    out.dir.state = SpecDir::State::unreadable;
    const bool same = before.rejected && is_same_error(before.rejected->why, why);
    const bool gone = why.code != Errc::system || why.system == ENOTDIR || why.system == ELOOP;
    if (options_.keep_last_good && !gone) {
      out.files = before.files;
      out.dir.specs = before.dir.specs;
    }
    out.rejected = same ? before.rejected
                        : std::make_shared<const RejectedFile>(RejectedFile{.why = std::move(why)});
    return out;
  }

  /// Adds a file. `known` is the file with its name in the scan before; null if there is none.
  void scan_file(int directory, ScannedFile& found, const std::string& path,
                 std::shared_ptr<const ScannedFile> known, ScannedDir& out) const {
    struct stat info = {};
    if (known && known->file.stable && known->is_link == found.is_link &&
        ::fstatat(directory, found.name.c_str(), &info, 0) == 0 &&
        signature_of(info) == known->file.signature) {
      return add_file(std::move(known), out);
    }
    const FileState before = known ? known->file : FileState{};
    found.file = detail::read_spec_at({directory, found.name, path, out.dir.priority}, options_,
                                      before, retry_window_, mode_);
    if (found.file.rejected) {
      const Error& why = found.file.rejected->why;
      const bool gone = why.system == ENOENT;
      if (gone && !found.is_link) return;  // removed after it was listed
      if (before.rejected && is_same_rejection(*before.rejected, *found.file.rejected)) {
        found.file.rejected = before.rejected;
      } else if (options_.keep_last_good && before.spec && !gone && why.code != Errc::denied) {
        detail::keep_last_good(before, found.file);
      }
    }
    add_file(std::make_shared<const ScannedFile>(std::move(found)), out);
  }

  static void add_file(std::shared_ptr<const ScannedFile> file, ScannedDir& out) {
    if (file->file.spec) ++out.dir.specs;
    if (!file->file.stable || file->is_link) out.unwatched.push_back(out.files.size());
    out.files.push_back(std::move(file));
  }

  static std::shared_ptr<const Registry> make_registry(const Scan& scan, const Registry* before) {
    std::vector<std::shared_ptr<const LoadedSpec>> specs;
    std::vector<std::shared_ptr<const RejectedFile>> rejected;
    std::vector<SpecDir> dirs;
    for (const auto& dir : scan.dirs) {
      dirs.push_back(dir->dir);
      if (dir->rejected) rejected.push_back(dir->rejected);
      for (const auto& file : dir->files) {
        if (file->file.spec) specs.push_back(file->file.spec);
        if (file->file.rejected) rejected.push_back(file->file.rejected);
      }
    }
    return std::make_shared<const Registry>(std::move(specs), std::move(rejected), std::move(dirs),
                                            before);
  }

  const ReadOptions& options_;
  const ScanMode mode_;
  RetryWindow retry_window_;
  ScannedDir nothing_{};
};

}  // namespace cdi::detail

#endif  // CDI_DIRS_SCANNER_HPP
