// An OCI config as JSON text, read into the typed model, edited and written again.
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <iostream>
#include <iterator>

#include <cdi/json.hpp>
#include <cdi/oci.hpp>
#include <cdi/oci/spec.hpp>

int main() {
  const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
  auto config = cdi::read_json<cdi::oci::Spec>(text);
  if (!config) {
    std::cerr << to_string(config.error()) << '\n';
    return 1;
  }
  const cdi::ContainerEdits edits{.env = {"GPU=0"}};
  if (const auto done = edits.apply(*config); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return 1;
  }
  const auto out = cdi::write_json(*config);
  if (!out) {
    std::cerr << to_string(out.error()) << '\n';
    return 1;
  }
  std::cout << *out << '\n';
}
