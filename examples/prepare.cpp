// A prepare step: finds the GPUs of a host, and writes specs for them and for claims, as a DRA
// driver for Kubernetes does in NodePrepareResources. Prints the device names for the kubelet.
// usage: prepare ROOT DIRECTORY              the GPUs of the host whose root is ROOT
//        prepare ROOT DIRECTORY UID GPU...   some of them for a claim; none: the claim has ended
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <cdi/publish.hpp>

namespace {

namespace fs = std::filesystem;

using Edits = cdi::ContainerEdits;

// Each owner has its own files: neither owner removes files of the other.
constexpr const char* gpu_owner = "prepare.example.com/gpus";
constexpr const char* claim_owner = "prepare.example.com/claims";

std::string first_line(const fs::path& path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  return line;
}

/// Adds a node that the host has. Engines look up its numbers when a container starts.
void add_node(const fs::path& root, const std::string& path, Edits& edits) {
  if (fs::exists(root / path.substr(1))) edits.device_nodes.push_back({.path = path});
}

/// The number of an NVIDIA GPU's node, which its driver tells; empty without a driver.
std::string nvidia_minor(const fs::path& root, const std::string& address) {
  std::ifstream file{root / "proc/driver/nvidia/gpus" / address / "information"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Device Minor:")) return line.substr(line.find_last_of(" \t") + 1);
  }
  return {};
}

/// The edits for a PCI device; without nodes if it is no GPU, or has no driver.
Edits edits_of(const fs::path& root, const fs::path& device) {
  Edits edits;
  const auto vendor = first_line(device / "vendor");
  const auto pci_class = first_line(device / "class");
  const bool is_gpu = pci_class.starts_with("0x03") || pci_class.starts_with("0x12");
  const bool is_known = vendor == "0x10de" || vendor == "0x1002" || vendor == "0x8086";
  if (!is_gpu || !is_known || !fs::is_symlink(device / "driver")) return edits;
  if (vendor == "0x10de") {
    const auto minor = nvidia_minor(root, device.filename().string());
    if (minor.empty()) return edits;
    for (const auto& name :
         {minor, std::string{"ctl"}, std::string{"-uvm"}, std::string{"-uvm-tools"}}) {
      add_node(root, "/dev/nvidia" + name, edits);
    }
  }
  if (vendor == "0x1002") add_node(root, "/dev/kfd", edits);
  if (fs::is_directory(device / "drm")) {
    for (const auto& node : fs::directory_iterator{device / "drm"}) {
      add_node(root, "/dev/dri/" + node.path().filename().string(), edits);
    }
  }
  std::sort(edits.device_nodes.begin(), edits.device_nodes.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return edits;
}

/// The GPUs of a host, in the order of their PCI addresses, which are the same after a reboot.
std::vector<cdi::Device> find_gpus(const fs::path& root) {
  std::map<std::string, Edits> found;
  const auto all = root / "sys/bus/pci/devices";
  if (!fs::is_directory(all)) return {};
  for (const auto& device : fs::directory_iterator{all}) {
    auto edits = edits_of(root, device.path());
    if (!edits.device_nodes.empty()) found[device.path().filename().string()] = std::move(edits);
  }
  std::vector<cdi::Device> gpus;
  for (auto& [address, edits] : found) {
    gpus.push_back({.name = std::to_string(gpus.size()),
                    .annotations = {{"example.com/pci", address}},
                    .container_edits = std::move(edits)});
  }
  return gpus;
}

int fail(const std::string& why) {
  std::cerr << "prepare: " << why << '\n';
  return 1;
}

std::string file_of_claim(const std::string& uid) {
  return "example.com-claim_" + uid + ".yaml";
}

/// NodePrepareResources for one claim: writes a spec of the wanted GPUs, and prints its devices.
int prepare(const std::string& directory, const std::string& uid,
            const std::vector<cdi::Device>& gpus, const std::vector<std::string>& wanted) {
  cdi::Spec spec{.kind = "example.com/claim"};
  for (const auto& name : wanted) {
    const auto gpu =
        std::find_if(gpus.begin(), gpus.end(), [&](const auto& one) { return one.name == name; });
    if (gpu == gpus.end()) return fail("this host has no GPU " + name);
    spec.devices.push_back(*gpu);
    spec.devices.back().name = uid + "-" + name;
  }
  const cdi::Publisher claims{claim_owner, directory};
  const auto done = claims.write(file_of_claim(uid), spec);
  if (!done) return fail(to_string(done.error()));
  for (const auto& device : spec.devices) std::cout << spec.kind << '=' << device.name << '\n';
  return 0;
}

/// NodeUnprepareResources for one claim.
int unprepare(const std::string& directory, const std::string& uid) {
  const auto done = cdi::Publisher{claim_owner, directory}.remove(file_of_claim(uid));
  return done ? 0 : fail(to_string(done.error()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() < 2) {
    std::cerr << "usage: prepare ROOT DIRECTORY [UID GPU...]\n";
    return 2;
  }
  if (words.size() == 3) return unprepare(words[1], words[2]);
  const auto gpus = find_gpus(words[0]);
  if (words.size() > 3) return prepare(words[1], words[2], gpus, {words.begin() + 3, words.end()});
  if (gpus.empty()) return fail("no GPU with a driver in " + words[0]);
  const cdi::Spec spec{.kind = "example.com/gpu", .devices = gpus};
  const auto done = cdi::Publisher{gpu_owner, words[1]}.write("example.com-gpu.yaml", spec);
  if (!done) return fail(to_string(done.error()));
  for (const auto& gpu : gpus) std::cout << spec.kind << '=' << gpu.name << '\n';
  return 0;
}
