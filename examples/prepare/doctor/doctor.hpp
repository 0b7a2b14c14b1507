// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_PREPARE_DOCTOR_DOCTOR_HPP
#define CDI_PREPARE_DOCTOR_DOCTOR_HPP

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <cdi/base/path.hpp>
#include <cdi/cache.hpp>
#include <cdi/engine_releases.hpp>
#include <cdi/file.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/name.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>

#include "../base/text.hpp"
#include "../engines/engine_versions.hpp"
#include "../engines/engines.hpp"
#include "../gpu/fault.hpp"
#include "../gpu/gpu.hpp"
#include "../host/host_tree.hpp"
#include "../spec/fingerprint.hpp"
#include "../spec/verify.hpp"
#include "finding.hpp"

// Why containers may not get the GPUs of a host: what is wrong with drivers, nodes, the directories
// that engines read and the specs in them. Looks only, and at nothing outside of the root.

namespace prepare {

struct DoctorOptions {
  std::string output_dir = "/var/run/cdi";                        // where specs are written
  std::vector<std::string> spec_dirs = cdi::default_spec_dirs();  // the last has priority
  VersionsFrom versions_from = VersionsFrom::packages;            // of engines
};

namespace doctor {

using Findings = std::vector<Finding>;
using Level = Finding::Level;

// NVIDIA's driver and its libraries.

/// The version of the NVIDIA module that is loaded; empty when there is none.
inline std::string nvidia_module_version(const HostTree& tree) {
  if (auto version = tree.line("/sys/module/nvidia/version"); !version.empty()) return version;
  const auto words = split(tree.line("/proc/driver/nvidia/version"), " \t\n");
  auto word = std::find(words.begin(), words.end(), "Module");
  for (; word != words.end(); ++word) {
    if (word->find_first_not_of("0123456789.") == std::string::npos) return *word;
  }
  return {};
}

/// Where distributions put libcuda, each directory once.
inline std::set<std::string> cuda_directories(const HostTree& tree) {
  std::set<std::string> directories;
  for (const std::string_view top : {"/usr/lib64", "/usr/lib", "/lib64", "/lib"}) {
    std::vector<std::string> places{std::string{top}};
    for (const auto& name : tree.list(top)) {
      if (name.ends_with("-linux-gnu")) places.push_back(fmt::format("{}/{}", top, name));
    }
    for (const auto& place : places) {
      for (const std::string_view below : {"", "/nvidia", "/nvidia/current"}) {
        if (auto real = tree.real_path(fmt::format("{}{}", place, below))) {
          directories.insert(std::move(*real));
        }
      }
    }
  }
  return directories;
}

/// The version in the name of a file `libcuda.so.550.54.14`.
inline std::optional<std::string> cuda_version(std::string_view path) {
  constexpr std::string_view name = "libcuda.so.";
  path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(name)) return std::nullopt;
  const auto version = path.substr(name.size());
  if (version.find('.') == std::string_view::npos) return std::nullopt;
  return std::string{version};
}

/// The files that programs get when they load libcuda: where `libcuda.so.1` leads to, or any.
inline std::set<std::string> cuda_libraries(const HostTree& tree) {
  std::set<std::string> paths;
  for (const auto& directory : cuda_directories(tree)) {
    const auto linked = tree.real_path(directory + "/libcuda.so.1");
    if (linked && cuda_version(*linked)) {
      paths.insert(*linked);
      continue;
    }
    for (const auto& name : tree.list(directory)) {
      if (cuda_version(name)) paths.insert(fmt::format("{}/{}", directory, name));
    }
  }
  return paths;
}

inline void look_at_nvidia_driver(const HostTree& tree, Findings& findings) {
  const std::string about = "NVIDIA driver";
  if (tree.exists("/sys/module/nvidia") && !tree.exists("/proc/driver/nvidia")) {
    findings.push_back({Level::fault, about,
                        "the module is loaded, and /proc/driver/nvidia is not there",
                        "Load it anew (modprobe -r nvidia; modprobe nvidia) or reboot; in a "
                        "container, mount the /proc of the host below the root."});
  }
  const auto loaded = nvidia_module_version(tree);
  if (loaded.empty()) return;
  const auto libraries = cuda_libraries(tree);
  if (libraries.empty()) {
    findings.push_back({Level::note, about,
                        fmt::format("module {} is loaded, and no libcuda is installed", loaded),
                        "Install the libraries of this version; where a container brings the "
                        "driver, look at its root instead (--root)."});
    return;
  }
  std::string others;
  for (const auto& path : libraries) {
    if (cuda_version(path) != loaded) others.append(others.empty() ? "" : ", ").append(path);
  }
  if (others.empty()) {
    findings.push_back(
        {Level::good, about, fmt::format("module and libraries are {}", loaded), {}});
    return;
  }
  findings.push_back({Level::fault, about,
                      fmt::format("module {} is loaded, but programs load {}", loaded, others),
                      "Reboot, or load the module anew, if the driver was upgraded; else remove "
                      "the libraries of the other version and run ldconfig."});
}

// GPUs and nodes.

inline void look_at_gpu(const Gpu& gpu, Findings& findings) {
  const auto& place = gpu.pci_address.empty() ? gpu.id : gpu.pci_address;
  const auto about = fmt::format("{} GPU {}", gpu.vendor, place);
  for (const auto& share : gpu.shares()) {
    if (!share.left_out) continue;
    const auto& meaning = meaning_of(share.left_out->fault);
    const bool intended = meaning.persistence == Persistence::intended;
    findings.push_back({intended ? Level::note : Level::fault, about + share.suffix,
                        "left out: " + share.left_out->text, std::string{meaning.remedy}});
  }
  if (gpu.vendor == "nvidia" && gpu.driver == "nvidia" && gpu.id.empty() && !gpu.whole.left_out) {
    findings.push_back({Level::note, about,
                        "its driver does not know its UUID yet, so it is named by its PCI address",
                        "Run nvidia-persistenced at boot: it opens each GPU, and keeps it so."});
  }
}

inline void look_at_inventory(const Inventory& found, Findings& findings) {
  const auto before = findings.size();
  const auto add = [&](Level level, const std::string& what, Fault fault) {
    findings.push_back({level, found.kind, what, std::string{meaning_of(fault).remedy}});
  };
  if (found.not_ready) {
    add(Level::fault, "not ready: " + found.not_ready->text, found.not_ready->fault);
  }
  for (const auto& gpu : found.gpus) look_at_gpu(gpu, findings);
  for (const auto& node : found.missing) {
    if (!node.is_needed_by(all_profiles)) continue;
    add(Level::fault, node.problem.text, node.problem.fault);
  }
  for (const auto& [fault, text] : found.warnings) {
    // Without this node no CUDA program runs.
    add(fault == Fault::uvm_node ? Level::fault : Level::note, text, fault);
  }
  if (findings.size() > before) return;
  findings.push_back(
      {Level::good,
       found.kind,
       fmt::format("{} of {} can be handed out", found.usable_count(), found.total_count()),
       {}});
}

/// The numbers of NVIDIA nodes for which /dev/char has no link: no udev knows of them.
inline std::set<std::string> nodes_without_link(const HostTree& tree,
                                                const std::vector<Inventory>& inventories) {
  std::set<std::string> missing;
  const auto look = [&](const std::vector<Node>& nodes) {
    for (const auto& node : nodes) {
      const auto number = fmt::format("{}:{}", node.major, node.minor);
      const bool is_nvidia = node.path.starts_with("/dev/nvidia");
      if (is_nvidia && !tree.exists("/dev/char/" + number)) missing.insert(number);
    }
  };
  for (const auto& found : inventories) {
    look(found.control_nodes);
    for (const auto& gpu : found.gpus) {
      for (const auto& share : gpu.shares()) look(share.nodes);
    }
  }
  return missing;
}

inline void look_at_char_links(const HostTree& tree, const std::vector<Inventory>& inventories,
                               Findings& findings) {
  if (!engines::has_program(tree, "runc") || !tree.exists("/run/systemd/system")) return;
  const auto missing = nodes_without_link(tree, inventories);
  if (missing.empty()) return;
  findings.push_back(
      {Level::note, "/dev/char",
       fmt::format("NVIDIA nodes without a link: {}, the first {}. With runc and systemd's "
                   "cgroups, containers lose them at systemctl daemon-reload",
                   missing.size(), *missing.begin()),
       "Make them: nvidia-ctk system create-dev-char-symlinks --create-all, or ln -s ../NODE "
       "/dev/char/MAJOR:MINOR at each boot."});
}

// What the kernel protects.

inline void look_at_iommu(const HostTree& tree, const std::vector<Inventory>& inventories,
                          Findings& findings) {
  const auto groups = tree.list("/sys/kernel/iommu_groups").size();
  if (groups == 0) {
    findings.push_back({Level::note, "IOMMU", "off: no GPU can be handed to a virtual machine",
                        "If one is to be, switch it on in the firmware and the kernel's command "
                        "line (intel_iommu=on; AMD's is on)."});
  } else {
    findings.push_back({Level::good, "IOMMU", fmt::format("on, groups: {}", groups), {}});
  }
  std::map<std::string, std::set<std::string>> members;
  for (const auto& found : inventories) {
    for (const auto& gpu : found.gpus) {
      if (!gpu.iommu_group.empty()) members[gpu.iommu_group].insert(gpu.pci_address);
    }
  }
  for (const auto& [group, gpus] : members) {
    if (gpus.size() < 2) continue;
    findings.push_back({Level::note, "IOMMU group " + group,
                        fmt::format("has {} GPUs, the first {}: they go to a virtual machine "
                                    "together or not at all",
                                    gpus.size(), *gpus.begin()),
                        "Put one into another slot, or switch on ACS in the firmware."});
  }
}

inline void look_at_selinux(const HostTree& tree, Findings& findings) {
  if (tree.line("/sys/fs/selinux/enforce") != "1") return;
  const auto now = tree.line("/sys/fs/selinux/booleans/container_use_devices");
  if (now.starts_with('1')) {
    findings.push_back({Level::good, "SELinux", "lets containers use devices", {}});
    return;
  }
  findings.push_back({Level::note, "SELinux",
                      now.empty() ? "enforcing; whether containers may use devices is not known"
                                  : "enforcing, and container_use_devices is off",
                      "If containers are denied a node (ausearch -m avc; ls -Z /dev/dri): "
                      "setsebool -P container_use_devices 1."});
}

// Engines and specs.

/// A path with the links of the part that is there followed: /var/run/cdi is /run/cdi.
inline std::string place_of(const HostTree& tree, std::string_view path) {
  const auto clean = cdi::clean_path(path);
  for (auto end = clean.size(); end > 0 && end != std::string::npos;
       end = clean.rfind('/', end - 1)) {
    if (auto real = tree.real_path(clean.substr(0, end))) return *real + clean.substr(end);
  }
  return clean;
}

inline std::string listed(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : ", ").append(text);
  return out.empty() ? "none" : out;
}

