// Follows a pod's devices up to kubelet: claims, kubelet's checkpoints, drivers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "pod_node.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <vector>

#include <fmt/format.h>

#include <cdi/files/descriptor.hpp>

#include "../../kit/base/text.hpp"

namespace {

void add_pod_step(const PodFacts& facts, PodSteps& steps) {
  const auto name = fmt::format("{}/{}", facts.space, facts.name);
  if (facts.uids.empty()) {
    return steps.add(
        {detail::State::missing, "pod",
         name + ": its UID is unknown, because this node has no logs of it",
         "run this on the node of the pod, as `kubectl get pod -o wide` shows it, or pass its "
         "ResourceClaims with --claim or its container with --bundle"});
  }
  steps.add(
      {detail::State::ok, "pod",
       fmt::format("{}: UID {}, from {}", name, tools::listed(facts.uids), facts.uid_source)});
}

PodStep step_of(const kubelet::ResourceClaim& claim, const PodFacts& facts) {
  const auto name = fmt::format("{}/{}", claim.space, claim.name);
  PodStep step{.part = "claim", .file = claim.file};
  const auto fail = [&](detail::State state, const std::string& why, const std::string& advice) {
    step.state = state;
    step.message = name + ": " + why;
    step.advice = advice;
    return step;
  };
  if (claim.space != facts.space) {
    return fail(detail::State::wrong, "it is in another namespace than the pod",
                "pass the pod's claims");
  }
  if (!claim.is_allocated) {
    return fail(
        detail::State::missing, "it is not allocated: the scheduler found no device",
        "compare the selectors of its DeviceClass and requests with the devices that "
        "`kubectl get resourceslices -o yaml` shows; `kubectl describe pod` has the reason");
  }
  const auto is_pod = [&](const auto& pod) {
    return pod.name == facts.name;
  };
  if (std::none_of(claim.pods.begin(), claim.pods.end(), is_pod)) {
    return fail(detail::State::missing, "it is not reserved for this pod",
                "check that the pod names the claim in spec.resourceClaims, and that the scheduler "
                "has bound the pod to a node");
  }
  std::vector<std::string> devices;
  for (const auto& one : claim.devices) {
    devices.push_back(fmt::format("{} for request {}", one.path, one.request));
  }
  step.message = fmt::format("{}: allocated: {}", name, tools::listed(devices));
  return step;
}

/// Compares what the scheduler chose with what kubelet had prepared.
void compare_claims(const PodFacts& facts, PodSteps& steps) {
  for (const auto& claim : facts.claims) {
    if (!claim.is_allocated || claim.space != facts.space) continue;
    const auto name = fmt::format("{}/{}", claim.space, claim.name);
    const auto& all = facts.known.entries;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one.uid == claim.uid || (claim.uid.empty() && one.name == claim.name);
    });
    if (found == all.end()) {
      steps.add({detail::State::missing, "kubelet",
                 name + ": it is not in the checkpoint for this pod",
                 "check that the pod is bound to this node, and read the log of kubelet: it "
                 "prepares claims before it creates the sandbox",
                 facts.known.path});
      continue;
    }
    for (const auto& device : claim.devices) {
      const auto driver = device.path.substr(0, device.path.find('/'));
      const bool same = !found->has_devices_of(driver) ||
                        std::any_of(found->devices.begin(), found->devices.end(),
                                    [&](const auto& one) { return one.path() == device.path; });
      if (same) continue;
      steps.add(
          {detail::State::wrong, "kubelet",
           fmt::format("{}: the claim has {}, which kubelet has not prepared", name, device.path),
           "delete the pod: the claim was allocated again after kubelet had prepared it",
           facts.known.path});
    }
  }
}

void add_prepared(const kubelet::KnownClaim& claim, const std::string& file, PodSteps& steps) {
  const auto name = fmt::format("{}/{}", claim.space, claim.name);
  for (const auto& driver : claim.drivers) {
    if (claim.has_devices_of(driver)) continue;
    steps.add({detail::State::missing, "kubelet",
               fmt::format("{}: driver {} has prepared nothing", name, driver),
               fmt::format("read the events of the pod and the log of {}: its answer to "
                           "NodePrepareResources was an error, or it was not registered",
                           driver),
               file});
  }
  for (const auto& device : claim.devices) {
    const auto what = fmt::format("{}: {}", name, device.path());
    if (device.cdi_ids.empty()) {
      steps.add({detail::State::missing, "kubelet",
                 what + " has no CDI device, so no container gets it",
                 "read the log of " + device.driver, file});
    } else {
      steps.add({detail::State::ok,
                 "kubelet",
                 fmt::format("{}: prepared: {}", what, tools::listed(device.cdi_ids)),
                 {},
                 file});
    }
  }
}

