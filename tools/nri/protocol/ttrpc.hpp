// ttrpc, the remote procedure calls of containerd: frames, calls and answers.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <optional>
#include <string>
#include <string_view>
#include <ttrpc.pb.h>
#include <utility>

#include <cdi/result.hpp>

#include "multiplexer.hpp"

namespace nri {

/// The kinds of frames. NRI has no data streams.
enum class FrameType : std::uint8_t { request = 1, response = 2, data = 3 };

/// One frame, valid until the reader takes more bytes.
struct Frame {
  std::uint32_t stream = 0;  // the same in a call and its answer; odd, chosen by the caller
  FrameType type{};
  std::string_view data{};
};

/// Joins the bytes of one connection to frames.
class FrameReader {
 public:
  /// Takes the next bytes, in pieces of any size, and calls `receive(frame)` for each frame. Fails
  /// with `Errc::syntax` for a length over the limit, and with the error of `receive`. Holds at
  /// most one frame, and no memory for it before its bytes come.
  template <class Receive>
  cdi::Result<void> add(std::string_view bytes, Receive&& receive) {
    while (!bytes.empty()) {
      const auto wanted = bytes_.size() < message_header ? message_header : length();
      const auto taken = std::min(wanted - bytes_.size(), bytes.size());
      bytes_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (bytes_.size() < message_header) return {};
      if (length() > max_message + message_header) {
        return detail::broken_stream("a message of " + std::to_string(length()) +
                                     " bytes is too long");
      }
      bytes_.reserve(length());  // pages that no byte reaches cost nothing
      if (bytes_.size() < length()) continue;
      const std::string_view text{bytes_};
      cdi::Result<void> done = receive(Frame{.stream = detail::number_at(text.substr(4)),
                                             .type = FrameType{static_cast<unsigned char>(text[8])},
                                             .data = text.substr(message_header)});
      if (!done) return done;
      bytes_.clear();
      if (bytes_.capacity() > kept_capacity) bytes_ = {};
    }
    return {};
  }

 private:
  static constexpr std::size_t kept_capacity = 1 << 16;

  std::size_t length() const { return detail::number_at(bytes_) + message_header; }

  std::string bytes_{};
};

/// The bytes of a frame.
inline std::string frame_bytes(std::uint32_t stream, FrameType type, std::string_view data) {
  std::string out;
  out.reserve(message_header + data.size());
  detail::append_number(out, static_cast<std::uint32_t>(data.size()));
  detail::append_number(out, stream);
  out += static_cast<char>(type);
  out += '\0';  // flags
  return out.append(data);
}

/// A call. Its texts are valid as long as the frame.
struct Call {
  std::string_view service{};
  std::string_view method{};
  std::string_view payload{};
};

namespace detail {

/// Reads the members of a message in place: `member(number, type, input)` returns false for one
/// that it does not read. Messages of the runtime may have 4 MiB, so they are not copied.
template <class Member>
bool read_members(std::string_view data, Member&& member) {
  using Wire = google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream input{reinterpret_cast<const std::uint8_t*>(data.data()),
                                               static_cast<int>(data.size())};
  while (const auto tag = input.ReadTag()) {
    const bool read = member(Wire::GetTagFieldNumber(tag), Wire::GetTagWireType(tag), input);
    if (!read && !Wire::SkipField(&input, tag)) return false;
  }
  return input.ConsumedEntireMessage();
}

/// The bytes of a member of known length; nothing if they are cut off.
inline std::optional<std::string_view> read_text(google::protobuf::io::CodedInputStream& input) {
  std::uint32_t size = 0;
  if (!input.ReadVarint32(&size)) return std::nullopt;
  const void* data = nullptr;
  int available = 0;
  input.GetDirectBufferPointerInline(&data, &available);
  if (size > static_cast<std::uint32_t>(std::max(available, 0))) return std::nullopt;
  if (!input.Skip(static_cast<int>(size))) return std::nullopt;
  return std::string_view{static_cast<const char*>(data), size};
}

}  // namespace detail

/// Reads a call; nothing if the frame holds none.
inline std::optional<Call> read_call(std::string_view data) {
  using Wire = google::protobuf::internal::WireFormatLite;
  Call call;
  bool whole = true;
  const auto member = [&](int number, Wire::WireType type, auto& input) {
    if (number > 3 || type != Wire::WIRETYPE_LENGTH_DELIMITED) return false;
    const auto text = detail::read_text(input);
    whole = whole && text.has_value();
    if (text) (number == 1 ? call.service : number == 2 ? call.method : call.payload) = *text;
    return text.has_value();
  };
  if (!detail::read_members(data, member) || !whole) return std::nullopt;
  return call;
}

/// The codes of errors, as in gRPC.
enum class StatusCode : std::int32_t { unknown = 2, invalid_argument = 3, unimplemented = 12 };

/// The data of a successful answer.
inline std::string done_answer(std::string payload) {
  ttrpc::Response response;
  response.set_payload(std::move(payload));
  return response.SerializeAsString();
}

/// The data of the answer to a failed call.
inline std::string failed_answer(StatusCode code, std::string message) {
  ttrpc::Response response;
  response.mutable_status()->set_code(static_cast<std::int32_t>(code));
  response.mutable_status()->set_message(std::move(message));
  return response.SerializeAsString();
}

}  // namespace nri