/// Reads the spec files of directories below the root. As `cdi::scan_spec_dirs`, but that no link
/// leads out of the root.
inline cdi::Registry read_specs(const HostTree& tree, const std::vector<std::string>& dirs) {
  std::vector<std::shared_ptr<const cdi::LoadedSpec>> specs;
  std::vector<std::shared_ptr<const cdi::RejectedFile>> rejected;
  std::set<std::string> seen;
  int priority = 0;
  for (const auto& directory : dirs) {
    if (!seen.insert(place_of(tree, directory)).second) continue;
    ++priority;
    for (const auto& name : tree.list(directory)) {
      const auto path = fmt::format("{}/{}", directory, name);
      const auto format = cdi::format_of(name);
      if (!format || S_ISDIR(tree.status(path).st_mode)) continue;
      const auto text = tree.read(path);
      auto spec = text ? cdi::parse_spec(*text, path, *format) : text.error();
      if (spec) {
        spec->priority = priority;
        specs.push_back(std::make_shared<const cdi::LoadedSpec>(std::move(*spec)));
      } else {
        rejected.push_back(
            std::make_shared<const cdi::RejectedFile>(cdi::RejectedFile{.why = spec.error()}));
      }
    }
  }
  return cdi::Registry{std::move(specs), std::move(rejected)};
}

