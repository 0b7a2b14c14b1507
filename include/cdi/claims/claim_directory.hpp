// `ClaimDirectory`: an open directory of a journal or of the specs of claims.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_CLAIMS_CLAIM_DIRECTORY_HPP
#define CDI_CLAIMS_CLAIM_DIRECTORY_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/base/result.hpp>
#include <cdi/files/descriptor.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// An open directory, in which files are written and removed even if its name changes.
struct ClaimDirectory {
  Descriptor descriptor{-1};  ///< invalid if the directory is missing
  std::string path{};         ///< for messages

  /// The number of the descriptor; negative if the directory is missing.
  int number() const { return descriptor.get(); }

  /// The path of a file in the directory, for messages.
  std::string path_of(std::string_view name) const {
    std::string out = path.ends_with('/') ? path : path + "/";
    return out.append(name);
  }
};

/// What happens if a directory is missing.
enum class MissingDirectory : std::uint8_t {
  stays,  ///< nothing
  made,   ///< it is created, with its parents, with mode 0755
};

/// Opens a directory. Succeeds without a descriptor if it is missing and stays so. Fails with
/// `Errc::system`.
Result<ClaimDirectory> open_claim_directory(const std::string& path, MissingDirectory missing);

namespace detail {

/// The path from the root, for a relative one from the working directory. An empty path stays so.
std::string path_from_root(std::string path);

}  // namespace detail

}  // namespace cdi

#if CDI_BODIES
#include <cdi/claims/claim_directory.inl>
#endif

#endif  // CDI_CLAIMS_CLAIM_DIRECTORY_HPP
