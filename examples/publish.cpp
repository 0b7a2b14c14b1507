// Publishes a driver's specs: one for its device, and one for each claim.
// usage: publish DIRECTORY NODE [CLAIM...]
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <map>
#include <string>

#include <cdi/publish.hpp>

namespace {

cdi::Spec spec_of(const std::string& kind, const std::string& name, const std::string& node) {
  cdi::Device device{.name = name};
  device.container_edits.device_nodes = {{.path = node}};
  device.container_edits.env = {"WIDGET=" + node};
  return {.kind = kind, .devices = {device}};
}

/// Writes the files that differ, and removes this owner's files that are no longer expected.
bool reconcile(const cdi::Publisher& publisher, const std::map<std::string, cdi::Spec>& specs) {
  const auto done = publisher.reconcile(specs);
  if (!done) {
    std::cerr << to_string(done.error()) << '\n';
    return false;
  }
  for (const auto& error : done->errors) std::cerr << to_string(error) << '\n';
  for (const auto& file : done->files) {
    std::cout << file.path << ": " << to_string(file.action) << '\n';
  }
  return done->errors.empty();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: publish DIRECTORY NODE [CLAIM...]\n";
    return 2;
  }
  const std::string dir = argv[1];
  std::map<std::string, cdi::Spec> claimed;
  for (int i = 3; i < argc; ++i) {
    const std::string claim = argv[i];
    claimed["vendor.com-claim-" + claim + ".yaml"] = spec_of("vendor.com/claim", claim, argv[2]);
  }

  const cdi::Publisher base{"driver.vendor.com/base", dir};
  const cdi::Publisher claims{"driver.vendor.com/claims", dir};
  const bool good =
      reconcile(base, {{"vendor.com-widget.yaml", spec_of("vendor.com/widget", "0", argv[2])}});
  return reconcile(claims, claimed) && good ? 0 : 1;
}