void add_given(const kubelet::PluginDevices& one, const std::string& file, PodSteps& steps) {
  auto what =
      fmt::format("container {}: {}: {}", one.container, one.resource, tools::listed(one.ids));
  if (one.is_torn) {
    return steps.add({detail::State::wrong, "kubelet",
                      what + ": the plugin's answer cannot be read",
                      "restart the pod, so that kubelet asks the plugin again", file});
  }
  auto ids = one.cdi_ids;
  ids.insert(ids.end(), one.annotated.begin(), one.annotated.end());
  if (!ids.empty()) {
    return steps.add({detail::State::ok,
                      "kubelet",
                      fmt::format("{}: given as {}{}", what, tools::listed(ids),
                                  one.cdi_ids.empty() ? ", by annotation" : ""),
                      {},
                      file});
  }
  steps.add({detail::State::unknown, "kubelet",
             what + ": given without CDI, by nodes, mounts or variables of the plugin",
             "to use CDI, choose a strategy such as DEVICE_LIST_STRATEGY=cdi-cri for NVIDIA's "
             "plugin",
             file});
}

template <class Entry>
void add_damage(const kubelet::Checkpoint<Entry>& checkpoint, PodSteps& steps) {
  if (checkpoint.damage.empty()) return;
  steps.add({detail::State::wrong, "kubelet", checkpoint.path + ": " + checkpoint.damage,
             "read the log of kubelet, which does not use a damaged checkpoint: stop kubelet, move "
             "the file away, and start it again",
             checkpoint.path});
}

/// Why a socket cannot be reached; empty if a program listens.
std::string socket_fault(const std::string& path) {
  struct sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};  // kubelet's own paths are shorter
  std::memcpy(&address.sun_path[0], path.data(), path.size());
  const cdi::Descriptor caller{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!caller) return {};
  const auto* const generic = reinterpret_cast<const struct sockaddr*>(&address);
  if (::connect(caller.get(), generic, sizeof address) == 0 || errno == EAGAIN) return {};
  if (errno == EACCES) return {};
  return errno == ECONNREFUSED ? "no program listens" : std::strerror(errno);
}

/// Reports whether the sockets of a DRA driver exist and answer.
void add_driver(const tools::HostTree& tree, const std::string& dir, const std::string& driver,
                PodSteps& steps) {
  const auto folder = fmt::format("{}/plugins/{}", dir, driver);
  std::vector<std::string> sockets;
  std::string fault;
  bool is_served = false;
  for (const auto& name : tree.list(folder)) {
    const auto path = folder + "/" + name;
    if (!name.ends_with(".sock") || !S_ISSOCK(tree.status(path).st_mode)) continue;
    sockets.push_back(path);
    const auto why = tree.root() == "/" ? socket_fault(path) : std::string{};
    is_served = is_served || why.empty();
    if (!why.empty()) fault = why;
  }
  const auto advice = fmt::format(
      "start {} on this node: `kubectl get pods -A -o wide` shows "
      "whether its DaemonSet runs here",
      driver);
  if (sockets.empty()) {
    steps.add({detail::State::missing, "driver", fmt::format("{}: no socket in {}", driver, folder),
               advice, folder});
  } else if (!is_served) {
    steps.add({detail::State::missing, "driver",
               fmt::format("{}: {}: {}", driver, tools::listed(sockets), fault), advice, folder});
  } else {
    steps.add({detail::State::ok,
               "driver",
               fmt::format("{}: {}", driver, tools::listed(sockets)),
               {},
               folder});
  }
}

void add_drivers(const tools::HostTree& tree, const PodFacts& facts, PodSteps& steps) {
  std::set<std::string> drivers;
  for (const auto& claim : facts.known.entries) {
    drivers.insert(claim.drivers.begin(), claim.drivers.end());
  }
  for (const auto& claim : facts.claims) {
    for (const auto& one : claim.devices) {
      drivers.insert(one.path.substr(0, one.path.find('/')));
    }
  }
  const auto dir = facts.known.path.substr(0, facts.known.path.rfind('/'));
  for (const auto& driver : drivers) add_driver(tree, dir, driver, steps);
}

}  // namespace

void add_node_steps(const tools::HostTree& tree, const PodFacts& facts, PodSteps& steps) {
  using State = PodStep::State;
  add_pod_step(facts, steps);
  for (const auto& claim : facts.claims) steps.add(step_of(claim, facts));
  if (facts.claims.empty() && !facts.known.entries.empty()) {
    steps.add({State::unknown, "claim", "only what kubelet knows of the claims",
               fmt::format("pass the pod's claims: kubectl get resourceclaims -n {} -o json | cdi "
                           "why --claim - ...",
                           facts.space)});
  }
  add_damage(facts.known, steps);
  add_damage(facts.given, steps);
  for (const auto& claim : facts.known.entries) {
    add_prepared(claim, facts.known.path, steps);
  }
  compare_claims(facts, steps);
  for (const auto& one : facts.given.entries) add_given(one, facts.given.path, steps);
  add_drivers(tree, facts, steps);
  if (!facts.known.entries.empty() || !facts.given.entries.empty() || !facts.claims.empty()) return;
  if (facts.uids.empty() || !facts.known.damage.empty() || !facts.given.damage.empty()) return;
  steps.add({State::missing, "kubelet", "it has given no devices to this pod",
             "check that the pod is on this node, and that a container requests a resource of a "
             "device plugin, or names a claim in resources.claims",
             facts.known.path});
}
