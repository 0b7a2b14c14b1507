// Splits the single socket between an NRI plugin and a runtime into connections.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/result.hpp>

namespace nri {

/// The connections: the runtime is the client of the first, and the plugin of the second.
enum class Connection : std::uint32_t { plugin = 1, runtime = 2 };

/// The longest message of ttrpc, without its header, in bytes.
inline constexpr std::size_t max_message = 4 << 20;
/// The length of the header of a message, in bytes.
inline constexpr std::size_t message_header = 10;

namespace detail {

/// Appends a number, the highest byte first.
inline void append_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

/// The number in the first four bytes of `text`.
inline std::uint32_t number_at(std::string_view text) {
  std::uint32_t number = 0;
  for (const char c : text.substr(0, 4)) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

/// The error after bytes that no runtime sends: the next message cannot be found.
inline cdi::Error broken_stream(std::string why) {
  return {.code = cdi::Errc::syntax,
          .message = "the peer does not speak NRI: " + std::move(why),
          .advice = "check that the socket is the NRI socket of a runtime"};
}

}  // namespace detail

/// Splits the bytes of the socket by connection.
class Demultiplexer {
 public:
  /// Takes the next bytes, in pieces of any size, and calls `receive(connection, bytes)` for each
  /// piece of a payload. Fails with `Errc::syntax` for a length over the limit, and with the error
  /// of `receive`. Payloads of unknown connections are dropped, as runtimes do.
  template <class Receive>
  cdi::Result<void> add(std::string_view bytes, Receive&& receive) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        const auto taken = std::min(header_length - header_.size(), bytes.size());
        header_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (header_.size() < header_length) return {};
        if (auto done = begin_payload(); !done) return done;
        continue;
      }
      const auto piece = bytes.substr(0, left_);
      left_ -= piece.size();
      bytes.remove_prefix(piece.size());
      if (connection_ != Connection::plugin && connection_ != Connection::runtime) continue;
      if (cdi::Result<void> done = receive(connection_, piece); !done) return done;
    }
    return {};
  }

 private:
  static constexpr std::size_t header_length = 8;

  cdi::Result<void> begin_payload() {
    connection_ = Connection{detail::number_at(header_)};
    left_ = detail::number_at(std::string_view{header_}.substr(4));
    header_.clear();
    if (left_ <= max_message + message_header) return {};
    return detail::broken_stream("a payload of " + std::to_string(left_) + " bytes is too long");
  }

  std::string header_{};
  Connection connection_{};
  std::size_t left_ = 0;  // bytes of the payload that are still to come
};

/// Appends a message for one connection to the bytes for the socket. The first frame has at most
/// 4096 bytes: a runtime reads into a buffer of this size, and fails if a frame is longer than the
/// buffer that it is reading into.
inline void multiplex(std::string& out, Connection connection, std::string_view message) {
  constexpr std::size_t first_frame = 4096;
  for (auto left = first_frame; !message.empty(); left = message.size()) {
    const auto frame = message.substr(0, left);
    detail::append_number(out, static_cast<std::uint32_t>(connection));
    detail::append_number(out, static_cast<std::uint32_t>(frame.size()));
    out += frame;
    message.remove_prefix(frame.size());
  }
}

}  // namespace nri