/// Whether an engine reads the directory that specs are written to.
inline bool reads_directory(const HostTree& tree, const Engine& engine,
                            const std::string& output_dir) {
  const auto place = place_of(tree, output_dir);
  return std::any_of(engine.spec_dirs.begin(), engine.spec_dirs.end(),
                     [&](const auto& directory) { return place_of(tree, directory) == place; });
}

/// What an engine reads: its directories and, as far as that is known, up to which release.
inline std::string reading_of(const Engine& engine) {
  auto text = "reads " + listed(engine.spec_dirs);
  if (engine.version) {
    const auto newest = cdi::newest_release_for(engine.of_version());
    if (newest) text += ", up to CDI " + cdi::to_string(*newest);
  } else if (!engine.version_fault.empty()) {
    text += fmt::format("; its version is not known ({})", engine.version_fault);
  }
  return text;
}

/// Whether an engine is set up to read the specs.
inline void look_at_setup(const HostTree& tree, const Engine& engine, const std::string& output_dir,
                          Level trouble, Findings& findings) {
  const auto state = engine.state();
  if (state == Engine::Cdi::off) {
    findings.push_back({trouble, engine.full_name(), "CDI is switched off", engine.to_switch_on});
    return;
  }
  if (!reads_directory(tree, engine, output_dir)) {
    findings.push_back({trouble, engine.full_name(),
                        fmt::format("does not read {}, where specs are written, but {}", output_dir,
                                    listed(engine.spec_dirs)),
                        fmt::format("Add {} to {}, or write the specs to a directory that it reads "
                                    "(--output-dir).",
                                    output_dir, engine.to_set_dirs)});
  } else if (state == Engine::Cdi::on) {
    findings.push_back({Level::good, engine.full_name(), reading_of(engine), {}});
  }
  if (state == Engine::Cdi::by_version) {
    findings.push_back({Level::note, engine.full_name(),
                        "whether CDI is on depends on its version: the configuration does not say",
                        engine.to_switch_on});
  }
}

