// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_OCI_PROCESS_HPP
#define CDI_OCI_PROCESS_HPP

#include <cstdint>
#include <optional>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/version.hpp>

// OCI runtime spec 1.3.0, config.md, "Process". Here: the members that CDI edits touch, and their
// neighbours.

namespace cdi::inline CDI_ABI::oci {

/// Who the process of the container runs as.
template <class S>
struct BasicUser {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::optional<std::uint32_t> umask{};
  ListOf<S, std::uint32_t> additional_gids{};
  StringOf<S> username{};  // Windows only

  friend bool operator==(const BasicUser&, const BasicUser&) = default;

  static constexpr auto fields() {
    using Self = BasicUser;
    return std::tuple{
        Field{"uid", &Self::uid, required}, Field{"gid", &Self::gid, required},
        Field{"umask", &Self::umask},       Field{"additionalGids", &Self::additional_gids},
        Field{"username", &Self::username},
    };
  }
};

/// The process that the container starts.
template <class S>
struct BasicProcess {
  bool terminal = false;
  BasicUser<S> user{};
  ListOf<S, StringOf<S>> args{};
  ListOf<S, StringOf<S>> env{};  // "NAME=value"
  StringOf<S> cwd{};             // absolute
  bool no_new_privileges = false;

  friend bool operator==(const BasicProcess&, const BasicProcess&) = default;

  static constexpr auto fields() {
    using Self = BasicProcess;
    return std::tuple{
        Field{"terminal", &Self::terminal}, Field{"user", &Self::user, required},
        Field{"args", &Self::args},         Field{"env", &Self::env},
        Field{"cwd", &Self::cwd, required}, Field{"noNewPrivileges", &Self::no_new_privileges},
    };
  }
};

using User = BasicUser<Owning>;
using Process = BasicProcess<Owning>;

static_assert(detail::initialisers_used<User, Process>);

}  // namespace cdi::inline CDI_ABI::oci

#endif  // CDI_OCI_PROCESS_HPP
