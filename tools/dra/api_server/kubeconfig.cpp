// Reads a kubeconfig: the API server and the user of its current context.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "kubeconfig.hpp"

#include <optional>
#include <utility>

#include <cdi/files/text_file.hpp>
#include <cdi/text/document.hpp>
#include <cdi/yaml.hpp>

#include "../../kit/base/base64.hpp"

namespace dra {

namespace {

/// Reads one kubeconfig. Continues after an error, and keeps the first one.
class KubeconfigReader {
 public:
  using Value = cdi::Document::Value;
  using Kind = cdi::Document::Kind;

  explicit KubeconfigReader(const cdi::Document& document) : document_{document} {}

  cdi::Result<ApiAccess> read() {
    const auto root = std::optional{document_.root()};
    const auto current = text(root, "current-context");
    const auto context = named(root, "contexts", "context", current);
    const auto cluster = named(root, "clusters", "cluster", text(context, "cluster"));
    const auto user = named(root, "users", "user", text(context, "user"));
    ApiAccess out;
    if (!error_) read_cluster(cluster, out);
    if (!error_) read_user(user, out);
    if (error_) return *std::move(error_);
    return out;
  }

 private:
  void reject(const std::optional<Value>& value, std::string message, std::string advice = {}) {
    if (error_) return;
    error_ = cdi::Error{.code = cdi::Errc::schema,
                        .message = std::move(message),
                        .advice = std::move(advice),
                        .position = {.file = document_.file()}};
    if (value) error_->position = value->position();
  }

  /// A member; nullopt if it is missing or null, or without an object.
  std::optional<Value> find(const std::optional<Value>& object, std::string_view key) {
    if (!object) return std::nullopt;
    if (object->kind() != Kind::map) {
      reject(object, "must be an object");
      return std::nullopt;
    }
    for (const auto [name, value] : object->members()) {
      if (name.text() == key && !value.is_null()) return value;
    }
    return std::nullopt;
  }

  /// The text of a member; empty if it is missing.
  std::string text(const std::optional<Value>& object, std::string_view key) {
    const auto value = find(object, key);
    if (!value) return {};
    if (value->kind() == Kind::quoted || value->kind() == Kind::plain) {
      return std::string{value->text()};
    }
    reject(value, std::string{key}.append(" must be a text"));
    return {};
  }

  /// The object of the item with a name in a list.
  std::optional<Value> named(const std::optional<Value>& root, std::string_view list,
                             std::string_view member, std::string_view name) {
    const auto items = find(root, list);
    if (items && items->kind() == Kind::list) {
      for (const auto item : items->items()) {
        if (text(item, "name") != name) continue;
        if (auto found = find(item, member)) return found;
      }
    }
    reject(items,
           name.empty() ? std::string{"no "}.append(member).append(" is chosen")
                        : std::string{list}.append(" has no ").append(cdi::quoted(name)),
           "see kubectl config view");
    return std::nullopt;
  }

  /// A certificate or key: a path, relative to the kubeconfig, or its text in base64.
  Pem pem(const std::optional<Value>& object, const std::string& key) {
    Pem out{.file = path(text(object, key))};
    const auto data = find(object, key + "-data");
    if (!data) return out;
    const auto decoded = tools::decode_base64(text(object, key + "-data"));
    if (!decoded || decoded->empty()) reject(data, key + "-data is not base64");
    return {.file = {}, .text = decoded.value_or("")};
  }

  std::string path(std::string name) const {
    const auto& file = document_.file();
    if (name.empty() || name.starts_with('/') || file.find('/') == file.npos) return name;
    return file.substr(0, file.rfind('/') + 1) + name;
  }

  void read_cluster(const std::optional<Value>& cluster, ApiAccess& out) {
    out.server = text(cluster, "server");
    while (out.server.ends_with('/')) out.server.pop_back();
    if (!out.server.starts_with("https://")) {
      reject(find(cluster, "server"), "server must begin with https://");
    }
    out.authority = pem(cluster, "certificate-authority");
    if (text(cluster, "insecure-skip-tls-verify") == "true") {
      reject(find(cluster, "insecure-skip-tls-verify"),
             "a server that is not verified could give any device to any pod",
             "give its certificate-authority");
    }
    for (const auto* const key : {"proxy-url", "tls-server-name"}) reject_if_there(cluster, key);
  }

  void read_user(const std::optional<Value>& user, ApiAccess& out) {
    out.token = text(user, "token");
    out.token_file = path(text(user, "tokenFile"));
    out.certificate = pem(user, "client-certificate");
    out.key = pem(user, "client-key");
    if (bool{out.certificate} != bool{out.key}) {
      reject(user, "client-certificate and client-key need each other");
    }
    for (const auto* const key : {"exec", "auth-provider", "username", "as"}) {
      reject_if_there(user, key);
    }
  }

  void reject_if_there(const std::optional<Value>& object, const char* key) {
    const auto value = find(object, key);
    if (value) reject(value, std::string{key} + " is not supported", "use a token or certificate");
  }

  const cdi::Document& document_;
  std::optional<cdi::Error> error_{};
};

}  // namespace

cdi::Result<ApiAccess> parse_kubeconfig(std::string_view text, std::string_view file) {
  const auto document = cdi::parse_yaml(text, file);
  if (!document) return document.error();
  return KubeconfigReader{*document}.read();
}

cdi::Result<ApiAccess> read_kubeconfig(const std::string& path) {
  const auto text = cdi::read_file(path);
  if (!text) return text.error();
  return parse_kubeconfig(*text, path);
}

}  // namespace dra
