// The result of scanning a spec directory, and checks whether it is still current.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_DIRS_SCANNED_DIR_HPP
#define CDI_DIRS_SCANNED_DIR_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <cdi/base/result.hpp>
#include <cdi/files/file_state.hpp>
#include <cdi/files/signature.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A spec file in a directory. Scans share the object as long as the file stays the same.
struct ScannedFile {
  std::string name{};
  bool is_link = false;
  FileState file{};
};

/// A spec directory. Scans share the object as long as the directory and its files stay the same.
struct ScannedDir {
  SpecDir dir{};
  Signature signature{};
  bool stable = false;                             // see `is_stable`; false without a listing
  std::shared_ptr<const RejectedFile> rejected{};  // why it was not listed
  std::vector<std::shared_ptr<const ScannedFile>> files{};  // sorted by name
  std::vector<std::size_t> unwatched{};  // indices of files that inotify may not report
};

/// All directories, and the registry of their files.
struct Scan {
  std::vector<std::shared_ptr<const ScannedDir>> dirs{};
  std::shared_ptr<const Registry> registry{};
};

/// What a scan checks for changes.
enum class ScanScope {
  everything,
  unwatched,  // what inotify does not report: directories, and files that links lead to
};

/// Finds the files of a scanned directory, in one pass for names in ascending order.
class FilesByName {
 public:
  explicit FilesByName(const ScannedDir& dir) : files_{dir.files} {}

  /// Returns the file with this name, or null. Names must ascend from call to call.
  std::shared_ptr<const ScannedFile> find(std::string_view name) {
    for (; next_ < files_.size(); ++next_) {
      const int order = files_[next_]->name.compare(name);
      if (order > 0) break;
      if (order == 0) return files_[next_++];
    }
    return nullptr;
  }

 private:
  const std::vector<std::shared_ptr<const ScannedFile>>& files_;
  std::size_t next_ = 0;  // the first file whose name may follow
};

/// Makes the paths of a directory's files; allocates only for a path longer than any before.
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

/// Returns whether a path still leads to a file or directory with this signature. Costs one `stat`.
inline bool leads_to(const std::string& path, const Signature& signature) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && signature_of(info) == signature;
}

/// Returns whether there is still no regular file at a path. Costs one `stat`.
inline bool is_still_no_file(const std::string& path, const FileState& before) {
  if (!before.rejected || before.rejected->why.code != Errc::system) return false;
  const int system = before.rejected->why.system;
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno == system && (system == ENOENT || system == ELOOP);
  }
  return !S_ISREG(info.st_mode) && system == (S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
}

/// Returns whether there is still the same file, or none, at a path. Costs one `stat`.
inline bool is_unchanged(const std::string& path, const FileState& before) {
  return before.stable ? leads_to(path, before.signature) : is_still_no_file(path, before);
}

/// Returns whether a directory and its files are unchanged, as far as the scope goes. Costs one
/// `stat` for the directory and each of these files, and no `open`.
inline bool is_unchanged(const ScannedDir& before, ScanScope scope) {
  if (before.dir.state == SpecDir::State::missing) {
    struct stat info = {};
    return ::stat(before.dir.path.c_str(), &info) != 0 && errno == ENOENT;
  }
  if (!before.stable || !leads_to(before.dir.path, before.signature)) return false;
  FilePath path{before.dir.path};
  const auto same = [&](const ScannedFile& file) {
    return is_unchanged(path(file.name), file.file);
  };
  if (scope == ScanScope::unwatched) {
    for (const std::size_t i : before.unwatched) {
      if (!same(*before.files[i])) return false;
    }
    return true;
  }
  for (const auto& file : before.files) {
    if (!same(*file)) return false;
  }
  return true;
}

/// Returns whether two errors have the same content.
inline bool is_same_error(const Error& a, const Error& b) {
  return a.code == b.code && a.system == b.system && a.message == b.message &&
         a.advice == b.advice && a.where == b.where && a.position.line == b.position.line &&
         a.position.column == b.position.column;
}

/// Returns whether two rejected files lead to the same reasons for an unresolved name.
inline bool is_same_rejection(const RejectedFile& a, const RejectedFile& b) {
  return is_same_error(a.why, b.why) && a.kind == b.kind && a.devices == b.devices &&
         a.needs_version == b.needs_version;
}

/// Returns whether the files of two scans of a directory produce the same registry.
inline bool gives_same_registry(const ScannedDir& a, const ScannedDir& b) {
  if (&a == &b) return true;
  if (a.dir != b.dir || a.rejected != b.rejected || a.files.size() != b.files.size()) return false;
  for (std::size_t i = 0; i < b.files.size(); ++i) {
    const FileState& before = a.files[i]->file;
    const FileState& now = b.files[i]->file;
    if (before.spec != now.spec || before.rejected != now.rejected) return false;
  }
  return true;
}

/// Returns whether two scans produce the same registry, which they can then share.
inline bool gives_same_registry(const Scan& before, const Scan& now) {
  for (std::size_t i = 0; i < now.dirs.size(); ++i) {
    if (!gives_same_registry(*before.dirs[i], *now.dirs[i])) return false;
  }
  return true;
}

/// Returns whether a path leads to a new directory; inotify may not report such a change.
inline bool leads_elsewhere(const Scan& before, const Scan& now) {
  for (std::size_t i = 0; i < now.dirs.size(); ++i) {
    const Signature& a = before.dirs[i]->signature;
    const Signature& b = now.dirs[i]->signature;
    if (a.device != b.device || a.inode != b.inode) return true;
  }
  return false;
}

}  // namespace cdi::detail

#endif  // CDI_DIRS_SCANNED_DIR_HPP
