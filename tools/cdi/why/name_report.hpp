// Reports where devices are defined, or why their names do not resolve.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../kit/versions/engine_versions.hpp"
#include "../base/exit_codes.hpp"
#include "../base/globs.hpp"
#include "../base/options.hpp"
#include "../base/output.hpp"
#include "../results/why.hpp"
#include "engine_view.hpp"
#include "host_view.hpp"
#include "pattern_names.hpp"

/// The options of `why`.
struct WhyOptions {
  std::vector<std::string> names{};
  std::string engine{};  // of --for; empty: all installed engines
  std::string bundle{};  // of --bundle: a config.json, or its directory
  std::string root{"/"};
  bool no_host = false;
  std::string pod{};                  // of --pod: NAMESPACE/NAME
  std::vector<std::string> claims{};  // of --claim: files with the ResourceClaims of the pod
  std::string kubelet_dir{"/var/lib/kubelet"};
  std::string logs_dir{"/var/log/pods"};  // podLogsDir of kubelet
};

/// The specs that `why` searches: all specs, or only the specs that one engine reads; and the host.
struct SearchedSpecs {
  std::shared_ptr<const cdi::Registry> all{};
  std::shared_ptr<const cdi::Registry> registry{};  // of the files that the engine reads
  std::optional<EngineView> engine{};
  const tools::Engine* installed = nullptr;  // the engine, if its version is from the host
  std::vector<std::string> engine_dirs{};    // searched by the engine; empty with --spec-dir
  std::optional<HostNotes> host{};
};

/// The options of the user, and the host.
struct Question {
  const CommonOptions& common;
  const WhyOptions& options;
  ExpandedNames names{};  // known once the specs are
  std::optional<HostView> host{};
  std::vector<std::string> spec_dirs{};  // as seen from here, if under another root
};

/// Opens the host, unless --no-host is set.
cdi::Result<Question> open_question(const CommonOptions& common, const WhyOptions& options);

/// The engine of `--for`; without a version, the version is taken from the host.
cdi::Result<tools::VersionedEngine> requested_engine(const std::string& engine,
                                                     std::optional<HostView>& host);

/// The result refers to the question.
cdi::Result<SearchedSpecs> search_specs(Question& question);

/// What is known about names, as text and as a list of records.
struct NameAnswers {
  std::string text{};
  std::vector<ExplainedName> list{};
  std::map<std::string, NameFacts> by_name{};
  ExitCode code = exit_done;  // of the first name that does not resolve
};

/// Says for each name where the device is defined, or why the name does not resolve and what to do.
NameAnswers answer_names(const Question& question, const SearchedSpecs& specs);
