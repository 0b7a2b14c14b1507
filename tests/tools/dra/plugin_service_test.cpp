// The devices that the kubelet watches.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/device_plugin/plugin_service.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace dra;

namespace {

/// A kubelet that watches.
struct Watch : Stream {
  bool send(std::string message) override {
    if (open) messages.push_back(std::move(message));
    return open;
  }
  bool is_open() const override { return open; }
  void end() override { open = false; }

  bool open = true;
  std::vector<std::string> messages{};
};

}  // namespace

TEST_CASE("dra: the streams of kubelets that are gone are not kept") {
  PluginService service{[](const auto&, const Call&) {
    return std::vector<std::string>{};
  }};
  Methods methods;
  service.add_to(methods);
  const auto* const watch = methods.find_stream("/v1beta1.DevicePlugin/ListAndWatch");
  REQUIRE(watch != nullptr);
  const auto gone = std::make_shared<Watch>();
  const auto there = std::make_shared<Watch>();
  (*watch)("", gone);
  (*watch)("", there);
  CHECK(gone.use_count() == 2);
  gone->open = false;
  (*watch)("", std::make_shared<Watch>());
  CHECK(gone.use_count() == 1);
  CHECK(there.use_count() == 2);
  CHECK(there->messages.size() == 1);
  service.set({{"gpu-0", {}}});
  CHECK(there->messages.size() == 2);
  service.end();
  CHECK(there.use_count() == 1);
  CHECK_FALSE(there->open);
}
