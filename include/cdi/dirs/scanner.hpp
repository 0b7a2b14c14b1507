// Scans spec directories, and scans again: only what changed is read.
// SPDX-License-Identifier: Apache-2.0

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
#include <cdi/files/descriptor.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// A spec file of a directory. Shared between scans as long as it stays the same.
struct ScannedFile {
  std::string name{};
  bool is_link = false;
  FileState file{};
};

/// A spec directory. Shared between scans as long as it and its files stay the same.
struct ScannedDir {
  SpecDir dir{};
  Signature signature{};
  bool settled = false;                            // see `is_settled`; never when it was not listed
  std::shared_ptr<const RejectedFile> rejected{};  // why it was not listed
  std::vector<std::shared_ptr<const ScannedFile>> files{};  // sorted by name
};

/// All directories, and what they give.
struct Scan {
  std::vector<std::shared_ptr<const ScannedDir>> dirs{};
  std::shared_ptr<const Registry> registry{};
};

/// What to look at when asking whether anything has changed.
enum class LookAt {
  everything,
  what_is_not_watched,  // inotify tells of files, but not of those that links lead to
};

/// The entries of a directory that are taken for spec files: links have the type `DT_LNK`, and
/// subdirectories are left out. Stops after one more than `most`.
inline Result<Listing> list_specs(int directory, const std::string& path, std::size_t most) {
  const auto wanted = [](std::string_view name) {
    return format_of(name).has_value();
  };
  auto listing = detail::list_directory(directory, path, wanted, most);
  if (!listing) return listing;
  std::vector<DirectoryEntry> files;
  files.reserve(listing->entries.size());
  for (auto& entry : listing->entries) {
    struct stat info = {};
    const bool untold = entry.type == DT_UNKNOWN;
    if (untold && ::fstatat(directory, entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      entry.type = S_ISDIR(info.st_mode) ? DT_DIR : S_ISLNK(info.st_mode) ? DT_LNK : DT_REG;
    }
    if (entry.type != DT_DIR) files.push_back(std::move(entry));
  }
  listing->entries.swap(files);
  return listing;
}

/// A path that names of files are put to, without allocation from the longest on.
class FilePath {
 public:
  explicit FilePath(std::string_view directory) : text_{directory} {
    if (!text_.ends_with('/')) text_.append(1, '/');
    directory_ = text_.size();
  }
  const std::string& operator()(std::string_view name) {
    text_.resize(directory_);
    return text_.append(name);
  }

 private:
  std::string text_;
  std::size_t directory_ = 0;
};

/// Whether a path leads to a file or directory that is as it was. Costs one `stat`.
inline bool is_same(const std::string& path, const Signature& signature) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && signature_of(info) == signature;
}

/// Whether a path still leads nowhere, or to what is no regular file. Costs one `stat`.
inline bool is_still_no_file(const std::string& path, const FileState& before) {
  if (!before.rejected || before.rejected->why.code != Errc::system) return false;
  const int system = before.rejected->why.system;
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno == system && (system == ENOENT || system == ELOOP);
  }
  return !S_ISREG(info.st_mode) && system == (S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
}

/// Whether a directory and its files are as they were. Costs one `stat` for each; opens nothing.
inline bool is_same(const ScannedDir& before, LookAt look) {
  if (before.dir.state == SpecDir::State::missing) {
    struct stat info = {};
    return ::stat(before.dir.path.c_str(), &info) != 0 && errno == ENOENT;
  }
  if (!before.settled || !is_same(before.dir.path, before.signature)) return false;
  FilePath path{before.dir.path};
  for (const auto& file : before.files) {
    const bool watched =
        look == LookAt::what_is_not_watched && file->file.settled && !file->is_link;
    if (watched) continue;
    const bool same = file->file.settled ? is_same(path(file->name), file->file.signature)
                                         : is_still_no_file(path(file->name), file->file);
    if (!same) return false;
  }
  return true;
}

/// Whether two errors say the same.
inline bool is_same(const Error& a, const Error& b) {
  return a.code == b.code && a.system == b.system && a.message == b.message && a.where == b.where &&
         a.position.line == b.position.line && a.position.column == b.position.column;
}

/// Whether two rejected files are the same to whoever asks for a device.
inline bool is_same(const RejectedFile& a, const RejectedFile& b) {
  return is_same(a.why, b.why) && a.kind == b.kind && a.devices == b.devices &&
         a.needs_version == b.needs_version;
}

/// Goes on with what a file held before, and notes what is wrong with it now.
inline void keep_last_good(const FileState& before, FileState& now) {
  Error fault = now.rejected->why;
  fault.message.append("; what it held before stays in use");
  now.rejected = nullptr;
  now.spec = before.spec;
  if (before.spec->fault && is_same(*before.spec->fault, fault)) return;
  auto kept = std::make_shared<LoadedSpec>(*before.spec);
  kept->fault = std::make_shared<const Error>(std::move(fault));
  now.spec = std::move(kept);
}

/// The file of a name, or null.
inline std::shared_ptr<const ScannedFile> find_file(const ScannedDir& dir, std::string_view name) {
  std::size_t at = 0;
  for (std::size_t end = dir.files.size(); at < end;) {
    const std::size_t middle = at + (end - at) / 2;
    if (dir.files[middle]->name < name) {
      at = middle + 1;
    } else {
      end = middle;
    }
  }
  if (at == dir.files.size() || dir.files[at]->name != name) return nullptr;
  return dir.files[at];
}

/// Reads spec directories once; what has not changed since the scan before is not read again.
class Scanner {
 public:
  explicit Scanner(const ReadOptions& options) : options_{options}, patience_{options.patience} {}

