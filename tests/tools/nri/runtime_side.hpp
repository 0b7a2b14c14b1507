// The runtime's side of an NRI session, for tests.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../../../tools/nri/protocol/session.hpp"

/// What a plugin has sent: its calls and its answers, by stream.
struct Sent {
  std::map<std::uint32_t, nri::ttrpc::Request> calls{};
  std::map<std::uint32_t, nri::ttrpc::Response> answers{};
};

/// The messages in the bytes that a plugin sends.
inline Sent read_sent(std::string_view bytes) {
  Sent sent;
  nri::Demultiplexer sockets;
  nri::FrameReader answers;
  nri::FrameReader calls;
  const auto done = sockets.add(bytes, [&](nri::Connection connection, std::string_view piece) {
    const bool answer = connection == nri::Connection::plugin;
    return (answer ? answers : calls).add(piece, [&](const nri::Frame& frame) {
      const std::string data{frame.data};
      CHECK(frame.type == (answer ? nri::FrameType::response : nri::FrameType::request));
      CHECK((answer ? sent.answers[frame.stream].ParseFromString(data)
                    : sent.calls[frame.stream].ParseFromString(data)));
      return cdi::Result<void>{};
    });
  });
  CHECK(done);
  return sent;
}

/// The bytes of a runtime's call.
inline std::string call_bytes(std::uint32_t stream, std::string_view method,
                              std::string_view payload,
                              std::string_view service = "nri.pkg.api.v1alpha1.Plugin") {
  nri::ttrpc::Request request;
  request.set_service(std::string{service});
  request.set_method(std::string{method});
  request.set_payload(std::string{payload});
  std::string out;
  nri::multiplex(out, nri::Connection::plugin,
                 nri::frame_bytes(stream, nri::FrameType::request, request.SerializeAsString()));
  return out;
}

/// The bytes of a runtime's answer.
inline std::string answer_bytes(std::uint32_t stream, std::string_view data) {
  std::string out;
  nri::multiplex(out, nri::Connection::runtime,
                 nri::frame_bytes(stream, nri::FrameType::response, data));
  return out;
}

/// Gives `bytes` to a session, and returns its answer to the call of a stream.
inline nri::ttrpc::Response answer_to(nri::Session& session, std::uint32_t stream,
                                      std::string_view bytes) {
  CHECK(session.receive(bytes));
  return read_sent(session.take_output()).answers[stream];
}
