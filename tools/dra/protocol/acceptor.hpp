// Accepts connections for a gRPC server, in a thread.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <grpcpp/server.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <cdi/files/descriptor.hpp>

namespace dra {

/// Passes the connections of a socket to a server. The socket is not gRPC's own, because gRPC would
/// remove the socket file at the end, even another process's.
class Acceptor {
 public:
  /// `ends` is an eventfd.
  Acceptor(cdi::Descriptor socket, cdi::Descriptor ends, grpc::Server& server)
      : socket_{std::move(socket)}, ends_{std::move(ends)}, server_{server}, thread_{[this] {
          accept();
        }} {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  ~Acceptor() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(ends_.get(), &one, sizeof one));
    thread_.join();
  }

 private:
  void accept() {
    constexpr int pause = 100;  // milliseconds, without free descriptors
    bool is_full = false;
    for (;;) {
      std::array<pollfd, 2> polled{pollfd{ends_.get(), POLLIN, 0},
                                   pollfd{is_full ? -1 : socket_.get(), POLLIN, 0}};
      ::poll(polled.data(), polled.size(), is_full ? pause : -1);
      if (polled[0].revents != 0) return;
      const int connection =
          ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      is_full = connection < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
      if (connection >= 0) serve(connection);
    }
  }

  void serve(int connection) {
    try {
      grpc::AddInsecureChannelFromFd(&server_, connection);
    } catch (const std::exception&) {
      // Without memory, this connection gets no answer, but others may.
    }
  }

  cdi::Descriptor socket_;
  cdi::Descriptor ends_;
  grpc::Server& server_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace dra
