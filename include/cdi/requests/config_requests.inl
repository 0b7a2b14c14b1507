// The bodies of <cdi/requests/config_requests.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REQUESTS_CONFIG_REQUESTS_INL
#define CDI_REQUESTS_CONFIG_REQUESTS_INL

#include <cdi/requests/config_requests.hpp>
#include <cdi/targets/config_json.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/parse_json.hpp>

namespace cdi::inline CDI_ABI::detail {

inline Result<std::optional<Document::Value>> document_member(
    const std::optional<Document::Value>& map, std::string_view key, std::string_view outer = {}) {
  std::optional<Document::Value> found;
  if (!map) return found;
  for (const auto [name, value] : map->members()) {
    if (is_in_other_case(name.text(), key)) {
      auto error = detail::wrong_case(name.text(), key, outer);
      error.position = name.position();
      return error;
    }
    if (name.text() == key) found = value;
  }
  return found;
}

/// Adds the devices from the annotations of a document.
inline Result<void> add_document_annotations(const Document::Value& annotations,
                                             std::string_view prefix, Requests& requests) {
  using Kind = Document::Kind;
  if (annotations.is_null()) return {};
  if (annotations.kind() != Kind::map) return wrong_kind("annotations", "an object");
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  for (const auto [key, value] : annotations.members()) {
    if (!key.text().starts_with(prefix)) continue;
    if (value.kind() != Kind::quoted) {
      return wrong_kind(inner_path("annotations", key.text()), "a string");
    }
    entries.emplace_back(key.text(), value.text());
  }
  return requests.add_annotations(entries, prefix);
}

CDI_INLINE Result<void> add_requests_of(const ConfigJson& config, const RequestOptions& options,
                                        Requests& requests) {
  const auto document = parse_json(config.text, config.file, config.limits);
  if (!document) return document.error();
  const std::optional<Document::Value> root = document->root();
  Result<void> done;
  const auto annotations = document_member(root, "annotations");
  if (!annotations) return annotations.error();
  if (*annotations) done = add_document_annotations(**annotations, options.prefix, requests);
  if (!done) {
    const auto& where = done.error().where;
    done.error().position = where.empty() ? (*annotations)->position() : document->locate(where);
    return done;
  }
  const auto process = document_member(root, "process");
  if (!process) return process.error();
  const auto env = document_member(*process, "env", "process");
  if (!env) return env.error();
  if (!*env) return done;
  for (const auto text : (*env)->items()) {
    if (!add_if_variable(text.text(), options.variable, requests, done)) continue;
    if (!done) done.error().position = text.position();
    break;
  }
  return done;
}

}  // namespace cdi::detail

#endif  // CDI_REQUESTS_CONFIG_REQUESTS_INL
