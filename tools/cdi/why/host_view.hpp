// Examines the host for `cdi why`: its engines, and what devices need from it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../kit/cdi_specs/host_faults.hpp"
#include "../../kit/engines/engine_of_host.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "../base/output.hpp"
#include "../results/why.hpp"
#include "engine_view.hpp"

// cdi-prepare uses the same engines and checks.

/// The host under a directory.
class HostView {
 public:
  static cdi::Result<HostView> open(const std::string& root);

  /// The path of a spec directory on the host, without links that lead out of its root.
  std::string path_of(const std::string& dir) const;

  /// Reads spec directories. With another root, no link leads out of it.
  std::shared_ptr<const cdi::Registry> scan(const std::vector<std::string>& dirs,
                                            const cdi::ReadOptions& reading) const;

  /// The files of the host.
  const tools::HostTree& tree() const { return tree_; }

  /// The root directory of the host.
  const std::string& root() const { return tree_.root(); }

  /// Whether the tree belongs to another host, whose programs must not be run.
  bool is_other() const { return root() != "/"; }

  /// The installed engines with their versions. The first call queries them.
  const std::vector<tools::Engine>& engines();

  /// The version of an installed engine.
  cdi::Result<tools::VersionedEngine> engine_named(const std::string& name);

  /// An installed engine; null if it is not installed.
  const tools::Engine* find(std::string_view name);

  /// Whether an engine searches the directory of a file.
  bool reads_directory(const tools::Engine& engine, const std::string& file) const;

  /// Things that a device needs and the host lacks.
  tools::HostFaults faults(const cdi::ResolvedDevice& found) const;

  /// Advice about a spec whose needs the host does not meet.
  std::string advice_on(const cdi::LoadedSpec& spec, bool dirs_named) const;

  /// Things that edits need and the host lacks.
  tools::HostFaults faults(const cdi::ContainerEdits& edits) const;

 private:
  explicit HostView(tools::HostTree tree) : tree_{std::move(tree)} {}

  /// For a link that leads elsewhere from here: the path of its target under the root; empty if
  /// there is no such target. Nullopt if the path is not under the root, or leads to the same file.
  std::optional<std::string> target_outside(const std::string& path) const;

  /// Reads the target of a link under the name of the link.
  static cdi::Registry read_link(const std::string& path, const std::string& target, int priority,
                                 const cdi::ReadOptions& reading);

  tools::HostTree tree_;
  std::optional<std::vector<tools::Engine>> engines_{};
};

/// How an installed engine treats the file of a device.
struct EngineAnswer {
  std::string_view result{};         // the result for programs
  std::string_view words{};          // for people
  std::vector<cdi::Error> causes{};  // with their places in the file
  std::string advice{};
  cdi::ResolvedDevice instead{};  // the device that it injects from another file
  tools::VersionedEngine engine{};
};

/// What is known about a name.
struct NameFacts {
  std::optional<cdi::Reason> reason{};  // why the name does not resolve
  std::vector<EngineAnswer> engines{};
  cdi::ResolvedDevice device{};  // if the name resolves
};

/// The answer for a name, as text and as a record.
struct Explanation : NameFacts {
  std::string text{};
  ExplainedName record{};
};

/// The answer for an engine whose configuration switches CDI off.
EngineAnswer switched_off(const tools::Engine& engine);

/// Adds how an engine treats the file of a device.
void add_answer(const EngineView& view, EngineAnswer answer, Explanation& out);

/// Adds the faults in an engine's configuration, which may make answers about it wrong.
void add_setup_warnings(const tools::Engine& engine, Explanation& out);

/// An installed engine with a known version, and the files that it reads.
struct InstalledEngine {
  const tools::Engine* engine;
  EngineView view;

  EngineAnswer answer(const std::string& name, const cdi::LoadedSpec& spec, const HostView& host,
                      bool dirs_named) const;
};

/// The facts about the host that `why` adds for a resolved name.
class HostNotes {
 public:
  HostNotes(HostView& host, const cdi::Registry& registry, bool with_engines, bool dirs_named);

  /// Whether containers with the device will fail on this host.
  bool add(const std::string& name, const cdi::ResolvedDevice& found, Explanation& out) const;

 private:
  static constexpr std::size_t max_shown = 5;  // faults of a device, in the text

  static std::string_view words_for(tools::HostFault::Effect effect);

  bool add_faults(const cdi::ResolvedDevice& found, std::string& text, ExplainedName& record) const;

  const HostView* host_;
  bool dirs_named_;
  std::vector<InstalledEngine> installed_{};
  std::vector<const tools::Engine*> unknown_{};
};
