// The root of a command whose node is an archive.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_PREPARE_RECORD_UNPACKED_ROOT_HPP
#define CDI_TOOLS_PREPARE_RECORD_UNPACKED_ROOT_HPP

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <cdi/file.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../gpu/base/root_fault.hpp"
#include "../../kit/host/device_table.hpp"
#include "../../kit/host/rooted_paths.hpp"
#include "tar_entry.hpp"
#include "tar_reader.hpp"

namespace prepare {

/// A private temporary directory, which is removed with its files at the end, also if a signal ends
/// this process.
class PrivateDirectory {
 public:
  static cdi::Result<PrivateDirectory> make() {
    const char* const place = std::getenv("TMPDIR");
    const bool is_given = place != nullptr && *place != '\0';
    auto path = std::string{is_given ? place : "/tmp"} + "/cdi-prepare-XXXXXX";
    int ends[2] = {-1, -1};
    if (::pipe2(&ends[0], O_CLOEXEC) != 0) return tools::path_error(path, errno);
    PrivateDirectory made;
    const cdi::Descriptor reading{ends[0]};
    made.writing_ = cdi::Descriptor{ends[1]};
    if (::mkdtemp(path.data()) == nullptr) return tools::path_error(path, errno);
    made.path_ = path;
    made.remover_ = ::fork();
    if (made.remover_ == 0) remove_later(path, reading.get(), ends[1]);
    if (made.remover_ < 0) return tools::path_error(path, errno);
    return made;
  }

  PrivateDirectory(PrivateDirectory&& other) noexcept
      : path_{std::exchange(other.path_, {})},
        writing_{std::move(other.writing_)},
        remover_{std::exchange(other.remover_, -1)} {}
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;

  ~PrivateDirectory() {
    if (!path_.empty()) remove(path_);
    writing_ = cdi::Descriptor{-1};
    if (remover_ > 0) ::waitpid(remover_, nullptr, 0);
  }

  const std::string& path() const { return path_; }

 private:
  PrivateDirectory() = default;

  static void remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }

  /// In a child: waits until the parent has closed its end of the pipe, however it ends.
  [[noreturn]] static void remove_later(const std::string& path, int pipe, int writing) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
    ::setsid();
    ::close(writing);
    // A reader of the parent's output must not wait for this process.
    for (int number = 0; number < 64; ++number) {
      if (number != pipe) ::close(number);
    }
    char byte = 0;
    while (::read(pipe, &byte, 1) < 0 && errno == EINTR) {
    }
    remove(path);
    ::_exit(0);
  }

  std::string path_{};
  cdi::Descriptor writing_{-1};
  pid_t remover_ = -1;
};

namespace detail {

/// Makes one file of an archive.
inline bool make_file(const std::string& path, const TarEntry& entry) {
  using Type = TarEntry::Type;
  std::error_code failed;
  if (entry.type == Type::directory) {
    std::filesystem::create_directories(path, failed);
    return !failed;
  }
  if (entry.type == Type::link) return ::symlink(entry.target.c_str(), path.c_str()) == 0;
  if (entry.type == Type::socket) return ::mknod(path.c_str(), S_IFSOCK | 0600, 0) == 0;
  const cdi::Descriptor file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  const auto size = static_cast<ssize_t>(entry.text.size());
  return file && ::write(file.get(), entry.text.data(), entry.text.size()) == size &&
         ::fchmod(file.get(), entry.mode | S_IRUSR) == 0;
}

/// Makes the files of an archive in an empty directory, and the table of the nodes among them.
inline cdi::Result<void> unpack(const TarEntries& entries, const std::string& root) {
  std::string table;
  for (const auto& [path, entry] : entries) {
    const auto place = root + path;
    std::error_code failed;
    std::filesystem::create_directories(place.substr(0, place.rfind('/')), failed);
    if (path == "/dev.tab") {  // of a tree that was made for tests
      table += entry.text;
      continue;
    }
    if (failed || !make_file(place, entry)) {
      return tools::path_error(path, failed ? failed.value() : errno);
    }
    if (::geteuid() == 0 && ::lchown(place.c_str(), entry.uid, entry.gid) != 0) {
      return tools::path_error(path, errno);
    }
    if (entry.is_node()) {
      table += tools::device_row({.path = path,
                                  .type = entry.type == TarEntry::Type::block ? 'b' : 'c',
                                  .major = entry.major,
                                  .minor = entry.minor,
                                  .mode = entry.mode,
                                  .uid = entry.uid,
                                  .gid = entry.gid});
    }
  }
  if (make_file(root + "/dev.tab", {.mode = 0600, .text = table})) return {};
  return tools::path_error("/dev.tab", errno);
}

}  // namespace detail

/// Unpacks an archive that `record` made. No file is made if there is a fault in it.
inline cdi::Result<PrivateDirectory> unpack_root(const std::string& archive) {
  const auto fail = [&](cdi::Error error) {
    return cannot_read_root(archive, std::move(error));
  };
  const cdi::Descriptor file{::open(archive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return fail({.code = cdi::Errc::system,
                 .message = std::generic_category().message(errno),
                 .system = errno});
  }
  if (!S_ISREG(status.st_mode)) return fail(tar::not_an_archive({}));
  if (status.st_size > static_cast<off_t>(tar::most_bytes)) {
    return fail(tar::too_much("the archive has more than 64 MiB"));
  }
  const auto text = cdi::read_all(file.get(), archive, tar::most_bytes);
  if (!text) return fail(text.error());
  const auto entries = read_tar(*text);
  if (!entries) return fail(entries.error());
  auto made = PrivateDirectory::make();
  if (!made) return fail(std::move(made).error());
  if (auto good = detail::unpack(*entries, made->path()); !good) return fail(good.error());
  return made;
}

}  // namespace prepare

#endif  // CDI_TOOLS_PREPARE_RECORD_UNPACKED_ROOT_HPP
