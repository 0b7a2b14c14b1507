// The files of a node in a recording.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "../../kit/host/device_table.hpp"
#include "../../kit/host/rooted_paths.hpp"

namespace prepare {

/// A file of a node.
struct RecordedFile {
  enum class Type : std::uint8_t { file, link, directory, device, socket };

  Type type = Type::file;
  mode_t mode = 0;           // permission bits of a file
  std::string text{};        // of a file
  std::string target{};      // of a link
  tools::HostNode device{};  // without its path
};

/// The files of a node by path: "/proc/devices".
using RecordedFiles = std::map<std::string, RecordedFile>;

namespace detail {

/// Makes one file of a recording. A device is an empty file, and has a row in `dev.tab`.
inline bool make_file(const std::string& path, const RecordedFile& wanted) {
  using Type = RecordedFile::Type;
  if (wanted.type == Type::directory) return ::mkdir(path.c_str(), 0777) == 0;
  if (wanted.type == Type::link) return ::symlink(wanted.target.c_str(), path.c_str()) == 0;
  if (wanted.type == Type::socket) return ::mknod(path.c_str(), S_IFSOCK | 0600, 0) == 0;
  const cdi::Descriptor file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  const auto size = static_cast<ssize_t>(wanted.text.size());
  const auto put = file ? ::write(file.get(), wanted.text.data(), wanted.text.size()) : -1;
  if (put >= 0 && put < size) errno = ENOSPC;
  return put == size && ::fchmod(file.get(), wanted.mode | S_IRUSR) == 0;
}

}  // namespace detail

/// Writes a recording to a new directory, which only its owner can enter.
inline cdi::Result<void> write_files(const RecordedFiles& files, const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0) return tools::path_error(directory, errno);
  RecordedFile table{.mode = 0644};
  for (const auto& [path, file] : files) {
    if (!detail::make_file(directory + path, file)) {
      return tools::path_error(directory + path, errno);
    }
    if (file.type != RecordedFile::Type::device) continue;
    auto device = file.device;
    device.path = path;
    table.text += tools::device_row(device);
  }
  if (detail::make_file(directory + "/dev.tab", table)) return {};
  return tools::path_error(directory + "/dev.tab", errno);
}

}  // namespace prepare
