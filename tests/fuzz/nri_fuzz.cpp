// A session of NRI takes any bytes: it answers, or fails, and never says more than ten times what
// came. The same bytes in small pieces mean the same. An input is what a runtime sends.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../tools/nri/protocol/session.hpp"
#include "../../tools/nri/requests.hpp"
#include "fuzz.hpp"

namespace {

/// What a session has sent, and how it ended.
struct Outcome {
  std::string sent{};
  std::string error{};

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A plugin that answers with the devices that a container requests.
nri::Plugin plugin_under_test() {
  nri::Plugin plugin{.name = "fuzz"};
  plugin.configure = [](const auto&) {
    return cdi::Result<void>{};
  };
  plugin.create_container = [](const auto& request, auto& response) -> cdi::Result<void> {
    static const auto families = nri::annotation_families({});
    const auto devices = nri::pod_requests(request.pod(), request.container(), families);
    if (!devices) return devices.error();
    for (const auto& device : *devices) {
      response.mutable_adjust()->add_cdi_devices()->set_name(device.name);
    }
    return {};
  };
  return plugin;
}

Outcome outcome_of(std::string_view bytes, std::size_t size) {
  const auto plugin = plugin_under_test();
  nri::Session session{plugin};
  Outcome outcome;
  for (; !bytes.empty() && outcome.error.empty();
       bytes.remove_prefix(std::min(size, bytes.size()))) {
    if (auto done = session.receive(bytes.substr(0, size)); !done) {
      outcome.error = to_string(done.error());
    }
    outcome.sent += session.take_output();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::text_of(data, size);
  const auto whole = outcome_of(bytes, bytes.size() + 1);
  fuzz::require(whole.sent.size() <= 1000 + 10 * bytes.size(), "an answer has a limit");
  if (whole.error.empty()) {
    fuzz::require(outcome_of(bytes, 1) == whole, "pieces of one byte mean the same");
    fuzz::require(outcome_of(bytes, 7) == whole, "pieces of seven bytes mean the same");
  }
  return 0;
}