/// What to do about a spec file that an engine is too old for.
inline std::string advice_on_release(const Engine& engine, const cdi::Spec& spec) {
  if (spec.annotations.contains(std::string{options_annotation})) {  // of ours
    return "Run `cdi-prepare write`: it writes what the oldest engine reads. Or update this one.";
  }
  return fmt::format(
      "Have it written for this engine, as by `cdi convert --for {}@{}`, or update "
      "the engine.",
      engine.name, to_string(*engine.version));
}

/// Names the spec files that an engine is too old for. It can do without those of other devices
/// than this host's GPUs.
inline void look_at_releases(const HostTree& tree, const Engine& engine, cdi::Release newest,
                             const std::vector<Inventory>& inventories, Findings& findings) {
  const auto registry = read_specs(tree, engine.spec_dirs);
  for (const auto& loaded : registry.specs()) {
    const auto& spec = loaded->spec;
    const auto release = cdi::parse_release(spec.version);
    if (!release || *release <= newest) continue;
    const bool of_gpus =
        std::any_of(inventories.begin(), inventories.end(),
                    [&](const Inventory& found) { return found.kind == spec.kind; });
    findings.push_back({of_gpus ? Level::fault : Level::note, engine.full_name(),
                        fmt::format("refuses {}: it is CDI {}, and {} is the newest that it reads",
                                    loaded->path, spec.version, cdi::to_string(newest)),
                        advice_on_release(engine, spec)});
  }
}

inline void look_at_engine(const HostTree& tree, const Engine& engine,
                           const std::string& output_dir, const std::vector<Inventory>& inventories,
                           Findings& findings) {
  for (const auto& doubt : engine.doubts) {
    findings.push_back({Level::note, engine.full_name(), doubt,
                        "Look at it yourself; what is said of this engine here may be wrong."});
  }
  const auto trouble = inventories.empty() ? Level::note : Level::fault;
  if (engine.version) {
    const auto newest = cdi::newest_release_for(engine.of_version());
    if (!newest) {
      findings.push_back({trouble, engine.full_name(), newest.error().message,
                          "Update it: no setting makes this version inject CDI devices."});
      return;
    }
    if (engine.state() != Engine::Cdi::off) {
      look_at_releases(tree, engine, *newest, inventories, findings);
    }
  }
  look_at_setup(tree, engine, output_dir, trouble, findings);
}

inline void look_at_engines(const HostTree& tree, const DoctorOptions& options,
                            const std::vector<Inventory>& inventories, Findings& findings) {
  const auto engines = EngineVersions{options.versions_from}.engines(tree);
  for (const auto& engine : engines) {
    look_at_engine(tree, engine, options.output_dir, inventories, findings);
  }
  if (!engines.empty()) return;
  findings.push_back(
      {Level::note, "engines", "no container engine is installed",
       fmt::format("If one is elsewhere, see that it reads {}.", options.output_dir)});
}

/// The devices that the same files define, when there are several such files.
using SharedDevices = std::map<std::vector<std::string>, std::vector<std::string>>;

inline SharedDevices devices_defined_twice(const cdi::Registry& registry) {
  std::map<std::string, std::vector<std::string>> files;  // by device
  for (const auto& spec : registry.specs()) {
    for (const auto& device : spec->spec.devices) {
      files[cdi::qualified_name(spec->spec.kind, device.name)].push_back(spec->path);
    }
  }
  SharedDevices shared;
  for (auto& [device, paths] : files) {
    if (paths.size() > 1) shared[paths].push_back(device);
  }
  return shared;
}

