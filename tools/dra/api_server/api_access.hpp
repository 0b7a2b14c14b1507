// The address of the Kubernetes API server, and the credentials for it.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <cdi/files/text_file.hpp>
#include <cdi/result.hpp>

#include "../../kit/base/text.hpp"

namespace dra {

/// A certificate or key: the path of its file, or its text.
struct Pem {
  std::string file{};
  std::string text{};

  explicit operator bool() const { return !file.empty() || !text.empty(); }
};

/// The address of the API server, and the credentials for it.
struct ApiAccess {
  std::string server{};  // "https://10.96.0.1:443"
  Pem authority{};       // of the server's certificate; empty: the system's
  Pem certificate{};     // of this program, with the key
  Pem key{};
  std::string token{};
  std::string token_file{};  // read for each request, because its token is replaced from time to
                             // time; comes before `token`
};

/// The directory with the token of a pod.
inline constexpr std::string_view service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The access of a pod, from the environment variables KUBERNETES_SERVICE_HOST and _PORT and the
/// files of its service account. Fails outside a pod.
inline cdi::Result<ApiAccess> in_cluster_access(std::string_view host, std::string_view port,
                                                std::string_view directory = service_account) {
  if (host.empty() || port.empty()) {
    return cdi::Error{.code = cdi::Errc::not_found,
                      .message =
                          "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, "
                          "so this program runs in no pod",
                      .advice = "give --kubeconfig, or --claims for a node without a cluster"};
  }
  const bool is_v6 = host.find(':') != host.npos && !host.starts_with('[');
  ApiAccess out;
  out.server.append("https://").append(is_v6 ? "[" : "").append(host).append(is_v6 ? "]" : "");
  out.server.append(":").append(port);
  out.authority.file.append(directory).append("/ca.crt");
  out.token_file.append(directory).append("/token");
  return out;
}

/// The token to send now; empty without one.
inline cdi::Result<std::string> current_token(const ApiAccess& access) {
  auto token = access.token;
  if (!access.token_file.empty()) {
    auto read = cdi::read_file(access.token_file);
    if (!read) return std::move(read).error();
    token = tools::trim(*read);
  }
  const bool is_sound = std::all_of(token.begin(), token.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && static_cast<unsigned char>(c) < 0x7f;
  });
  if (is_sound && (!token.empty() || access.token_file.empty())) return token;
  return cdi::Error{.code = cdi::Errc::invalid,
                    .message = "the token is empty, or has a character that no token has",
                    .position = {.file = access.token_file}};
}

}  // namespace dra
