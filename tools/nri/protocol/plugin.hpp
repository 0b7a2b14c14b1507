// `nri::Plugin`: the name of an NRI plugin, and its handlers of events.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nri.pb.h>
#include <string>

#include <cdi/result.hpp>

namespace nri {

using cdi::Result;

/// The version of NRI that the messages follow.
inline constexpr const char* nri_version = "0.12.5";

/// A plugin. The runtime reports the events whose functions are set, and no others. An error that a
/// function returns fails the request, and the runtime shows its message; all functions run in the
/// thread of `serve`, and the runtime waits for them, 2 seconds by default.
struct Plugin {
  std::string name{};        ///< letters, digits, `_`, `-`, `.` and `+`; not empty
  std::string index = "50";  ///< from `00` to `99`; plugins are called in this order
  /// Whether requests fail while the plugin fails or is late. Otherwise containers are created
  /// without it. Since NRI 0.12.4; older runtimes ignore it.
  bool required = false;

  /// The runtime's name and version, and the text of the plugin's file in /etc/nri/conf.d.
  std::function<Result<void>(const ConfigureRequest&)> configure{};
  /// Each pod and each container that exists when the plugin connects; then the end of the list.
  /// There may be thousands, so they are passed one by one. A runtime with many sends several
  /// parts, each with pods and then containers, so a container may come before its pod.
  std::function<void(const PodSandbox&)> existing_pod{};
  std::function<void(const Container&)> existing_container{};
  std::function<void()> synchronized{};

  std::function<Result<void>(const CreateContainerRequest&, CreateContainerResponse&)>
      create_container{};
  std::function<Result<void>(const UpdateContainerRequest&, UpdateContainerResponse&)>
      update_container{};
  std::function<Result<void>(const StopContainerRequest&, StopContainerResponse&)> stop_container{};
  /// The other events, such as `START_CONTAINER`. The container is empty in events of a pod.
  std::map<Event, std::function<Result<void>(const PodSandbox&, const Container&)>> events{};

  /// The mask of the events that the plugin handles: bit N - 1 for the event N. A mask of 0 would
  /// mean all events, so a plugin without any gets the rarest one.
  std::int32_t event_mask() const {
    std::uint32_t mask = 0;
    const auto add = [&mask](Event event) {
      if (event > UNKNOWN) mask |= 1U << (static_cast<unsigned>(event) - 1);
    };
    if (create_container) add(CREATE_CONTAINER);
    if (update_container) add(UPDATE_CONTAINER);
    if (stop_container) add(STOP_CONTAINER);
    for (const auto& [event, handler] : events) add(event);
    if (mask == 0) add(POST_UPDATE_POD_SANDBOX);
    return static_cast<std::int32_t>(mask);
  }
};

}  // namespace nri
