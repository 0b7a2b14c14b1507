// A message of the kernel that is read has all its parts, which are in the message.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>

#include "../../tools/gpu/host/uevents.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = fuzz::text_of(data, size);
  const auto event = prepare::parse_uevent(message);
  if (!event) return 0;
  for (const auto& part : {event->action, event->devpath, event->subsystem}) {
    fuzz::require(!part.empty() && message.find(part) != message.npos, "a part is in the message");
  }
  fuzz::require(event->name().find('/') == std::string_view::npos, "a name is one part of a path");
  return 0;
}
