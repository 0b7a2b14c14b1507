// An HTTPS client for the API server.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <cdi/result.hpp>

#include "api_access.hpp"

// libcurl's own header is in http_client.cpp only.

namespace dra {

struct HttpRequest {
  std::string method = "GET";
  std::string path{};  // with the query
  std::string body{};  // JSON; empty for none
  /// The size limit of an answer. The API server stores no object of more than 1.5 MiB.
  std::size_t max_answer = std::size_t{2} << 20;
};

/// An answer with any status.
struct HttpAnswer {
  long status = 0;
  std::string body{};
  std::optional<std::chrono::seconds> retry_after{};

  bool is_success() const { return status / 100 == 2; }
};

/// A client of one server, over TLS 1.2 or newer. Connections stay open between requests. It
/// follows no redirect, uses no proxy, and sends its token to no other server. Any thread may use
/// it.
class HttpClient {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// The longest that a request waits, even if its deadline is later.
  static constexpr std::chrono::seconds longest{10};

  explicit HttpClient(ApiAccess access);

  /// Whether this build has libcurl; otherwise every request fails.
  static bool is_available();

  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  const std::string& server() const { return access_.server; }

  /// Sends a request. An answer with a failure status is not an error. `Errc::timeout` without an
  /// answer in time, `Errc::limit` if it is too large, `Errc::denied` if the certificate of the
  /// server is not valid, and `Errc::system` for other faults of the connection.
  cdi::Result<HttpAnswer> send(const HttpRequest& request, Deadline deadline);

  /// Makes all requests fail after `grace`, because the program ends; requests in progress fail
  /// about a second later.
  void stop(std::chrono::seconds grace = {}) {
    stops_at_ = std::chrono::steady_clock::now() + grace;
  }

 private:
  struct Handles;

  ApiAccess access_;
  std::unique_ptr<Handles> handles_;
  std::atomic<Deadline> stops_at_{Deadline::max()};
};

}  // namespace dra
