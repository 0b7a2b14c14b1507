// The HTTPS client, on libcurl.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "http_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <curl/curl.h>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/result.hpp>

#include "api_access.hpp"

namespace dra {

namespace {

struct FreeHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

void start_curl() {
  // No cleanup follows: other threads may still use it when the program ends.
  static const auto done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

/// The text of an answer, and its size limit.
struct Body {
  std::string& text;
  std::size_t most;
};

/// Ends the request by returning a smaller size.
std::size_t take_body(char* data, std::size_t size, std::size_t count, void* body) {
  const auto& own = *static_cast<const Body*>(body);
  const auto bytes = size * count;
  if (own.text.size() + bytes > own.most) return 0;
  try {
    own.text.append(data, bytes);
  } catch (const std::exception&) {  // libcurl is C
    return 0;
  }
  return bytes;
}

/// Ends a request by returning a value other than 0.
int check_stop(void* stops_at, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* const end = static_cast<const std::atomic<HttpClient::Deadline>*>(stops_at);
  return std::chrono::steady_clock::now() >= end->load() ? 1 : 0;
}

void set(CURL* handle, CURLoption option, const std::string& value) {
  if (!value.empty()) curl_easy_setopt(handle, option, value.c_str());
}

void set_pem(CURL* handle, CURLoption file, CURLoption blob, const Pem& pem) {
  if (pem.text.empty()) return set(handle, file, pem.file);
  // libcurl does not write to a blob.
  curl_blob bytes{const_cast<char*>(pem.text.data()), pem.text.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(handle, blob, &bytes);
}

Handle make_handle(const ApiAccess& access, std::atomic<HttpClient::Deadline>& stops_at) {
  Handle handle{curl_easy_init()};  // null if memory is short: libcurl's functions then fail
  auto* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // not the environment's
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "cdi-dra");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &check_stop);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stops_at);
  set_pem(curl, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB, access.authority);
  set_pem(curl, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB, access.certificate);
  set_pem(curl, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB, access.key);
  return handle;
}

/// What a failed request means, for people.
cdi::Error error_of(CURLcode code, std::string_view detail, const std::string& what) {
  auto error = cdi::Error{.code = cdi::Errc::system, .message = what + ": "};
  error.message.append(detail.empty() ? std::string_view{curl_easy_strerror(code)} : detail);
  if (code == CURLE_OPERATION_TIMEDOUT) error.code = cdi::Errc::timeout;
  if (code == CURLE_WRITE_ERROR) {
    error.code = cdi::Errc::limit;
    error.message = what + ": the answer is too large";
  }
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
    error.code = cdi::Errc::denied;
    error.advice = "check the certificate-authority of the cluster";
  }
  return error;
}

long milliseconds_until(HttpClient::Deadline deadline) {
  using Milliseconds = std::chrono::milliseconds;
  const auto left = deadline - std::chrono::steady_clock::now();
  return static_cast<long>(
      std::chrono::duration_cast<Milliseconds>(
          std::min<std::chrono::steady_clock::duration>(left, HttpClient::longest))
          .count());
}

HeaderList headers_of(const HttpRequest& request, const std::string& token) {
  HeaderList out{curl_slist_append(nullptr, "Accept: application/json")};
  const auto add = [&](const std::string& line) {
    // The list is unchanged, and still owned, if there is no memory.
    if (auto* const longer = curl_slist_append(out.get(), line.c_str())) {
      static_cast<void>(out.release());
      out.reset(longer);
    }
  };
  if (!request.body.empty()) add("Content-Type: application/json");
  add("Expect:");  // no round trip before the body
  if (!token.empty()) add("Authorization: Bearer " + token);
  return out;
}

/// Sets what is sent. The texts must live until the request is done.
void describe(CURL* curl, const HttpRequest& request, const std::string& url, curl_slist* headers) {
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  if (request.body.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
  } else {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

}  // namespace

/// The idle connections.
struct HttpClient::Handles {
  static constexpr std::size_t most = 4;

  /// Null if there is none.
  Handle take() {
    const std::lock_guard lock{mutex};
    if (idle.empty()) return {};
    auto handle = std::move(idle.back());
    idle.pop_back();
    return handle;
  }

  void give(Handle handle) {
    const std::lock_guard lock{mutex};
    if (idle.size() < most) idle.push_back(std::move(handle));
  }

  std::mutex mutex{};
  std::vector<Handle> idle{};
};

HttpClient::HttpClient(ApiAccess access)
    : access_{std::move(access)}, handles_{std::make_unique<Handles>()} {
  start_curl();
}

HttpClient::~HttpClient() = default;

bool HttpClient::is_available() {
  return true;
}

cdi::Result<HttpAnswer> HttpClient::send(const HttpRequest& request, Deadline deadline) {
  const auto what = request.method + " " + access_.server + request.path;
  const auto left = milliseconds_until(deadline);
  if (left <= 0) {
    return cdi::Error{.code = cdi::Errc::timeout, .message = what + ": the deadline has passed"};
  }
  const auto token = current_token(access_);
  if (!token) return token.error();
  auto handle = handles_->take();
  if (!handle) handle = make_handle(access_, stops_at_);
  auto* const curl = handle.get();
  HttpAnswer answer;
  Body body{answer.body, request.max_answer};
  std::array<char, CURL_ERROR_SIZE> detail{};
  const auto headers = headers_of(request, *token);
  const auto url = access_.server + request.path;
  describe(curl, request, url, headers.get());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, left);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data());
  const auto code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  if (code != CURLE_OK) return error_of(code, detail.data(), what);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0) answer.retry_after = std::chrono::seconds{std::min<curl_off_t>(seconds, 3600)};
  handles_->give(std::move(handle));
  return answer;
}

}  // namespace dra
