// Converts texts to and from gRPC's buffers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <string>
#include <string_view>
#include <vector>

namespace dra {

/// The largest message, which is also gRPC's default.
inline constexpr int largest_message = 4 << 20;

inline std::string text_of(const grpc::ByteBuffer& buffer) {
  std::string out;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return out;
  for (const auto& slice : slices) {
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return out;
}

inline grpc::ByteBuffer buffer_of(std::string_view text) {
  const grpc::Slice slice{text.data(), text.size()};
  return {&slice, 1};
}

}  // namespace dra
