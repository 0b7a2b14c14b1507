// Selects GPUs and a kind by options.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cdi/name.hpp>
#include <cdi/registry/nearest_names.hpp>
#include <cdi/result.hpp>

#include "gpu.hpp"

namespace prepare {

/// Names of GPUs and partitions, with or without the kind, and which of them were found.
class Selection {
 public:
  explicit Selection(const std::vector<std::string>& names) {
    for (const auto& name : names) names_.push_back({name, {}, false});
    for (auto& name : names_) {
      const auto qualified = cdi::parse_name(name.text);
      if (qualified) name.kind = name.text.substr(0, name.text.find('='));
    }
  }

  /// Removes the GPUs and partitions without such a name, and then the kinds without GPUs. The name
  /// of a partitioned GPU means all its partitions.
  void keep_named(std::vector<Inventory>& inventories) {
    for (auto& found : inventories) {
      std::erase_if(found.gpus, [&](Gpu& gpu) { return !keep_named(found.kind, gpu); });
    }
    std::erase_if(inventories, [](const Inventory& found) { return found.gpus.empty(); });
  }

  /// The names that no GPU has.
  std::vector<std::string> not_found() const {
    std::vector<std::string> out;
    for (const auto& name : names_) {
      if (!name.found) out.push_back(name.text);
    }
    return out;
  }

 private:
  struct Name {
    std::string text{};
    std::string kind{};  // empty: any kind
    bool found = false;

    std::string_view device() const {
      return std::string_view{text}.substr(kind.empty() ? 0 : kind.size() + 1);
    }
  };

  /// Whether a share of a GPU is selected; marks the names that select it.
  bool selects(std::string_view kind, const Gpu& gpu, const Share& share) {
    auto known = gpu.other_names(share);
    known.push_back(gpu.stable_name() + share.suffix);
    known.emplace_back("all");
    bool selected = false;
    for (auto& name : names_) {
      if (!name.kind.empty() && name.kind != kind) continue;
      if (std::find(known.begin(), known.end(), name.device()) == known.end()) continue;
      selected = name.found = true;
    }
    return selected;
  }

  bool keep_named(std::string_view kind, Gpu& gpu) {
    if (selects(kind, gpu, gpu.whole)) return true;
    std::erase_if(gpu.partitions, [&](const Share& part) { return !selects(kind, gpu, part); });
    return !gpu.partitions.empty();
  }

  std::vector<Name> names_{};
};

/// The known kinds that may have been meant: those with the same vendor and a similar class.
inline std::vector<std::string_view> kinds_like(std::string_view kind,
                                                std::span<const std::string_view> known) {
  const auto slash = kind.find('/') + 1;
  cdi::detail::NearestNames nearest{kind.substr(slash)};
  for (const auto other : known) {
    if (other.starts_with(kind.substr(0, slash))) nearest.add(other.substr(slash));
  }
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < nearest.names().size(); ++i) out.push_back(nearest.names()[i]);
  return out;
}

/// Keeps only one kind, or renames the only kind there is. `detected` are the kinds that detection
/// finds. Fails if a new name is similar to one of them, or would name several kinds.
inline cdi::Result<void> settle_kind(const std::string& kind,
                                     std::span<const std::string_view> detected,
                                     std::vector<Inventory>& inventories) {
  const auto is_it = [&](const Inventory& found) {
    return found.kind == kind;
  };
  const bool is_own = std::find(detected.begin(), detected.end(), kind) != detected.end();
  if (is_own || std::any_of(inventories.begin(), inventories.end(), is_it)) {
    std::erase_if(inventories, [&](const Inventory& found) { return !is_it(found); });
    return {};
  }
  if (const auto meant = kinds_like(kind, detected); !meant.empty()) {
    return cdi::Error{
        .code = cdi::Errc::not_found,
        .message = fmt::format("--kind {}: there is no such kind: did you mean {}{}?", kind,
                               kind.substr(0, kind.find('/') + 1), meant.front())};
  }
  if (inventories.size() > 1) {
    std::vector<std::string> kinds;
    for (const auto& found : inventories) kinds.push_back(found.kind);
    return cdi::Error{
        .code = cdi::Errc::unsupported,
        .message = fmt::format("--kind {} would be the kind of the devices of {}: choose one of "
                               "them with --device {}=all",
                               kind, fmt::join(kinds, " and "), kinds.front())};
  }
  for (auto& found : inventories) found.kind = kind;
  return {};
}

}  // namespace prepare
