// Finds a spec's devices that set a variable, without copying the text: spec_view NAME <SPEC
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <iterator>

#include <cdi/core.hpp>
#include <cdi/yaml.hpp>

// The result owns its text, because the caller does not have the document.
std::vector<cdi::Device> devices_that_set(std::string_view name, const cdi::SpecView& spec) {
  std::vector<cdi::Device> found;
  for (const cdi::DeviceView& device : spec.devices) {
    for (const std::string_view variable : device.container_edits.env) {
      if (variable.substr(0, variable.find('=')) != name) continue;
      found.push_back(cdi::copy_as<cdi::Device>(device));
      break;
    }
  }
  return found;
}

int main(int argc, char** argv) {
  const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  const auto document = cdi::parse_yaml(text, "standard input");  // YAML or JSON
  if (!document) {
    std::cerr << to_string(document.error()) << '\n';
    return 1;
  }
  const auto spec = cdi::read<cdi::SpecView>(*document);  // points into `document`
  if (!spec) {
    std::cerr << to_string(spec.error()) << '\n';
    return 1;
  }
  if (const auto good = cdi::validate(*spec); !good) {
    std::cerr << to_string(good.error()) << '\n';
    return 1;
  }
  for (const auto& device : devices_that_set(argc > 1 ? argv[1] : "", *spec)) {
    std::cout << spec->kind << '=' << device.name << '\n';
  }
}
