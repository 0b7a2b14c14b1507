// Explains why a pod has its devices or lacks them, from its claims to its containers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pod_report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../kit/versions/engine_defaults.hpp"
#include "../../kit/versions/engine_support.hpp"
#include "../../kit/versions/engine_versions.hpp"
#include "bundle_report.hpp"
#include "pod_node.hpp"
#include "pod_steps.hpp"

using State = PodStep::State;

namespace {

bool is_cri_engine(std::string_view name) {
  return name == "containerd" || name == "cri-o";
}

/// Reports whether an engine accepts the devices that kubelet passes, since Kubernetes 1.31 only in
/// the CRI field.
void add_engine(const tools::VersionedEngine& engine, const tools::Engine* installed,
                PodSteps& steps) {
  const auto name = to_string(engine);
  if (!is_cri_engine(engine.name)) {
    return steps.add({State::unknown, "engine", name + " is not an engine that kubelet uses",
                      "use --for with containerd or cri-o"});
  }
  const auto* const support = tools::find_engine_support(engine);
  if (support == nullptr || !support->field) {
    return steps.add(
        {State::wrong, "engine",
         fmt::format("{} does not read the field CDI_devices of CRI, in which kubelet passes CDI "
                     "devices",
                     name),
         engine.name == "containerd" ? "update containerd to 1.7.2 or newer"
                                     : "update CRI-O to 1.28.0 or newer"});
  }
  const bool is_off = installed != nullptr ? installed->state() == tools::Engine::Cdi::off
                                           : support->cdi_switch == tools::CdiSwitch::off;
  if (is_off && installed != nullptr) {
    return steps.add(
        {State::wrong, "engine", name + ": CDI is switched off", installed->to_switch_on});
  }
  if (is_off) {
    return steps.add({State::unknown, "engine", name + " has CDI switched off by default",
                      "check that its configuration switches CDI on"});
  }
  steps.add({State::ok, "engine", name + " reads the field CDI_devices of CRI"});
}

/// The bad results of an engine for a spec.
void add_file_results(const NameAnswers& names, PodSteps& steps) {
  for (const auto& [name, answer] : names.by_name) {
    for (const auto& one : answer.engines) {
      const bool refuses = one.result == "refuses";
      if (!refuses && one.result != "other-directory") continue;
      if (!is_cri_engine(one.engine.name)) continue;
      steps.add({State::wrong, "engine",
                 fmt::format("{} {} the file of {}", to_string(one.engine),
                             refuses ? "refuses" : "does not search the directory of", name),
                 one.advice, answer.device.spec->path});
    }
  }
}

void add_engines(Question& question, const SearchedSpecs& specs, PodSteps& steps) {
  const auto& given = question.options.engine;
  if (!given.empty()) {
    const auto engine = requested_engine(given, question.host);
    if (engine) add_engine(*engine, specs.installed, steps);
    return;
  }
  bool any = false;
  if (question.host) {
    for (const auto& engine : question.host->engines()) {
      if (!is_cri_engine(engine.name)) continue;
      any = true;
      if (engine.version) {
        add_engine(engine.of_version(), &engine, steps);
      } else {
        steps.add(
            {State::unknown, "engine",
             fmt::format("{}: its version is unknown: {}", engine.name, engine.why_no_version()),
             "pass it, as in --for containerd@2.1.0"});
      }
    }
  }
  if (any) return;
  steps.add({State::unknown, "engine", "no containerd or CRI-O was found",
             "pass the engine of this node, as in --for containerd@2.1.0"});
}

/// Devices from both a claim and a device plugin, which CRI-O injects twice.
void add_doubles(const PodFacts& facts, PodSteps& steps) {
  for (const auto& claim : facts.known.entries) {
    for (const auto& device : claim.devices) {
      for (const auto& id : device.cdi_ids) {
        for (const auto& one : facts.given.entries) {
          if (std::find(one.cdi_ids.begin(), one.cdi_ids.end(), id) == one.cdi_ids.end()) continue;
          steps.add({State::wrong, "kubelet",
                     fmt::format("{} is of claim {} and of {}: CRI-O injects it twice, and both "
                                 "offer the same device",
                                 id, claim.name, one.resource),
                     "let either the DRA driver or the device plugin offer it"});
        }
      }
    }
  }
}

/// Reports whether a container has a device that kubelet passes for its pod.
void add_device(const PodFacts& facts, const BundleReport& report, const std::string& id,
                PodSteps& steps) {
  const auto container = facts.bundle->annotation(PodAnnotations::container);
  const auto file = facts.bundle->config.file();
  if (report.has(id)) {
    return steps.add({State::ok, "container", fmt::format("{} has {}", container, id), {}, file});
  }
  const auto& given = facts.given.entries;
  const bool is_own = std::any_of(given.begin(), given.end(), [&](const auto& one) {
    return one.container == container &&
           std::find(one.cdi_ids.begin(), one.cdi_ids.end(), id) != one.cdi_ids.end();
  });
  steps.add({is_own ? State::missing : State::unknown, "container",
             fmt::format("{} does not have {}", container, id),
             is_own ? "create the container again"
                    : "if the container names the claim in resources.claims, create the pod "
                      "again; otherwise this is right",
             file});
}

/// Compares a bundle with what kubelet passed to its container.
void add_container(const PodFacts& facts, const BundleReport& report, PodSteps& steps) {
  const auto& bundle = *facts.bundle;
  const auto file = bundle.config.file();
  if (!detail::is_of_pod(bundle, facts)) {
    const auto name = bundle.annotation(PodAnnotations::name);
    return steps.add({State::wrong, "container",
                      name.empty() ? "the bundle has no annotations of a pod"
                                   : fmt::format("the bundle is of pod {}/{}",
                                                 bundle.annotation(PodAnnotations::space), name),
                      "pass the bundle of a container of the pod", file});
  }
  const auto uid = bundle.annotation(PodAnnotations::uid);
  const auto& known = facts.known.entries;
  const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& claim) {
    return std::find(claim.pods.begin(), claim.pods.end(), uid) != claim.pods.end();
  });
  if (!uid.empty() && !known.empty() && !is_known) {
    steps.add({State::wrong, "container",
               fmt::format("the bundle is of an earlier pod, with UID {}", uid),
               "pass the bundle of the running container", file});
  }
  for (const auto& id : facts.cdi_ids()) add_device(facts, report, id, steps);
}

}  // namespace

PodAnswer explain_pod(const PodFacts& facts, const tools::HostTree& tree, Question& question,
                      const SearchedSpecs& specs) {
  PodSteps steps;
  add_node_steps(tree, facts, steps);
  add_doubles(facts, steps);
  PodAnswer out;
  auto names = answer_names(question, specs);
  steps.add_text(names.text);
  add_engines(question, specs, steps);
  add_file_results(names, steps);
  out.record.pod = {facts.space, facts.name, facts.uids};
  if (facts.bundle) {
    const auto& bundle = *facts.bundle;
    const BundleReport report{bundle.config,
                              bundle.spec,
                              bundle.requests,
                              *specs.all,
                              question.host ? &*question.host : nullptr,
                              question.common.dirs_named()};
    add_container(facts, report, steps);
    steps.add_text(report.text());
    out.record.bundle = report.record();
    if (!report.holds()) out.code = exit_outdated;
  }
  out.text = steps.text();
  out.record.steps = steps.list();
  out.record.devices = std::move(names.list);
  if (!steps.holds()) out.code = exit_outdated;
  if (names.code != exit_done) out.code = names.code;
  out.record.holds = out.code == exit_done;
  return out;
}
