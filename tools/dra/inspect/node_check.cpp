// Checks whether the kubelet, the engine and the driver of a node fit together.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "node_check.hpp"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "../../gpu/findings/finding.hpp"
#include "../../gpu/host/directories.hpp"
#include "../../kit/engines/installed_versions.hpp"
#include "../../kit/host/host_tree.hpp"
#include "../socket_names.hpp"

namespace dra {

namespace {

using prepare::doctor::Level;

void check_kubelet(const SocketNames& names, Findings& findings) {
  const auto directory =
      cdi::open_claim_directory(names.registry_dir, cdi::MissingDirectory::stays);
  if (directory && directory->descriptor) {
    findings.push_back({Level::good, "kubelet", names.registry_dir + " is there", {}});
    return;
  }
  findings.push_back({Level::fault, "kubelet",
                      directory ? names.registry_dir + " is missing" : to_string(directory.error()),
                      "Give the kubelet's --root-dir as --kubelet-dir; in a container, mount it at "
                      "the same path."});
}

void check_status(const Status& status, Findings& findings) {
  for (const auto& [use, path, fault] : status.sockets) {
    if (!fault) {
      findings.push_back({Level::good, use + " socket", path + " answers", {}});
    } else {
      findings.push_back(
          {Level::fault, use + " socket", *fault,
           "Start cdi-dra serve with the same --driver and --kubelet-dir, or see its "
           "log."});
    }
  }
  for (const auto& [uid, claim] : status.claims) {
    if (!claim.fault) continue;
    const auto* const advice =
        claim.spec
            ? "The driver tries to repair claims: its log has the reason. This command needs "
              "the --root of the driver, too."
            : "No other claim gets a device until this one is unprepared: end its pod. If "
              "there is none, stop the driver and remove the file.";
    findings.push_back({Level::fault, "claim " + uid, *claim.fault, advice});
  }
}

/// Whether the driver can write to one of its directories. Creates a missing one.
void check_writable(const std::string& path, const char* option, const Settings& settings,
                    Findings& findings) {
  const auto directory = prepare::open_directory(settings.host, path, prepare::Missing::stays);
  if (directory && !directory->descriptor) return;
  if (directory && ::faccessat(directory->number(), ".", W_OK | X_OK, AT_EACCESS) == 0) {
    return;
  }
  const auto error =
      directory ? cdi::file_error(path, "cannot write to the directory") : directory.error();
  findings.push_back({Level::fault, path, to_string(error),
                      fmt::format("Run this as root. If you do, make the directory writable, or "
                                  "give the driver another {}.",
                                  option)});
}

/// Whether kubelets use this engine.
bool has_cri(const tools::Engine& engine) {
  return engine.name == "containerd" || engine.name == "cri-o";
}

/// Whether a spec in the driver's directory appears on the host where the engine looks. Writes a
/// spec, and removes it.
void check_with_probe(const tools::HostTree& tree, const tools::Engine& engine,
                      const Settings& settings, Findings& findings) {
  constexpr const char* name = "cdi-dra-probe.json";
  const auto fail = [&](const cdi::Error& error) {
    findings.push_back({Level::fault, settings.host.output_dir, to_string(error),
                        "Run this as root, with the --output-dir of the driver."});
  };
  const auto directory =
      prepare::open_directory(settings.host, settings.host.output_dir, prepare::Missing::made);
  if (!directory) return fail(directory.error());
  const cdi::Publisher publisher{"cdi-dra check", directory->number(), directory->path};
  const cdi::Spec probe{.kind = "cdi-dra.example/probe",
                        .devices = {{.name = "probe", .container_edits = {.env = {"PROBE=1"}}}}};
  const auto written = publisher.write(name, probe);
  const bool is_seen = written && std::any_of(engine.spec_dirs.begin(), engine.spec_dirs.end(),
                                              [&](const auto& dir) {
                                                return tree.exists(fmt::format("{}/{}", dir, name));
                                              });
  const auto removed = publisher.remove(name);  // even after a failed call
  if (!written) return fail(written.error());
  if (!removed) {
    findings.push_back({Level::fault, settings.host.output_dir, to_string(removed.error()),
                        fmt::format("Remove {} there.", name)});
  }
  if (is_seen) {
    findings.push_back({Level::good,
                        engine.full_name(),
                        fmt::format("sees a spec that is written to {}", settings.host.output_dir),
                        {}});
    return;
  }
  findings.push_back(
      {Level::fault, engine.full_name(),
       fmt::format("does not see a spec that is written to {}: it reads {}",
                   settings.host.output_dir, tools::listed(engine.spec_dirs)),
       "Give one of these directories as --output-dir; in a container, mount it from the host."});
}

void check_engines(const tools::HostTree& tree, const Settings& settings, Findings& findings) {
  const auto from =
      settings.host.root == "/" ? tools::VersionsFrom::programs : tools::VersionsFrom::packages;
  auto engines = tools::EngineVersions{from}.engines(tree);
  std::erase_if(engines, [](const auto& engine) { return !has_cri(engine); });
  if (engines.empty()) {
    findings.push_back({Level::note, "engine", "neither containerd nor CRI-O is installed here",
                        "Give the host's / as --root, if this runs in a container."});
    check_writable(settings.host.output_dir, "--output-dir", settings, findings);
  }
  const auto output_dir =
      settings.host.place_on_host(settings.host.output_dir).value_or(settings.host.output_dir);
  for (const auto& engine : engines) {
    prepare::doctor::check_setup(tree, engine, output_dir, Level::fault, true, findings);
    check_with_probe(tree, engine, settings, findings);
  }
}

}  // namespace

cdi::Result<Findings> check_node(const Settings& settings) {
  const auto names = socket_names(settings.kubelet_dir, settings.driver, settings.instance);
  if (!names) return names.error();
  const auto tree = tools::HostTree::open(settings.host.root);
  if (!tree) return tree.error();
  const auto status = read_status(settings);
  if (!status) return status.error();
  Findings findings;
  check_kubelet(*names, findings);
  check_status(*status, findings);
  check_writable(settings.state_dir, "--state-dir", settings, findings);
  check_engines(*tree, settings, findings);
  return findings;
}

}  // namespace dra
