// The bodies of <cdi/sandbox/image_root.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_SANDBOX_IMAGE_ROOT_INL
#define CDI_SANDBOX_IMAGE_ROOT_INL

#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include <cdi/apply/host_options.hpp>
#include <cdi/base/path.hpp>
#include <cdi/files/directory.hpp>
#include <cdi/sandbox/image_root.hpp>

namespace cdi::inline CDI_ABI::detail {

CDI_INLINE Result<std::string> absolute_path(std::string path) {
  char found[PATH_MAX];
  if (::realpath(path.c_str(), found) == nullptr) {
    return file_error(path, "cannot find the absolute path of the directory");
  }
  return std::string{found};
}

CDI_INLINE Result<ImageRoot> ImageRoot::open(std::string path) {
  Descriptor root{open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return file_error(path, "cannot open the image's root directory");
  auto absolute = absolute_path(std::move(path));
  if (!absolute) return std::move(absolute).error();
  // Another program may have changed a link on the path since then: the descriptor and the absolute
  // path must name the same directory.
  root = Descriptor{open_at(AT_FDCWD, *absolute, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  if (!root) return file_error(*absolute, "cannot open the image's root directory");
  return ImageRoot{*absolute == "/" ? std::string{} : *std::move(absolute), std::move(root)};
}

CDI_INLINE std::optional<ImageRoot::Entry> ImageRoot::find(std::string_view path) const {
  if (path.find('\0') != std::string_view::npos) return std::nullopt;
  const auto resolved = resolve_host_links(path, path_);
  if (!resolved || !resolved->starts_with('/')) return std::nullopt;
  // `resolve_host_links` returns a path that leads nowhere with its links, which are not followed.
  Entry entry{.path = clean_path(*resolved),
              .folder = Descriptor{open_at(root_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)}};
  std::size_t begin = 1;
  for (auto end = entry.path.find('/', begin); entry.folder && end != std::string::npos;
       end = entry.path.find('/', begin)) {
    const auto name = entry.path.substr(begin, end - begin);
    entry.folder = Descriptor{
        open_at(entry.folder.get(), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    begin = end + 1;
  }
  if (begin < entry.path.size()) entry.name = entry.path.substr(begin);
  const bool is_there = entry.folder && ::fstatat(entry.folder.get(), entry.name.c_str(),
                                                  &entry.info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_there || S_ISLNK(entry.info.st_mode)) return std::nullopt;
  return entry;
}

CDI_INLINE std::optional<std::string> ImageRoot::resolve(std::string_view path) const {
  auto entry = find(path);
  if (!entry) return std::nullopt;
  return std::move(entry->path);
}

CDI_INLINE Descriptor ImageRoot::open_file(std::string_view path) const {
  const auto entry = find(path);
  // A device of an image is not opened: that may have effects on the host.
  const bool good = entry && (S_ISREG(entry->info.st_mode) || S_ISDIR(entry->info.st_mode));
  if (!good) return Descriptor{-1};
  return Descriptor{
      open_at(entry->folder.get(), entry->name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)};
}

CDI_INLINE std::optional<std::string> ImageRoot::read(std::string_view path,
                                                      std::size_t limit) const {
  const auto file = open_file(path);
  struct stat info = {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto text = read_all(file.get(), path, limit, static_cast<std::size_t>(info.st_size));
  if (!text) return std::nullopt;
  return *std::move(text);
}

CDI_INLINE bool ImageRoot::can_mount_at(std::string_view path) const {
  if (find(path)) return true;
  auto folder = clean_path(path);
  do {
    const auto missing = folder.substr(folder.rfind('/'));
    folder.erase(folder.rfind('/'));
    const auto found = find(folder.empty() ? "/" : folder);
    if (!found) continue;
    struct stat info = {};
    const int in = found->folder.get();
    const auto link = found->name + missing;
    const bool is_dangling = ::fstatat(in, link.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    return !is_dangling && S_ISDIR(found->info.st_mode) &&
           ::faccessat(in, found->name.c_str(), W_OK, AT_EACCESS) == 0;
  } while (!folder.empty());
  return false;
}

CDI_INLINE ImageLinkers linkers_of(const ImageRoot& image) {
  constexpr std::size_t max_linkers = 16;
  static constexpr std::string_view musl = "ld-musl-";
  constexpr std::string_view end = ".so.1";
  const auto is_linker = [](std::string_view name) {
    return name.starts_with("ld-linux") || name.starts_with("ld64.so.") || name.starts_with(musl);
  };
  ImageLinkers out;
  for (const std::string folder : {"/lib", "/lib64"}) {
    const auto opened = image.open_file(folder);
    if (!opened) continue;
    const auto listing = list_directory(opened.get(), folder, is_linker, max_linkers);
    if (!listing) continue;
    for (const auto& entry : listing->entries) {
      const std::string_view name{entry.name};
      if (!name.starts_with(musl)) {
        out.glibc = true;
        continue;
      }
      const auto machine = name.substr(musl.size());
      if (!machine.ends_with(end) || machine.size() == end.size()) continue;
      // /lib64 can be a link to /lib.
      std::string text{machine.substr(0, machine.size() - end.size())};
      bool is_known = false;
      for (const auto& known : out.musl) is_known = is_known || known == text;
      if (!is_known) out.musl.push_back(std::move(text));
    }
  }
  return out;
}

}  // namespace cdi::detail

#endif  // CDI_SANDBOX_IMAGE_ROOT_INL
