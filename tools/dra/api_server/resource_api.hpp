// The API group resource.k8s.io, as a driver uses it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <cdi/result.hpp>

#include "../../gpu/slices/limits.hpp"
#include "api_error.hpp"
#include "api_versions.hpp"
#include "http_client.hpp"

namespace dra {

/// The API group resource.k8s.io of one API server, in the newest version that both know. Any
/// thread may use it.
class ResourceApi {
 public:
  using Deadline = HttpClient::Deadline;

  /// `http` must outlive this object.
  explicit ResourceApi(HttpClient& http) : http_{http} {}

  /// The JSON text of a ResourceClaim. `Errc::not_found` if there is none.
  cdi::Result<std::string> claim(const std::string& name_space, const std::string& name,
                                 Deadline deadline) {
    for (const auto& part : {name_space, name}) {
      if (prepare::is_dns_subdomain(part, prepare::slice_limits::object_name)) continue;
      return cdi::Error{.code = cdi::Errc::invalid,
                        .message = cdi::quoted(part) + " cannot be the name of a ResourceClaim"};
    }
    auto answer = get(fmt::format("/namespaces/{}/resourceclaims/{}", name_space, name), deadline);
    if (!answer) return std::move(answer).error();
    if (answer->is_success()) return std::move(answer->body);
    return answer_error(fmt::format("ResourceClaim {}/{}", name_space, name), *answer);
  }

  /// Sends the request that `make` returns for a version of the group, such as "v1"; its path is in
  /// the group. The version is the newest that the server has and this program knows;
  /// `Errc::unsupported` without any. Queries the versions of the server once, and again after a
  /// 404 for an unknown version; then repeats the request. If the server does not report its
  /// versions, its error is the answer.
  template <class Make>
  cdi::Result<HttpAnswer> send(const Make& make, Deadline deadline) {
    for (int i = 0;; ++i) {
      auto current = known_version();
      if (current.empty()) {
        auto versions = ask_versions(deadline);
        if (!versions || !tells_versions(*versions)) return versions;
        auto found = take_version(*versions);
        if (!found) return std::move(found).error();
        current = *std::move(found);
      }
      HttpRequest request = make(current);
      request.path = fmt::format("/apis/resource.k8s.io/{}{}", current, request.path);
      auto answer = http_.send(request, deadline);
      if (!answer || answer->status != 404 || i > 0 || is_status(*answer)) return answer;
      forget_version();
    }
  }

  /// Sends a request to read something, in any version.
  cdi::Result<HttpAnswer> get(const std::string& path, Deadline deadline,
                              std::size_t max_answer = HttpRequest{}.max_answer) {
    return send(
        [&](const std::string&) { return HttpRequest{.path = path, .max_answer = max_answer}; },
        deadline);
  }

  /// The server's answer about a node.
  cdi::Result<HttpAnswer> node(const std::string& name, Deadline deadline) {
    return http_.send({.path = "/api/v1/nodes/" + name}, deadline);
  }

 private:
  void forget_version() {
    const std::lock_guard lock{mutex_};
    version_.clear();
  }

  std::string known_version() {
    const std::lock_guard lock{mutex_};
    return version_;
  }

  cdi::Result<HttpAnswer> ask_versions(Deadline deadline) {
    return http_.send({.path = "/apis/resource.k8s.io"}, deadline);
  }

  /// A server without the group answers 404.
  static bool tells_versions(const HttpAnswer& answer) {
    return answer.is_success() || answer.status == 404;
  }

  cdi::Result<std::string> take_version(const HttpAnswer& answer) {
    const auto group = parse_object(answer.body);
    if (answer.is_success() && group.contains("versions")) {
      for (const auto known : resource_api_versions) {
        for (const auto& one : group["versions"]) {
          if (text_in(one, "version") != known) continue;
          const std::lock_guard lock{mutex_};
          version_ = known;
          return version_;
        }
      }
    }
    return cdi::Error{.code = cdi::Errc::unsupported,
                      .message =
                          "the API server has no version of resource.k8s.io that this "
                          "program knows",
                      .advice = "use Kubernetes 1.34, or enable v1beta2 or v1beta1 there"};
  }

  HttpClient& http_;
  std::mutex mutex_{};
  std::string version_{};
};

}  // namespace dra
