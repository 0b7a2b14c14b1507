// Calls of gRPC methods on unix sockets, with encoded messages.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/result.hpp>

namespace dra {

/// Calls a method by its path, "/PACKAGE.SERVICE/METHOD", and returns the encoded answer.
/// `Errc::system` if the socket cannot be reached, `Errc::timeout` without an answer in time,
/// `Errc::unsupported` if the server does not know the method, `Errc::host` for its other errors.
cdi::Result<std::string> call_method(const std::string& socket, const std::string& method,
                                     std::string_view request, std::chrono::milliseconds timeout);

/// The same with messages: `Answer` is the type of the answer.
template <class Answer, class Request>
cdi::Result<Answer> call_method(const std::string& socket, const std::string& method,
                                const Request& request, std::chrono::milliseconds timeout) {
  auto answer = call_method(socket, method, std::string_view{request.SerializeAsString()}, timeout);
  if (!answer) return std::move(answer).error();
  Answer out;
  if (out.ParseFromArray(answer->data(), static_cast<int>(answer->size()))) return out;
  return cdi::Error{.code = cdi::Errc::syntax,
                    .message = "the answer of " + method + " cannot be decoded",
                    .position = {.file = socket}};
}

}  // namespace dra
