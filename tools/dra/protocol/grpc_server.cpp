// The gRPC server, on gRPC's generic service: methods are found by their path.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "grpc_server.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include <cdi/files/descriptor.hpp>
#include <cdi/result.hpp>

#include "acceptor.hpp"
#include "byte_buffer.hpp"
#include "unix_socket.hpp"
#include "workers.hpp"

namespace dra {

namespace {

grpc::StatusCode code_of(cdi::Errc code) {
  switch (code) {
    case cdi::Errc::syntax:
    case cdi::Errc::schema:
    case cdi::Errc::invalid:
    case cdi::Errc::invalid_name: return grpc::StatusCode::INVALID_ARGUMENT;
    case cdi::Errc::not_found: return grpc::StatusCode::NOT_FOUND;
    case cdi::Errc::conflict: return grpc::StatusCode::FAILED_PRECONDITION;
    case cdi::Errc::limit: return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case cdi::Errc::denied: return grpc::StatusCode::PERMISSION_DENIED;
    case cdi::Errc::timeout: return grpc::StatusCode::DEADLINE_EXCEEDED;
    case cdi::Errc::unsupported:
    case cdi::Errc::host:
    case cdi::Errc::system: break;
  }
  return grpc::StatusCode::INTERNAL;
}

grpc::Status status_of(const cdi::Error& error) {
  return {code_of(error.code), text_for_kubelet(error)};
}

grpc::Status no_request() {
  return {grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"};
}

grpc::Status no_thread() {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the system starts no thread"};
}

Call::Clock::time_point deadline_of(const grpc::CallbackServerContext& context) {
  using System = std::chrono::system_clock;
  constexpr std::chrono::hours far{24 * 365};
  const auto left = context.deadline() - System::now();
  const bool waits = context.deadline() == System::time_point::max() || left > far;
  return waits ? Call::Clock::time_point::max()
               : Call::Clock::now() + std::chrono::duration_cast<Call::Clock::duration>(left);
}

/// Rejects a call of an unknown method.
class Unknown : public grpc::ServerGenericBidiReactor {
 public:
  explicit Unknown(const std::string& method) {
    Finish({grpc::StatusCode::UNIMPLEMENTED, "unknown method " + cdi::quoted(method)});
  }
  void OnDone() override { delete this; }
};

/// A call with one answer.
class Unary : public grpc::ServerGenericBidiReactor, public Call {
 public:
  Unary(const grpc::CallbackServerContext& context, const Methods::Handler& handler,
        Workers& workers)
      : deadline_{deadline_of(context)}, handler_{handler}, workers_{workers} {
    StartRead(&request_);
  }

  bool is_dead() const override { return cancelled_ || deadline_ <= Clock::now(); }
  Clock::time_point deadline() const override { return deadline_; }

  void OnReadDone(bool read) override {
    if (!read) return Finish(no_request());
    if (!workers_.run([this] { answer(); })) Finish(no_thread());
  }
  void OnCancel() override { cancelled_ = true; }
  void OnDone() override { delete this; }

 private:
  void answer() {
    if (is_dead()) return Finish({grpc::StatusCode::CANCELLED, "the caller no longer waits"});
    const auto status = make_answer();
    if (!status.ok()) return Finish(status);
    StartWriteAndFinish(&answer_, {}, status);
  }

  /// Runs the handler. An exception fails only this call, instead of ending the program.
  grpc::Status make_answer() {
    try {
      const auto made = handler_(text_of(request_), *this);
      if (!made) return status_of(made.error());
      answer_ = buffer_of(*made);
      return grpc::Status::OK;
    } catch (const std::exception& error) {
      return {grpc::StatusCode::INTERNAL, error.what()};
    }
  }

  const Clock::time_point deadline_;
  const Methods::Handler& handler_;
  Workers& workers_;
  std::atomic<bool> cancelled_ = false;
  grpc::ByteBuffer request_{};
  grpc::ByteBuffer answer_{};
};

class StreamCall;

/// The stream of a handler, which may outlive its call.
class OpenStream : public Stream {
 public:
  explicit OpenStream(StreamCall& call) : call_{&call} {}

  bool send(std::string message) override;
  bool is_open() const override;
  void end() override {
    change([&] { ends_ = true; });
  }
  void fail(const char* message);
  void written() {
    change([&] { writes_ = false; });
  }
  void gone();

 private:
  /// Changes the members under the lock, and carries out the next step.
  template <class Change>
  void change(const Change& change);

  /// The next step, chosen under the lock and carried out without it.
  struct Step {
    StreamCall* writes = nullptr;
    StreamCall* finishes = nullptr;
  };
  Step next();
  void take(const Step& step);

  mutable std::mutex mutex_{};
  StreamCall* call_;  // null once it finishes
  std::optional<std::string> waiting_{};
  grpc::ByteBuffer message_{};  // being written
  grpc::Status status_{};       // of the call when it finishes
  bool writes_ = false;
  bool ends_ = false;
};

/// A call with a stream of answers.
class StreamCall : public grpc::ServerGenericBidiReactor {
 public:
  explicit StreamCall(const Methods::StreamHandler& handler)
      : handler_{handler}, stream_{std::make_shared<OpenStream>(*this)} {
    StartRead(&request_);
  }

  void OnReadDone(bool read) override {
    if (!read) return stream_->end();
    try {
      handler_(text_of(request_), stream_);
    } catch (const std::exception& error) {
      stream_->fail(error.what());
    }
  }
  void OnWriteDone(bool) override {
    try {
      stream_->written();
    } catch (const std::exception& error) {
      stream_->fail(error.what());
    }
  }
  void OnCancel() override { stream_->gone(); }
  void OnDone() override { delete this; }

 private:
  const Methods::StreamHandler& handler_;
  std::shared_ptr<OpenStream> stream_;
  grpc::ByteBuffer request_{};
};

bool OpenStream::send(std::string message) {
  bool is_taken = false;
  change([&] {
    is_taken = call_ != nullptr && !ends_;
    if (is_taken) waiting_ = std::move(message);
  });
  return is_taken;
}

bool OpenStream::is_open() const {
  const std::lock_guard lock{mutex_};
  return call_ != nullptr && !ends_;
}

void OpenStream::fail(const char* message) {
  change([&] {
    if (call_ == nullptr) return;  // it finishes: another thread reads the status
    status_ = {grpc::StatusCode::INTERNAL, message};
    waiting_.reset();
    ends_ = true;
  });
}

void OpenStream::gone() {
  change([&] {
    waiting_.reset();
    ends_ = true;
  });
}

template <class Change>
void OpenStream::change(const Change& change) {
  std::unique_lock lock{mutex_};
  change();
  const auto step = next();
  lock.unlock();
  take(step);
}

/// The call does not finish while a message is being written. Once it finishes, nothing is written.
OpenStream::Step OpenStream::next() {
  if (call_ == nullptr || writes_) return {};
  if (waiting_) {
    message_ = buffer_of(*waiting_);
    waiting_.reset();
    writes_ = true;
    return {.writes = call_};
  }
  if (!ends_) return {};
  return {.finishes = std::exchange(call_, nullptr)};
}

void OpenStream::take(const Step& step) {
  if (step.writes != nullptr) step.writes->StartWrite(&message_);
  if (step.finishes != nullptr) step.finishes->Finish(status_);
}

/// Finds the method of each call.
class Service : public grpc::CallbackGenericService {
 public:
  explicit Service(const Methods& methods) : methods_{methods} {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const auto& method = context->method();
    if (const auto* const handler = methods_.find(method)) {
      return new Unary{*context, *handler, workers_of(*handler)};
    }
    if (const auto* const handler = methods_.find_stream(method)) return new StreamCall{*handler};
    return new Unknown{method};
  }

 private:
  /// Each method has its own threads, so that no call waits for another method's calls, which may
  /// wait for the API server.
  Workers& workers_of(const Methods::Handler& handler) {
    const std::lock_guard lock{mutex_};
    return workers_[&handler];
  }

  const Methods& methods_;
  std::mutex mutex_{};
  std::map<const Methods::Handler*, Workers> workers_{};
};

/// Listens on a socket that only this user can open.
cdi::Result<cdi::Descriptor> listen_on(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  if (auto gone = remove_stale(path, *address); !gone) return std::move(gone).error();
  cdi::Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const auto* const any = reinterpret_cast<const sockaddr*>(&*address);
  const bool listens = socket && ::fchmod(socket.get(), 0600) == 0 &&  // of the file, in Linux
                       ::bind(socket.get(), any, sizeof *address) == 0 &&
                       ::listen(socket.get(), SOMAXCONN) == 0;
  if (listens) return socket;
  return cdi::file_error(path, "cannot listen on the socket");
}

}  // namespace

struct GrpcServer::Parts {
  Parts(std::string the_path, const Methods& methods)
      : path{std::move(the_path)}, service{methods} {}

