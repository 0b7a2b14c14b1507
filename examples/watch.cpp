// Prints the devices in spec directories whenever they change: watch DIRECTORY...
// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <array>
#include <iostream>
#include <string>
#include <sys/epoll.h>
#include <utility>
#include <vector>

#include <cdi/cache.hpp>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: watch DIRECTORY...\n";
    return 2;
  }
  const std::vector<std::string> dirs{argv + 1, argv + argc};
  cdi::Cache cache{dirs, {.freshness = cdi::Freshness::watched}};
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event interest{.events = EPOLLIN, .data = {.fd = cache.descriptor()}};
  if (::epoll_ctl(loop, EPOLL_CTL_ADD, cache.descriptor(), &interest) != 0) {
    std::cerr << "cannot watch: inotify is not available\n";
    return 1;
  }
  std::vector<std::string> known;
  for (;;) {
    auto devices = cache.registry()->devices();
    if (devices != known) {
      std::cout << "devices:";
      for (const auto& name : devices) std::cout << ' ' << name;
      std::cout << std::endl;
      known = std::move(devices);
    }
    std::array<epoll_event, 8> events{};
    ::epoll_wait(loop, events.data(), events.size(), 1000);  // ms: see docs/cache.md
  }
}
