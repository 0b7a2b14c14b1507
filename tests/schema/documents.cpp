// Prints how the library reads spec files, for schema_test.py to compare with the schemas.
//
// Reads one JSON object from each line of the standard input and prints another:
//
//   {"file": PATH}   {"accepted": true, "spec": the spec as written} if the file can be read and
//                    the spec can be written,
//                    else {"accepted": false, "rule": "", "where": "kind", "message": "..."};
//                    both with "values": {"root": ...}, the values in the text, or null if it has
//                    none
//   {"policy": TEXT} {"accepted": whether it is a policy, "message": why not}
//   {"dirs": [PATH, ...], "devices": [NAME, ...]}
//                    {"oci": {} after their edits}, or {"message": "..."}
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <cdi/cdi.hpp>
#include <cdi/file.hpp>
#include <cdi/files/text_file.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/policy.hpp>

namespace {

using Json = nlohmann::ordered_json;

/// A value as it is in the text.
Json render(const cdi::Document::Value& value) {
  cdi::AnyValue any;
  cdi::detail::read_any(value, &any, cdi::detail::type_of<cdi::AnyValue>);
  cdi::detail::JsonSink<Json> sink;
  cdi::write(any, sink);
  return std::move(sink).take();
}

/// The values of a file, even if they are not a spec; null if it is neither JSON nor YAML.
Json values_of(const std::string& path) {
  const auto format = cdi::format_of(path);
  auto text = cdi::read_file(path);
  if (!format || !text) return nullptr;
  std::vector<cdi::Error> warnings;
  const auto document = cdi::detail::document_of_text(*text, path, *format, {}, warnings);
  return document ? Json{{"root", render(document->root())}} : nullptr;
}

Json check_file(const std::string& path) {
  const auto loaded = cdi::read_spec_file(path);
  const auto good = loaded ? cdi::validate(loaded->spec, nullptr, cdi::ValidateFor::writing)
                           : cdi::Result<void>{loaded.error()};
  Json answer{{"accepted", good.has_value()}, {"values", values_of(path)}};
  if (good) {
    answer["spec"] = cdi::to_json_value(loaded->spec);
  } else {
    answer["rule"] = good.error().rule;
    answer["where"] = good.error().where;
    answer["message"] = to_string(good.error());
  }
  return answer;
}

Json check_policy(const std::string& text) {
  const auto policy = cdi::read_policy(text);
  return {{"accepted", policy.has_value()},
          {"message", policy ? std::string{} : to_string(policy.error())}};
}

Json inject_into_nothing(const Json& query) {
  cdi::Cache cache{query["dirs"].get<std::vector<std::string>>()};
  Json oci = Json::object();
  const auto done = cache.inject(oci, query["devices"].get<std::vector<std::string>>());
  if (!done) return {{"message", to_string(done.error())}};
  return {{"oci", oci}};
}

Json answer_to(const Json& query) {
  if (query.contains("file")) return check_file(query["file"].get<std::string>());
  if (query.contains("policy")) return check_policy(query["policy"].get<std::string>());
  return inject_into_nothing(query);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json query = Json::parse(line);
    std::cout << answer_to(query).dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
  }
}
