// The bodies of <cdi/claims/claim_directory.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_DIRECTORY_INL
#define CDI_CLAIMS_CLAIM_DIRECTORY_INL

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>

#include <cdi/claims/claim_directory.hpp>
#include <cdi/files/directory.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE Result<ClaimDirectory> open_claim_directory(const std::string& path,
                                                       MissingDirectory missing) {
  errno = path.empty() ? ENOENT : EINVAL;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return file_error(path, "cannot open the directory");
  }
  if (missing == MissingDirectory::made) {
    auto opened = detail::open_or_make_directory(path);
    if (!opened) return std::move(opened).error();
    return ClaimDirectory{std::move(*opened), path};
  }
  ClaimDirectory out{Descriptor{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}, path};
  if (!out.descriptor && errno != ENOENT) return file_error(path, "cannot open the directory");
  return out;
}

CDI_INLINE std::string detail::path_from_root(std::string path) {
  if (path.empty() || path.starts_with('/')) return path;
  const std::unique_ptr<char, void (*)(void*)> here{::getcwd(nullptr, 0), std::free};
  return here ? std::string{here.get()}.append("/").append(path) : path;
}

}  // namespace cdi

#endif  // CDI_CLAIMS_CLAIM_DIRECTORY_INL
