// The gRPC server, called by gRPC's own client.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/protocol/grpc_server.hpp"

#include <chrono>
#include <filesystem>
#include <future>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../tools/dra/protocol/unix_socket.hpp"
#include "../../../tools/dra/protocol/workers.hpp"
#include "../../support/temp_tree.hpp"

using namespace dra;

namespace {

/// A server on a socket of a folder.
struct TestServer {
  explicit TestServer(Methods the_methods) : methods{std::move(the_methods)} {
    auto listening = GrpcServer::listen(path, methods);
    REQUIRE(listening);
    server = std::move(*listening);
  }

  grpc::Status call(const std::string& method) const {
    grpc::GenericStub stub{grpc::CreateChannel("unix:" + path, grpc::InsecureChannelCredentials())};
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds{30});
    grpc::CompletionQueue queue;
    grpc::ByteBuffer answer;
    grpc::Status status;
    const grpc::Slice slice{"request"};
    const auto started = stub.PrepareUnaryCall(&context, method, {&slice, 1}, &queue);
    started->StartCall();
    started->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool good = false;
    REQUIRE(queue.Next(&tag, &good));
    return status;
  }

  TempTree tree{};
  std::string path = tree / "a.sock";
  Methods methods;
  std::unique_ptr<GrpcServer> server{};
};

std::string listen_error(const std::string& path) {
  const Methods none;
  const auto server = GrpcServer::listen(path, none);
  return server ? "" : to_string(server.error());
}

}  // namespace

TEST_CASE("dra: the text of an error is UTF-8 and short, however long its parts are") {
  cdi::Error error{.code = cdi::Errc::system, .message = "caf\xe9 caf\xc3"};
  CHECK(cdi::detail::is_utf8(dra::text_for_kubelet(error)));
  CHECK(dra::text_for_kubelet({.message = "caf\xc3\xa9 \"a\""}) == "caf\xc3\xa9 \"a\"");
  CHECK(dra::text_for_kubelet({.message = "caf\xe9 \"a\""}) == "caf\\xe9 \"a\"");
  error.message.assign(5 << 20, 'x');
  CHECK(dra::text_for_kubelet(error).size() == 1003);
  error.message.assign(5 << 20, '"');
  CHECK(dra::text_for_kubelet(error).size() == 1003);
}

TEST_CASE("dra: the error of a method becomes the status of its call") {
  using cdi::Errc;
  using grpc::StatusCode;
  cdi::Error error;
  Methods methods;
  methods.add("/v1.Test/Fail",
              [&error](std::string_view, Call&) { return cdi::Result<std::string>{error}; });
  const TestServer server{std::move(methods)};
  for (const auto& [code, wanted] : {std::pair{Errc::syntax, StatusCode::INVALID_ARGUMENT},
                                     {Errc::schema, StatusCode::INVALID_ARGUMENT},
                                     {Errc::invalid, StatusCode::INVALID_ARGUMENT},
                                     {Errc::invalid_name, StatusCode::INVALID_ARGUMENT},
                                     {Errc::not_found, StatusCode::NOT_FOUND},
                                     {Errc::conflict, StatusCode::FAILED_PRECONDITION},
                                     {Errc::limit, StatusCode::RESOURCE_EXHAUSTED},
                                     {Errc::denied, StatusCode::PERMISSION_DENIED},
                                     {Errc::timeout, StatusCode::DEADLINE_EXCEEDED},
                                     {Errc::unsupported, StatusCode::INTERNAL},
                                     {Errc::host, StatusCode::INTERNAL},
                                     {Errc::system, StatusCode::INTERNAL}}) {
    error = {.code = code, .message = "no"};
    const auto status = server.call("/v1.Test/Fail");
    CHECK(status.error_code() == wanted);
    CHECK(status.error_message() == "no");
  }
  CHECK(server.call("/v1.Test/Other").error_code() == StatusCode::UNIMPLEMENTED);
}

TEST_CASE("dra: an exception in a thread ends only its work") {
  std::promise<int> done;
  Workers workers;
  REQUIRE(workers.run([] { throw std::runtime_error{"no memory"}; }));
  REQUIRE(workers.run([&done] { done.set_value(7); }));
  CHECK(done.get_future().get() == 7);
}

