// Chooses the places of the host that are writable or hidden in a sandbox.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/plan.hpp>
#include <cdi/result.hpp>

#include "../args/access.hpp"

/// The path of a directory without links, which is the same in the sandbox. `purpose` is for
/// errors.
inline cdi::Result<std::string> real_directory(const std::string& path, std::string_view purpose) {
  const auto failure = [&](std::string why) {
    return cdi::Error{.code = cdi::Errc::host,
                      .message = fmt::format("cannot {} {}: {}", purpose, cdi::quoted(path), why)};
  };
  std::error_code fault;
  auto real = std::filesystem::canonical(path, fault);
  if (fault) return failure(fault.message());
  if (!std::filesystem::is_directory(real, fault)) return failure("it is not a directory");
  if (real == "/") return failure("it is the root, which has all other parts of the sandbox");
  return real.string();
}

/// The home directory of the user.
inline std::string home_directory() {
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return home;
  const auto* const user = find_user(::geteuid());
  return user == nullptr ? "" : user->pw_dir;
}

/// The path of a directory that the command may write. `home` is hidden, and may be empty.
inline cdi::Result<std::string> bound_directory(const std::string& bind, const std::string& home) {
  auto path = real_directory(bind, "bind");
  if (!path) return path;
  const auto failure = [&](std::string_view why) {
    return cdi::Error{.code = cdi::Errc::host,
                      .message = fmt::format("cannot bind {}: {}", cdi::quoted(bind), why)};
  };
  if (*path == home) return failure("it is the home directory, which --hide-home hides");
  // Directories of the sandbox hide them, or would be hidden.
  constexpr std::array<std::string_view, 2> own{"/dev", "/proc"};
  for (const auto place : own) {
    if (!(*path + "/").starts_with(std::string{place} + "/")) continue;
    return failure(fmt::format("the sandbox has a {} of its own", place));
  }
  return path;
}

/// A directory of the host that is empty for the command, or that the command may write.
struct SandboxPlace {
  std::string path{};  // absolute, without links
  bool is_hidden = false;
};

/// The places of a sandbox; the last one that contains a path counts. Part of a hidden home
/// directory may be writable, and so may a directory above it, which would reveal it.
inline cdi::Result<std::vector<SandboxPlace>> sandbox_places(const std::vector<std::string>& binds,
                                                             bool hides_home) {
  std::vector<SandboxPlace> out;
  std::string home;
  if (hides_home) {
    auto real = real_directory(home_directory(), "hide the home directory");
    if (!real) return std::move(real).error();
    home = *std::move(real);
  }
  std::vector<SandboxPlace> inner;  // what comes after the hidden directory
  for (const auto& bind : binds) {
    auto path = bound_directory(bind, home);
    if (!path) return std::move(path).error();
    auto& places = home.starts_with(*path + "/") ? out : inner;
    places.push_back({.path = *std::move(path)});
  }
  if (hides_home) out.push_back({.path = home, .is_hidden = true});
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

/// The words that make bwrap create places.
inline std::vector<std::string> place_words(const std::vector<SandboxPlace>& places) {
  std::vector<std::string> out;
  for (const auto& [path, is_hidden] : places) {
    if (is_hidden) {
      out.insert(out.end(), {"--tmpfs", path});
    } else {
      out.insert(out.end(), {"--bind", path, path});
    }
  }
  return out;
}

/// The warning that the command starts in another directory, because a sandbox with these places
/// lacks the current one; nullopt if it does not.
inline std::optional<cdi::Error> hidden_directory_warning(const std::vector<SandboxPlace>& places) {
  std::error_code fault;
  const auto directory = std::filesystem::current_path(fault).string();
  bool hidden = directory.starts_with("/tmp/");
  for (const auto& [path, is_hidden] : places) {
    if (!(directory + "/").starts_with(path + "/")) continue;
    hidden = is_hidden && directory != path;
  }
  if (fault || !hidden) return std::nullopt;
  return cdi::Error{
      .message = fmt::format("the sandbox does not have the working directory {}: the "
                             "command starts in another one",
                             cdi::quoted(directory)),
      .advice = "add --bind ."};
}
