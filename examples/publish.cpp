// Publishes the spec of a driver with one device: publish DIRECTORY NODE
#include <iostream>
#include <string>

#include <cdi/publish.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: publish DIRECTORY NODE\n";
    return 2;
  }
  cdi::Device device{.name = "0"};
  device.container_edits.device_nodes = {{.path = argv[2]}};
  device.container_edits.env = {std::string{"WIDGET="} + argv[2]};
  const cdi::Spec spec{.kind = "vendor.com/widget", .devices = {device}};

  // Writes what differs, and removes what this owner published before and no longer has.
  const cdi::Publisher publisher{"driver.vendor.com", argv[1]};
  const auto done = publisher.reconcile({{"vendor.com-widget.yaml", spec}});
  if (!done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  for (const auto& error : done->errors) std::cerr << to_string(error) << '\n';
  for (const auto& file : done->files) {
    const bool changed = file.action != cdi::Publication::Action::unchanged;
    std::cout << file.path << (changed ? ": changed" : ": unchanged") << '\n';
  }
  return done->errors.empty() ? 0 : 1;
}
