// The HTTPS client of a build without libcurl.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <utility>

#include <cdi/result.hpp>

#include "api_access.hpp"
#include "http_client.hpp"

namespace dra {

struct HttpClient::Handles {};

HttpClient::HttpClient(ApiAccess access) : access_{std::move(access)} {}
HttpClient::~HttpClient() = default;

bool HttpClient::is_available() {
  return false;
}

cdi::Result<HttpAnswer> HttpClient::send(const HttpRequest&, Deadline) {
  return cdi::Error{.code = cdi::Errc::unsupported, .message = "this build has no libcurl"};
}

}  // namespace dra
