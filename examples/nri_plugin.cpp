// An NRI plugin: tells each container on which node it runs, and prints those that start.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstdio>
#include <string>
#include <unistd.h>

#include "../tools/nri/protocol/nri.hpp"

namespace {

std::string host_name() {
  char name[256] = "";
  ::gethostname(&name[0], sizeof name - 1);
  return &name[0];
}

/// Sets NODE_NAME. An error would keep the container from being created.
cdi::Result<void> add_node_name(const nri::CreateContainerRequest&,
                                nri::CreateContainerResponse& response) {
  auto& variable = *response.mutable_adjust()->add_env();
  variable.set_key("NODE_NAME");
  variable.set_value(host_name());
  return {};
}

cdi::Result<void> print_start(const nri::PodSandbox& pod, const nri::Container& container) {
  std::printf("%s/%s: %s starts\n", pod.namespace_().c_str(), pod.name().c_str(),
              container.name().c_str());
  std::fflush(stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  nri::Plugin plugin{.name = "node-name", .index = "20"};
  nri::use_launched_name(plugin);
  plugin.create_container = add_node_name;
  plugin.events[nri::START_CONTAINER] = print_start;
  const auto done = nri::serve(plugin, {.socket = argc > 1 ? argv[1] : nri::default_socket});
  if (done) return 0;
  std::fprintf(stderr, "node-name: %s\n", to_string(done.error()).c_str());
  return 1;
}
