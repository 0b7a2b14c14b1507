// Losses: edits that a program cannot express, and their consequences.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/nvidia.hpp>
#include <cdi/plan.hpp>

#include "../base/output.hpp"
#include "../results/devices.hpp"

/// An edit, or a part of one, that the container does not get.
struct Loss : LostEdit {
  cdi::Origin origin{};
};

/// A loss that has not happened yet. It refers to its texts, because most edits are not lost.
struct PossibleLoss {
  std::string_view edit;
  std::string_view subject;
  std::string_view consequence;
  const cdi::Origin& origin;

  /// The loss, with its cause after the consequence, such as `: it is not a directory`.
  Loss because(std::string_view cause = {}) const {
    auto whole = std::string{consequence}.append(cause);
    return {{std::string{edit}, std::string{subject}, std::move(whole)}, origin};
  }
};

/// Arguments, and what they leave out.
struct Arguments {
  std::vector<std::string> args{};
  std::vector<Loss> lost{};
  std::vector<cdi::Error> warnings{};  // about problems of the program
};

namespace detail {

struct HookLoss {
  cdi::HookClass hook_class;
  std::string_view consequence;
};

inline constexpr std::array hook_losses{
    HookLoss{cdi::HookClass::symlinks, "links are missing: libraries or nodes may not be found"},
    HookLoss{cdi::HookClass::ldcache, "libraries may not be found"},
    HookLoss{cdi::HookClass::cuda_compat,
             "the CUDA library of the image is not used, even if it is newer"},
    HookLoss{cdi::HookClass::chmod, "users other than root may be unable to open the nodes"},
    HookLoss{cdi::HookClass::proc_mask, "the driver's libraries may make device nodes"},
    HookLoss{cdi::HookClass::profile, "the driver's application profile is missing"},
    HookLoss{cdi::HookClass::memory_limits, "the GPU memory is not limited"},
    HookLoss{cdi::HookClass::legacy, "the GPUs that it injects are missing"},
};

/// What an option of a mount prevents.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 5> option_losses{{
    {"nosuid", "set-user-ID programs there keep their effect"},
    {"nodev", "device nodes there can be opened"},
    {"noexec", "programs there can be run"},
    {"ro", "the container may write there"},
    {"rro", "the container may write there, or in the mounts below"},
}};

}  // namespace detail

/// What is missing if a hook is not run.
inline std::string hook_loss(const cdi::Hook& hook) {
  const auto hook_class = cdi::classify_hook(cdi::command_of(hook));
  for (const auto& row : detail::hook_losses) {
    if (row.hook_class == hook_class) return fmt::format("it is not run: {}", row.consequence);
  }
  return "it is not run, and its effect is not known";
}

/// What happens if an option of a mount has no effect.
inline std::string option_loss(std::string_view option) {
  for (const auto& [name, consequence] : detail::option_losses) {
    if (name == option) return fmt::format("its option {} is lost: {}", name, consequence);
  }
  return fmt::format("its option {} is lost", printable(option));
}

/// A loss as an error.
inline cdi::Error loss_error(const Loss& loss, std::string_view program) {
  return {.code = cdi::Errc::unsupported,
          .message = fmt::format("{}: {} {} of {}: {}", program, loss.edit, printable(loss.subject),
                                 to_string(loss.origin), loss.consequence)};
}

/// The record of the error about a loss, with its place.
inline LostEditError loss_error_record(const cdi::Error& error, const Loss& loss) {
  LostEditError record{error_record("error", error), loss};
  record.where = loss.origin.where;
  record.file = loss.origin.file;
  record.line = loss.origin.line;
  return record;
}
