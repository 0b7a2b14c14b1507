// A gRPC server on unix sockets, whose methods take and return encoded messages.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/result.hpp>

#include "../../kit/base/one_line.hpp"

// gRPC's own headers are in grpc_server.cpp only: they take long to compile.
//
//     dra::Methods methods;
//     methods.add("/v1beta1.DevicePlugin/Allocate", [&](std::string_view request, dra::Call& call)
//     {
//       return dra::answer<AllocateRequest>(request, [&](const AllocateRequest& asked) {...});
//     });
//     methods.add_stream("/v1beta1.DevicePlugin/ListAndWatch", [&](auto, dra::StreamPointer stream)
//     {
//       streams.push_back(std::move(stream));
//     });
//     auto server = dra::GrpcServer::listen(path, methods);

namespace dra {

/// The text of an error for the kubelet: valid UTF-8, because it would drop the whole answer
/// otherwise, and short, because pod events keep 1024 bytes.
inline std::string text_for_kubelet(const cdi::Error& error) {
  return tools::one_line(to_string(error), 1000);
}

/// A call of a method. Valid until its handler returns.
class Call {
 public:
  using Clock = std::chrono::steady_clock;

  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  /// Whether the caller cancelled the call or is gone, or the deadline has passed: the answer will
  /// not be read, and the caller may already have requested the opposite.
  virtual bool is_dead() const = 0;

  /// When the caller stops waiting; `Clock::time_point::max()` if it never does.
  virtual Clock::time_point deadline() const = 0;
};

/// A stream of messages to one caller. Each message has the complete state. Any thread may call all
/// functions, even after the caller is gone.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// Sends a message. It replaces a message that the caller has not read yet. Returns false if the
  /// caller is gone; then the stream can be dropped.
  virtual bool send(std::string message) = 0;

  /// Whether the caller is still there.
  virtual bool is_open() const = 0;

  /// Ends the stream after the last message.
  virtual void end() = 0;
};
using StreamPointer = std::shared_ptr<Stream>;

/// The methods of a server. An error or exception of a handler becomes the status of the call.
class Methods {
 public:
  /// Returns the encoded answer. Handlers are called by several threads, and may wait.
  using Handler = std::function<cdi::Result<std::string>(std::string_view request, Call& call)>;

  /// Keeps the stream, and sends its first message. Must not wait.
  using StreamHandler = std::function<void(std::string_view request, StreamPointer stream)>;

  /// Adds a method by its path: "/PACKAGE.SERVICE/METHOD".
  void add(std::string path, Handler handler) {
    handlers_.insert_or_assign(std::move(path), std::move(handler));
  }

  /// Adds a method that answers with a stream.
  void add_stream(std::string path, StreamHandler handler) {
    streams_.insert_or_assign(std::move(path), std::move(handler));
  }

  /// The handler of a method; null if there is none.
  const Handler* find(const std::string& path) const { return find_in(handlers_, path); }
  const StreamHandler* find_stream(const std::string& path) const {
    return find_in(streams_, path);
  }

 private:
  template <class Map>
  static auto find_in(const Map& map, const std::string& path) -> decltype(&map.begin()->second) {
    const auto found = map.find(path);
    return found == map.end() ? nullptr : &found->second;
  }

  std::map<std::string, Handler> handlers_{};
  std::map<std::string, StreamHandler> streams_{};
};

/// A server on one unix socket. It ends when the object is destroyed: calls in progress have
/// `grace` to end, and the socket file is removed.
class GrpcServer {
 public:
  /// How long calls in progress have to end.
  static constexpr std::chrono::seconds grace{1};

  /// Serves on a socket, which only this user can open. Servers can share methods, which must
  /// outlive them. Removes a socket without a server at the path; `Errc::conflict` for a served
  /// socket or another file. `Errc::invalid` if the path is too long for a socket, which is 107
  /// bytes.
  static cdi::Result<std::unique_ptr<GrpcServer>> listen(const std::string& path,
                                                         const Methods& methods);

  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;
  ~GrpcServer();

  const std::string& path() const;

  /// Whether the socket file still belongs to this server: a starting kubelet removes the files of
  /// some directories.
  bool has_file() const;

 private:
  struct Parts;
  explicit GrpcServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// Decodes a request, and encodes the answer that `act` returns, a `Message` or a `Result` of one.
template <class Request, class Act>
cdi::Result<std::string> answer(std::string_view request, const Act& act) {
  Request decoded;
  if (!decoded.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    return cdi::Error{.code = cdi::Errc::syntax, .message = "the request cannot be decoded"};
  }
  const auto made = act(decoded);
  if constexpr (requires { made.error(); }) {
    return made ? cdi::Result<std::string>{made->SerializeAsString()} : made.error();
  } else {
    return made.SerializeAsString();
  }
}

}  // namespace dra
