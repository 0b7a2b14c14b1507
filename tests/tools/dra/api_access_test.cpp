// Where the API server is, and how a program proves who it is.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "../../../tools/dra/api_server/api_access.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "../../../tools/dra/api_server/kubeconfig.hpp"
#include "../../../tools/kit/base/base64.hpp"
#include "../../support/temp_tree.hpp"

using namespace dra;

namespace {

constexpr std::string_view config = R"(apiVersion: v1
kind: Config
clusters:
- {name: other, cluster: {server: "https://other"}}
- name: test
  cluster: {server: "https://127.0.0.1:6443/", certificate-authority: ca.crt}
users: [{name: admin, user: {token: abc}}]
contexts: [{name: main, context: {cluster: test, user: admin}}]
current-context: main
)";

/// The kubeconfig with a text in the place of another.
std::string with(std::string_view old, std::string_view text) {
  std::string out{config};
  const auto at = out.find(old);
  REQUIRE(at != out.npos);
  return out.replace(at, old.size(), text);
}

std::string fault(const std::string& text) {
  const auto read = parse_kubeconfig(text, "/etc/k/config");
  return read ? "" : to_string(read.error());
}

}  // namespace

TEST_CASE("the current context of a kubeconfig") {
  const auto read = parse_kubeconfig(config, "/etc/k/config");
  REQUIRE(read);
  CHECK(read->server == "https://127.0.0.1:6443");
  CHECK(read->authority.file == "/etc/k/ca.crt");
  CHECK(read->token == "abc");
  CHECK_FALSE(read->certificate);
}

TEST_CASE("certificates as files and as data") {
  const auto files = parse_kubeconfig(
      with("token: abc", "client-certificate: /x.crt, client-key: x.key, tokenFile: t"), "config");
  REQUIRE(files);
  CHECK(files->certificate.file == "/x.crt");
  CHECK(files->key.file == "x.key");
  CHECK(files->token_file == "t");
  const auto data = parse_kubeconfig(
      with("certificate-authority: ca.crt", "certificate-authority-data: UEVNCg=="), "config");
  REQUIRE(data);
  CHECK(data->authority.text == "PEM\n");
  CHECK(data->authority.file.empty());
  const auto both = parse_kubeconfig(
      with("token: abc", "client-certificate-data: UEVN, client-key-data: UEVN, token: null"),
      "config");
  REQUIRE(both);
  CHECK(both->certificate.text == "PEM");
  CHECK(both->token.empty());
}

TEST_CASE("what a kubeconfig must have, and what is not supported") {
  const auto has = [](const std::string& text, std::string_view part) {
    return fault(text).find(part) != std::string::npos;
  };
  CHECK(has(with("current-context: main", "current-context: x"), "contexts has no \"x\""));
  CHECK(has(with("current-context: main", ""), "no context is chosen"));
  CHECK(has(with("cluster: test", "cluster: x"), "clusters has no \"x\""));
  CHECK(has(with("user: admin", "user: x"), "users has no \"x\""));
  CHECK(has(with("https://127", "http://127"), "server must begin with https://"));
  CHECK(has(with("token: abc", "token: [a]"), "config:7:37: token must be a text"));
  CHECK(has(with("token: abc", "exec: {command: x}"), "exec is not supported"));
  CHECK(has(with("token: abc", "client-key: x"), "need each other"));
  CHECK(has(with("certificate-authority: ca.crt", "insecure-skip-tls-verify: true"),
            "could give any device"));
  CHECK(has(with("certificate-authority: ca.crt", "proxy-url: x"), "proxy-url is not supported"));
  CHECK(has(with("certificate-authority: ca.crt", "certificate-authority-data: \"*\""),
            "is not base64"));
  CHECK(has(with("certificate-authority: ca.crt", "certificate-authority-data: \"\""),
            "is not base64"));
  CHECK(has(with("{name: main, context: {cluster: test, user: admin}}", "{name: main}"),
            "contexts has no \"main\""));
  CHECK(has("[]", "must be an object"));
  CHECK(has("{", "/etc/k/config"));
}

TEST_CASE("a kubeconfig that is missing") {
  const auto read = read_kubeconfig("/nonexistent/config");
  REQUIRE_FALSE(read);
  CHECK(to_string(read.error()).find("/nonexistent/config: ") == 0);
}

TEST_CASE("base64") {
  CHECK(tools::decode_base64("") == "");
  CHECK(tools::decode_base64("YQ==") == "a");
  CHECK(tools::decode_base64("YWI") == "ab");
  CHECK(tools::decode_base64("YW\nJj\n") == "abc");
  CHECK(tools::decode_base64("//79") == "\xff\xfe\xfd");
  CHECK_FALSE(tools::decode_base64("Y"));
  CHECK_FALSE(tools::decode_base64("Y=Q"));
  CHECK_FALSE(tools::decode_base64("Y-Q"));
}

TEST_CASE("the access of a pod") {
  const auto access = in_cluster_access("10.96.0.1", "443", "/sa");
  REQUIRE(access);
  CHECK(access->server == "https://10.96.0.1:443");
  CHECK(access->authority.file == "/sa/ca.crt");
  CHECK(access->token_file == "/sa/token");
  CHECK(in_cluster_access("fd00::1", "443")->server == "https://[fd00::1]:443");
  CHECK(in_cluster_access("[fd00::1]", "443")->server == "https://[fd00::1]:443");
  CHECK_FALSE(in_cluster_access("", "443"));
  CHECK_FALSE(in_cluster_access("10.96.0.1", ""));
}

TEST_CASE("a token is read again each time") {
  const TempTree tree;
  ApiAccess access{.token_file = tree / "token"};
  CHECK_FALSE(current_token(access));
  tree.put("token", "one\n");
  CHECK(*current_token(access) == "one");
  tree.put("token", "two");
  CHECK(*current_token(access) == "two");
  for (const auto* const bad : {"", "\n", "a\nb", "a b", "\xc3\xa4"}) {
    tree.put("token", bad);
    CHECK_FALSE(current_token(access));
  }
  CHECK(current_token(ApiAccess{})->empty());
  CHECK_FALSE(current_token(ApiAccess{.token = "a\r\nHost: b"}));
}