TEST_CASE("dra: an exception in a method ends only its call") {
  bool throws = true;
  Methods methods;
  methods.add("/v1.Test/Throw", [&throws](std::string_view, Call&) -> cdi::Result<std::string> {
    if (throws) throw std::runtime_error{"no memory"};
    return std::string{"well"};
  });
  methods.add_stream("/v1.Test/ThrowInStream", [](std::string_view, const StreamPointer& stream) {
    CHECK(stream->is_open());
    throw std::runtime_error{"no memory"};
  });
  const TestServer server{std::move(methods)};
  for (const auto* const method : {"/v1.Test/Throw", "/v1.Test/ThrowInStream"}) {
    const auto status = server.call(method);
    CHECK(status.error_code() == grpc::StatusCode::INTERNAL);
    CHECK(status.error_message() == "no memory");
  }
  throws = false;
  CHECK(server.call("/v1.Test/Throw").ok());
}

TEST_CASE("dra: a stream takes messages until it ends") {
  StreamPointer kept;
  Methods methods;
  methods.add_stream("/v1.Test/Watch", [&kept](std::string_view, StreamPointer stream) {
    CHECK(stream->is_open());
    CHECK(stream->send("first"));
    CHECK(stream->send("second"));
    stream->end();
    CHECK_FALSE(stream->is_open());
    CHECK_FALSE(stream->send("third"));
    kept = std::move(stream);
  });
  {
    const TestServer server{std::move(methods)};
    // Of several messages, a caller that wants one gets an error.
    CHECK_FALSE(server.call("/v1.Test/Watch").ok());
  }
  REQUIRE(kept);
  CHECK_FALSE(kept->is_open());
  CHECK_FALSE(kept->send("after its server"));
  kept->end();
}

TEST_CASE("dra: a socket is not made where something else is") {
  const TempTree tree;
  CHECK(listen_error("") != "");
  CHECK(listen_error("/" + std::string(107, 'a')).find("at most 107 bytes") != std::string::npos);
  CHECK(listen_error(tree / "none/a.sock").find("cannot listen on the socket") !=
        std::string::npos);
  tree.put("file", "mine");
  CHECK(listen_error(tree / "file").find("it is not a socket") != std::string::npos);
  CHECK(listen_error(tree / "file/a.sock").find("cannot read the file") != std::string::npos);
  CHECK(get_file(tree / "file") == "mine");
}

TEST_CASE("dra: a socket whose server is too busy to answer stays") {
  const TempTree tree;
  const auto path = tree / "a.sock";
  const auto address = address_of(path);
  REQUIRE(address);
  const auto* const any = reinterpret_cast<const sockaddr*>(&*address);
  const cdi::Descriptor busy{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  REQUIRE(::bind(busy.get(), any, sizeof *address) == 0);
  REQUIRE(::listen(busy.get(), 0) == 0);
  std::vector<cdi::Descriptor> waiting;
  do {
    waiting.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  } while (::connect(waiting.back().get(), any, sizeof *address) == 0);
  CHECK(listen_error(path).find("another process serves this socket") != std::string::npos);
}

TEST_CASE("dra: a socket stays if another process serves it, or if that cannot be told") {
  const TempTree tree;
  const auto path = tree / "a.sock";
  const auto address = address_of(path);
  REQUIRE(address);
  const auto* const any = reinterpret_cast<const sockaddr*>(&*address);
  {
    const cdi::Descriptor other{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    REQUIRE(::bind(other.get(), any, sizeof *address) == 0);
    CHECK(listen_error(path).find("another process serves this socket") != std::string::npos);
  }
  rlimit limit = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto removed = remove_stale(path, *address);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK_FALSE(removed);
  CHECK(std::filesystem::exists(path));
  CHECK(remove_stale(path, *address));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("dra: a server knows its socket, and removes no other file") {
  const TempTree tree;
  const Methods none;
  auto first = GrpcServer::listen(tree / "a.sock", none);
  REQUIRE(first);
  CHECK((*first)->has_file());
  CHECK(listen_error(tree / "a.sock").find("another process serves") != std::string::npos);
  REQUIRE(::unlink((tree / "a.sock").c_str()) == 0);
  CHECK_FALSE((*first)->has_file());
  const auto second = GrpcServer::listen(tree / "a.sock", none);
  REQUIRE(second);
  CHECK_FALSE((*first)->has_file());
  first->reset();
  CHECK((*second)->has_file());
}