/// Why a spec, whoever made it, does not fit this host; none when it does.
inline std::optional<std::string> misfit(const HostTree& tree, const cdi::Spec& spec) {
  if (auto fault = fault_of(tree, spec.container_edits)) return fault;
  for (const auto& device : spec.devices) {
    if (auto fault = fault_of(tree, device.container_edits)) {
      return fmt::format("device {}: {}", device.name, *fault);
    }
  }
  return std::nullopt;
}

/// Why a spec of ours was made of another host than this one is now; none when it was not.
inline std::optional<std::string> outdated(const HostTree& tree, const Inventory& found,
                                           const cdi::Spec& spec) {
  const std::pair<std::string_view, std::string> now[] = {{driver_annotation, found.driver_version},
                                                          {gpus_annotation, gpu_places(found)},
                                                          {boot_annotation, boot_id(tree)}};
  for (const auto& [key, value] : now) {
    const auto recorded = spec.annotations.find(std::string{key});
    if (recorded == spec.annotations.end() || recorded->second == value) continue;
    return fmt::format("{} was {}, and is {}", key.substr(key.find('/') + 1), recorded->second,
                       value);
  }
  return std::nullopt;
}

/// Whether the specs of a kind are there, and are those of this host.
inline void look_at_specs_of(const HostTree& tree, const cdi::Registry& registry,
                             const Inventory& found, Findings& findings) {
  const auto* const advice = "Run `cdi-prepare write`; `cdi-prepare diff` shows what changes.";
  bool any = false;
  for (const auto& loaded : registry.specs()) {
    if (loaded->spec.kind != found.kind) continue;
    any = true;
    auto reason = outdated(tree, found, loaded->spec);
    if (!reason) reason = misfit(tree, loaded->spec);
    if (reason) findings.push_back({Level::fault, "specs", loaded->path + ": " + *reason, advice});
  }
  if (any || found.usable_count() == 0) return;
  findings.push_back(
      {Level::fault, "specs", "there is none for " + found.kind, "Run `cdi-prepare write`."});
}

inline void look_at_specs(const HostTree& tree, const std::vector<Inventory>& inventories,
                          const std::vector<std::string>& dirs, Findings& findings) {
  const auto registry = read_specs(tree, dirs);
  for (const auto& found : inventories) look_at_specs_of(tree, registry, found, findings);
  for (const auto& file : registry.rejected()) {
    findings.push_back({Level::fault, "specs", cdi::to_string(file->why),
                        "Mend it or remove it. Engines pass such a file over; Kata Containers "
                        "starts nothing with a device while it is there."});
  }
  for (const auto& [paths, devices] : devices_defined_twice(registry)) {
    const auto more = devices.size() > 1 ? fmt::format(" and {} more", devices.size() - 1) : "";
    const auto what = fmt::format("{}{} defined in {}", devices.front(), more, listed(paths));
    const auto winner = registry.find(devices.front());
    if (winner.spec == nullptr) {
      findings.push_back({Level::fault, "specs",
                          what + ": engines refuse to choose, and inject none",
                          "Remove all of these files but one from their directory."});
    } else {
      findings.push_back({Level::note, "specs",
                          what + ": engines take that of " + winner.spec->path,
                          "Remove the file that is not meant; an old one in /etc/cdi counts again "
                          "as soon as the other is gone."});
    }
  }
}

}  // namespace doctor

/// Looks for what keeps containers from the GPUs of a host; `inventories` are what was detected.
inline std::vector<Finding> diagnose_host(const HostTree& tree,
                                          const std::vector<Inventory>& inventories,
                                          const DoctorOptions& options) {
  std::vector<Finding> findings;
  doctor::look_at_nvidia_driver(tree, findings);
  for (const auto& found : inventories) doctor::look_at_inventory(found, findings);
  if (inventories.empty()) {
    findings.push_back({doctor::Level::note, "GPUs", "none found on this host",
                        "If there is one, see that /sys and /proc are those of the host."});
  }
  doctor::look_at_iommu(tree, inventories, findings);
  doctor::look_at_engines(tree, options, inventories, findings);
  doctor::look_at_specs(tree, inventories, options.spec_dirs, findings);
  doctor::look_at_char_links(tree, inventories, findings);
  doctor::look_at_selinux(tree, findings);
  return findings;
}

}  // namespace prepare

#endif  // CDI_PREPARE_DOCTOR_DOCTOR_HPP
