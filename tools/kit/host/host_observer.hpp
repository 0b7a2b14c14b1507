// `HostObserver`: what is told of each question to a `HostTree`, and of its answer.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_KIT_HOST_HOST_OBSERVER_HPP
#define CDI_TOOLS_KIT_HOST_HOST_OBSERVER_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <cdi/result.hpp>

#include "rooted_paths.hpp"

namespace tools {

/// Is told what a program asks of the files of a host, and what it sees. A tree that is opened with
/// an observer tells it all of this, in this order: what is asked, then what is found.
class HostObserver {
 public:
  using Last = RootedPaths::Last;
  using Names = std::vector<std::string>;

  /// A path in a directory that is used as /, with links in it.
  struct Path {
    std::size_t root = 0;  // the number that `add_root` returned
    std::string path{};
  };

  HostObserver() = default;
  HostObserver(const HostObserver&) = delete;
  HostObserver& operator=(const HostObserver&) = delete;
  virtual ~HostObserver() = default;

  /// `directory` is used as /. Returns a number for it. `on_host` is its path on the host, which is
  /// empty for / itself, and nullopt for a directory that is not of the host.
  virtual std::size_t add_root(const std::string& directory,
                               const std::optional<std::string>& on_host) = 0;

  /// The program asks for this path.
  virtual void asked(const Path& path) = 0;

  /// A path was looked up, also one to which only a link leads.
  virtual void found(const Path& path, Last last, const cdi::Result<struct stat>& file) = 0;

  /// A regular file was read, whole or in part. `before` is its state before that.
  virtual void read(const Path& path, const struct stat& before,
                    const cdi::Result<std::string>& text) = 0;

  /// A directory was listed. `before` is its state before that, if it could be listed.
  virtual void listed(const Path& path, const struct stat& before,
                      const cdi::Result<Names>& names) = 0;

  /// A device was opened, or could not be: only the kernel knows why.
  virtual void tried_device(const Path& path) = 0;
};

}  // namespace tools

#endif  // CDI_TOOLS_KIT_HOST_HOST_OBSERVER_HPP