  std::string path;
  Service service;
  std::unique_ptr<grpc::Server> server{};
  std::optional<Acceptor> acceptor{};
  struct stat file = {};
};

GrpcServer::GrpcServer(std::unique_ptr<Parts> parts) : parts_{std::move(parts)} {}

GrpcServer::~GrpcServer() {
  if (has_file()) ::unlink(parts_->path.c_str());
  parts_->acceptor.reset();
  parts_->server->Shutdown(std::chrono::system_clock::now() + grace);
  parts_->server->Wait();
}

const std::string& GrpcServer::path() const {
  return parts_->path;
}

bool GrpcServer::has_file() const {
  struct stat now = {};
  return ::lstat(parts_->path.c_str(), &now) == 0 && now.st_dev == parts_->file.st_dev &&
         now.st_ino == parts_->file.st_ino;
}

cdi::Result<std::unique_ptr<GrpcServer>> GrpcServer::listen(const std::string& path,
                                                            const Methods& methods) {
  std::error_code failed;
  auto parts = std::make_unique<Parts>(std::filesystem::absolute(path, failed).string(), methods);
  cdi::Descriptor ends{::eventfd(0, EFD_CLOEXEC)};
  if (!ends) return cdi::file_error("eventfd", "cannot serve a socket");
  auto socket = listen_on(parts->path);
  if (!socket) return std::move(socket).error();
  if (::lstat(parts->path.c_str(), &parts->file) != 0) {
    return cdi::file_error(parts->path, "cannot read the file");
  }
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&parts->service);
  builder.SetMaxReceiveMessageSize(largest_message);
  parts->server = builder.BuildAndStart();
  try {
    if (parts->server) {
      parts->acceptor.emplace(*std::move(socket), std::move(ends), *parts->server);
      return std::unique_ptr<GrpcServer>{new GrpcServer{std::move(parts)}};
    }
  } catch (const std::system_error&) {
    // As if there were no server.
  }
  ::unlink(parts->path.c_str());
  return cdi::Error{.code = cdi::Errc::system,
                    .message = "the system starts no thread for a server",
                    .position = {.file = parts->path}};
}

}  // namespace dra
