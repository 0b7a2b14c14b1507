// Reads answers of the API server, and explains failures.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cdi/model/any_value.hpp>
#include <cdi/nlohmann/models.hpp>
#include <cdi/result.hpp>
#include <cdi/text/json.hpp>

#include "../../kit/base/one_line.hpp"
#include "../claims/api_limits.hpp"
#include "http_client.hpp"

namespace dra {

/// Objects of the API. Their members are sorted, so that equal objects are equal.
using ApiJson = nlohmann::json;

/// An object with all its members.
struct AnyObject {
  cdi::ExtraOf<cdi::Owning> extra{};

  static constexpr void fields(auto& /*list*/) {}
};

/// An object of the API. The parser of nlohmann_json has no limits. `what` is for messages.
inline cdi::Result<ApiJson> read_object(const std::string& text, const std::string& what) {
  auto object = cdi::read_json<AnyObject>(text, what, api_limits);
  if (object) return cdi::to_json_value<ApiJson>(*object);
  object.error().advice.clear();  // it is meant for authors of the text
  return std::move(object).error();
}

/// An object of the API; discarded if it cannot be read.
inline ApiJson parse_object(const std::string& text) {
  auto object = read_object(text, {});
  return object ? *std::move(object) : ApiJson(ApiJson::value_t::discarded);
}

/// The text of a member; empty if it is missing or not a text.
inline std::string text_in(const ApiJson& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// Whether an answer comes from the API itself, and not from a server that does not know the path.
inline bool is_status(const HttpAnswer& answer) {
  return text_in(parse_object(answer.body), "kind") == "Status";
}

/// The failure in an answer. `Errc::not_found` for 404, `Errc::denied` for 401 and 403,
/// `Errc::conflict` for 409, `Errc::invalid` for 400 and 422, and otherwise `Errc::system`.
inline cdi::Error answer_error(const std::string& what, const HttpAnswer& answer) {
  auto message = text_in(parse_object(answer.body), "message");
  message = tools::one_line(message.empty() ? answer.body : message, message.empty() ? 200 : 1000);
  cdi::Error out{.code = cdi::Errc::system,
                 .message = fmt::format("{}: the API server answers {}{}{}", what, answer.status,
                                        message.empty() ? "" : ": ", message)};
  switch (answer.status) {
    case 400:
    case 422: out.code = cdi::Errc::invalid; break;
    case 401:
      out.code = cdi::Errc::denied;
      out.advice = "check the token of the service account, or the user of the kubeconfig";
      break;
    case 403:
      out.code = cdi::Errc::denied;
      out.advice = "give the service account of the driver the ClusterRole of its deployment";
      break;
    case 404: out.code = cdi::Errc::not_found; break;
    case 409: out.code = cdi::Errc::conflict; break;
    default: break;
  }
  return out;
}

}  // namespace dra
