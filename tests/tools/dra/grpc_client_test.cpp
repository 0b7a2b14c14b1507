// Calls of gRPC methods on unix sockets.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/protocol/grpc_client.hpp"

#include <chrono>
#include <registration.pb.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

#include <doctest/doctest.h>

#include <cdi/files/descriptor.hpp>

#include "../../../tools/dra/protocol/grpc_server.hpp"
#include "../../support/temp_tree.hpp"

using namespace dra;

namespace {

using namespace std::chrono_literals;

std::string client_error(const std::string& socket, cdi::Errc code,
                         std::chrono::milliseconds timeout = 10s) {
  const auto answer = call_method(socket, "/v1.Test/Get", "request", timeout);
  if (answer) return "none";
  CHECK(answer.error().code == code);
  return to_string(answer.error());
}

}  // namespace

TEST_CASE("dra: a call gets the answer of a server, or its error") {
  const TempTree tree;
  const auto path = tree / "a.sock";
  cdi::Result<std::string> result{std::string{"answer"}};
  Methods methods;
  methods.add("/v1.Test/Get", [&](std::string_view request, Call&) {
    CHECK((request == "request" || request.empty()));
    return result;
  });
  const auto server = GrpcServer::listen(path, methods);
  REQUIRE(server);
  CHECK(*call_method(path, "/v1.Test/Get", "request", 10s) == "answer");
  const auto decoded =
      call_method<registration::PluginInfo>(path, "/v1.Test/Get", registration::InfoRequest{}, 10s);
  REQUIRE_FALSE(decoded);
  CHECK(to_string(decoded.error()) == path + ": the answer of /v1.Test/Get cannot be decoded");
  result = cdi::Error{.code = cdi::Errc::timeout, .message = "too late"};
  CHECK(client_error(path, cdi::Errc::timeout) == path + ": /v1.Test/Get: too late");
  result = cdi::Error{.code = cdi::Errc::conflict, .message = "taken"};
  CHECK(client_error(path, cdi::Errc::host) == path + ": /v1.Test/Get: taken");
  const auto other = call_method(path, "/v1.Test/Other", "", 10s);
  REQUIRE_FALSE(other);
  CHECK(other.error().code == cdi::Errc::unsupported);
}

TEST_CASE("dra: a socket that cannot be reached") {
  const TempTree tree;
  tree.put("file", "");
  const std::string none = ": no program serves this socket";
  CHECK(client_error(tree / "none", cdi::Errc::system) == (tree / "none") + none);
  CHECK(client_error(tree / "file", cdi::Errc::system) == (tree / "file") + none);
  CHECK(client_error(tree / "file/a", cdi::Errc::system)
            .starts_with((tree / "file/a") + ": cannot connect to the socket"));
}

TEST_CASE("dra: a server that does not answer") {
  const TempTree tree;
  const auto path = tree / "a.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const cdi::Descriptor silent{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  REQUIRE(::bind(silent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(silent.get(), 5) == 0);
  CHECK(client_error(path, cdi::Errc::timeout, 100ms).starts_with(path + ": /v1.Test/Get: "));
}
