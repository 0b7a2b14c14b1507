// The gRPC client, on gRPC's generic stub.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "grpc_client.hpp"

#include <cerrno>
#include <chrono>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "byte_buffer.hpp"
#include "unix_socket.hpp"

namespace dra {

namespace {

cdi::Errc code_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::DEADLINE_EXCEEDED: return cdi::Errc::timeout;
    case grpc::StatusCode::UNIMPLEMENTED: return cdi::Errc::unsupported;
    case grpc::StatusCode::UNAVAILABLE: return cdi::Errc::system;
    default: return cdi::Errc::host;
  }
}

/// Why a socket cannot be reached; nothing if it can.
std::optional<cdi::Error> fault_in(const std::string& socket) {
  const auto address = address_of(socket);
  if (!address) return address.error();
  const cdi::Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto* const any = reinterpret_cast<const sockaddr*>(&*address);
  if (probe && ::connect(probe.get(), any, sizeof *address) == 0) return std::nullopt;
  if (errno != ENOENT && errno != ECONNREFUSED) {
    return cdi::file_error(socket, "cannot connect to the socket");
  }
  return cdi::Error{.code = cdi::Errc::system,
                    .message = "no program serves this socket",
                    .position = {.file = socket}};
}

cdi::Error error_of(const grpc::Status& status, const std::string& socket,
                    const std::string& method) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    if (auto fault = fault_in(socket)) return *std::move(fault);
  }
  return {.code = code_of(status.error_code()),
          .message = method + ": " + status.error_message(),
          .position = {.file = socket}};
}

}  // namespace

cdi::Result<std::string> call_method(const std::string& socket, const std::string& method,
                                     std::string_view request, std::chrono::milliseconds timeout) {
  grpc::ChannelArguments settings;
  settings.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  settings.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // no connection of an earlier server
  settings.SetMaxReceiveMessageSize(largest_message);
  const auto channel =
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), settings);
  grpc::GenericStub stub{channel};
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  context.set_authority("localhost");
  grpc::CompletionQueue queue;
  grpc::ByteBuffer answer;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, buffer_of(request), &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool good = false;
  if (!queue.Next(&tag, &good)) status = {grpc::StatusCode::INTERNAL, "the call was not finished"};
  if (!status.ok()) return error_of(status, socket, method);
  return text_of(answer);
}

}  // namespace dra
