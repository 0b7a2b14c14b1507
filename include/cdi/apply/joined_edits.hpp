// `JoinedEdits`: several container edits as views, joined kind by kind and checked.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_APPLY_JOINED_EDITS_HPP
#define CDI_APPLY_JOINED_EDITS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/apply/device_nodes.hpp>
#include <cdi/apply/spec_editor.hpp>
#include <cdi/base/result.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/model/storage.hpp>
#include <cdi/oci/hooks.hpp>
#include <cdi/oci/linux.hpp>
#include <cdi/oci/mount.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A range of texts in `JoinedEdits::texts`.
struct TextRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// A hook for an OCI spec, with its lists in `JoinedEdits::texts`.
struct PlannedHook {
  oci::HookPoint point{};
  std::string_view path{};
  TextRange args{};
  TextRange env{};
  std::optional<std::int64_t> timeout{};
};

/// A mount for an OCI spec, with its list in `JoinedEdits::texts`.
struct PlannedMount {
  std::string_view destination{};
  std::string_view type{};
  std::string_view source{};
  TextRange options{};
  std::string_view id_mapping{};  // an additional option, unless empty
};

/// Edits of any storage as views, joined kind by kind. The lists of all hooks and mounts share one
/// vector: a separate vector for each list would double the cost of an injection.
struct JoinedEdits {
  JoinedEdits();  // defined in the bodies, not in each file that applies edits
  JoinedEdits(const JoinedEdits&) = delete;
  JoinedEdits& operator=(const JoinedEdits&) = delete;
  ~JoinedEdits();

  std::vector<std::string_view> env;
  std::vector<NodeView> nodes;
  std::vector<std::size_t> nodes_end;   // for each set of edits, the end of its nodes
  std::vector<std::size_t> mounts_end;  // for each set of edits, the end of its mounts
  std::vector<BasicNetDevice<Borrowed>> net_devices;
  std::vector<PlannedHook> hooks;
  std::vector<PlannedMount> mounts;
  std::vector<std::string_view> texts;  // the lists of hooks and mounts
  oci::LinuxIntelRdtView intel_rdt;     // from the last edits that set it
  std::vector<std::uint32_t> gids;      // never 0
  TouchedParts touched;
  bool duplicates = false;  // see `ApplyOptions`
};

/// The optional parts that a type supports.
struct OptionalParts {
  bool net_devices = false;
  bool intel_rdt = false;
  bool additional_gids = false;
  bool device_rules = false;
};

/// Succeeds if every touched part is supported.
Result<void> check_parts(const OptionalParts& places, const TouchedParts& touched);

/// Whether the texts of edits are known to be UTF-8, so that `join` need not check them.
enum class Texts : bool { unknown, utf8 };

/// Attributes an error to the set of edits at this index, from 0: see `Error::edits`.
Error about_edits(Error error, std::size_t index);

/// A net device that an earlier one contradicts.
struct InterfaceConflict {
  std::size_t index = 0;    // of the net device
  std::string_view member;  // the one that both have
  std::string message{};
};

/// Finds a host interface with two names, or a name of two host interfaces. The Go reference
/// rejects both since 1.1.2, and equal net devices, too. Costs a sort if there are several.
std::optional<InterfaceConflict> find_conflict(
    const std::vector<BasicNetDevice<Borrowed>>& net_devices);

/// Joins sets of edits. Fails for edits that no OCI spec can hold, that contradict each other, or
/// that `places` does not support. A storage other than `Owning` and `Borrowed` requires
/// `cdi/apply/joined_edits.inl` in the compiled mode.
template <Storage S>
Result<void> join(std::span<const BasicContainerEdits<S>* const> all, Texts texts,
                  const OptionalParts& places, JoinedEdits& to);

/// Completes the device nodes from the host.
Result<void> complete_devices(JoinedEdits& edits, const HostRef& host, ProcessUser user);

/// Adds `idmap` to bind mounts and `ridmap` to recursive bind mounts that have neither option:
/// without one, host files have no known owner in a user namespace. Only for a config with mappings
/// of user and group ids, as in the Go reference since 1.1.2: not all runtimes map without them.
void add_id_mappings(JoinedEdits& edits);

/// Fills a view from a planned record; the view's lists keep their memory.
void fill_view(const JoinedEdits& edits, const PlannedMount& from, oci::MountView& to);
void fill_view(const JoinedEdits& edits, const PlannedHook& from, oci::HookView& to);

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/apply/joined_edits.inl>
#endif

#endif  // CDI_APPLY_JOINED_EDITS_HPP