  /// The directories as they are now, `before` itself when nothing is to be read. `paths` are those
  /// of the scan before, if there was one.
  std::shared_ptr<const Scan> scan(const std::vector<std::string>& paths,
                                   const std::shared_ptr<const Scan>& before, LookAt look) const {
    Scan now;
    bool same = before != nullptr;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const ScannedDir& old = before ? *before->dirs[i] : nothing_;
      if (before && is_same(old, look)) {
        now.dirs.push_back(before->dirs[i]);
      } else {
        same = false;
        now.dirs.push_back(std::make_shared<const ScannedDir>(
            scan_dir({.path = clean_path(paths[i]), .priority = static_cast<int>(i)}, old)));
      }
    }
    if (same) return before;
    now.registry = before && gives_the_same(*before, now) ? before->registry : make_registry(now);
    return std::make_shared<const Scan>(std::move(now));
  }

 private:
  ScannedDir scan_dir(SpecDir dir, const ScannedDir& before) const {
    ScannedDir out{.dir = std::move(dir)};
    const auto now = file_clock();
    const Descriptor directory{
        detail::open_at(AT_FDCWD, out.dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    struct stat info = {};
    if (!directory) {
      if (errno == ENOENT) return out;
      Error error = file_error(out.dir.path, "cannot open the directory");
      if (::stat(out.dir.path.c_str(), &info) == 0) error = with_access(std::move(error), info);
      return unlisted(std::move(error), before, std::move(out));
    }
    if (::fstat(directory.get(), &info) != 0) {
      return unlisted(file_error(out.dir.path, "cannot look at the directory"), before,
                      std::move(out));
    }
    if (options_.refuse_writable && is_writable_by_others(info)) {
      return unlisted(writable_by_others(out.dir.path, "directory", info), before, std::move(out));
    }
    auto names = detail::list_specs(directory.get(), out.dir.path, options_.files);
    if (!names) return unlisted(std::move(names).error(), before, std::move(out));
    if (names->cut || names->entries.size() > options_.files) {
      return unlisted({.code = Errc::limit,
                       .message = "the directory has more than " + std::to_string(options_.files) +
                                  " spec files",
                       .position = {.file = out.dir.path}},
                      before, std::move(out));
    }
    out.signature = names->signature;
    out.settled = is_settled(out.signature, now);
    out.dir.state = SpecDir::State::read;
    out.files.reserve(names->entries.size());
    FilePath path{out.dir.path};
    for (auto& [name, type] : names->entries) {
      const std::string& place = path(name);
      ScannedFile found{.name = std::move(name), .is_link = type == DT_LNK};
      scan_file(directory.get(), found, place, before, out);
    }
    return out;
  }

  /// A directory that cannot be listed. Its files are gone, unless only a right or a resource is
  /// lacking: then what they held stays.
  ScannedDir unlisted(Error why, const ScannedDir& before, ScannedDir&& out) const {
    out.dir.state = SpecDir::State::unreadable;
    const bool same = before.rejected && is_same(before.rejected->why, why);
    const bool gone = why.code != Errc::system || why.system == ENOTDIR || why.system == ELOOP;
    if (options_.keep_last_good && !gone) {
      out.files = before.files;
      out.dir.specs = before.dir.specs;
    }
    out.rejected = same ? before.rejected
                        : std::make_shared<const RejectedFile>(RejectedFile{.why = std::move(why)});
    return out;
  }

  void scan_file(int directory, ScannedFile& found, const std::string& path,
                 const ScannedDir& dir_before, ScannedDir& out) const {
    auto known = detail::find_file(dir_before, found.name);
    struct stat info = {};
    if (known && known->file.settled && known->is_link == found.is_link &&
        ::fstatat(directory, found.name.c_str(), &info, 0) == 0 &&
        signature_of(info) == known->file.signature) {
      return add_file(std::move(known), out);
    }
    const FileState before = known ? known->file : FileState{};
    found.file = detail::read_spec_at(directory, found.name, path, out.dir.priority, options_,
                                      before, patience_);
    if (found.file.rejected) {
      const Error& why = found.file.rejected->why;
      if (why.system == ENOENT && !found.is_link) return;  // listed, and gone meanwhile
      if (before.rejected && is_same(*before.rejected, *found.file.rejected)) {
        found.file.rejected = before.rejected;
      } else if (options_.keep_last_good && before.spec && why.code != Errc::refused) {
        detail::keep_last_good(before, found.file);
      }
    }
    add_file(std::make_shared<const ScannedFile>(std::move(found)), out);
  }

  static void add_file(std::shared_ptr<const ScannedFile> file, ScannedDir& out) {
    if (file->file.spec) ++out.dir.specs;
    out.files.push_back(std::move(file));
  }

  /// Whether two scans give the same registry, so that the one there is will do.
  static bool gives_the_same(const Scan& before, const Scan& now) {
    for (std::size_t i = 0; i < now.dirs.size(); ++i) {
      const ScannedDir& a = *before.dirs[i];
      const ScannedDir& b = *now.dirs[i];
      if (&a == &b) continue;
      if (a.dir != b.dir || a.rejected != b.rejected || a.files.size() != b.files.size()) {
        return false;
      }
      for (std::size_t f = 0; f < b.files.size(); ++f) {
        const FileState& x = a.files[f]->file;
        const FileState& y = b.files[f]->file;
        if (x.spec != y.spec || x.rejected != y.rejected) return false;
      }
    }
    return true;
  }

  static std::shared_ptr<const Registry> make_registry(const Scan& scan) {
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
    return std::make_shared<const Registry>(std::move(specs), std::move(rejected), std::move(dirs));
  }

  const ReadOptions& options_;
  Patience patience_;
  ScannedDir nothing_{};
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_SCANNER_HPP
