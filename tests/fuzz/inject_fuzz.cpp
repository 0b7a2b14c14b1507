// All devices of a spec are injected into the text of a config. The result is JSON, keeps all that
// no edit may change, and is that of a JSON document; the same injection again changes nothing; and
// after an error the text is as before. An input is a config, a record separator, and a spec.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/config_json.hpp>
#include <cdi/nlohmann.hpp>
#include <cdi/registry.hpp>
#include <cdi/spec_text.hpp>
#include <cdi/text/parse_json.hpp>

#include "fuzz.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

/// A host with a node at most paths, whose type and number depend on the path.
cdi::Result<cdi::HostNode> made_up_host(std::string_view path) {
  if (path.ends_with('x')) return cdi::Error{.code = cdi::Errc::host, .message = "no node"};
  const char type = path.ends_with('b') ? 'b' : path.ends_with('p') ? 'p' : 'c';
  const auto number = type == 'p' ? 0 : static_cast<std::int64_t>(path.size());
  return cdi::HostNode{.type = type, .major = number, .minor = number, .file_mode = 0640};
}

bool has(const Json& config, const Pointer& at) {
  return config.contains(at) && !config.at(at).empty();  // as null is
}

void erase(Json& config, const Pointer& at) {
  if (!config.contains(at)) return;
  auto& parent = config.at(at.parent_pointer());
  if (parent.is_object()) parent.erase(at.back());
}

/// What no edit may change: a config without the members that edits change, and without the objects
/// that are made for them, with all required members, because `before` lacks them or has them
/// empty.
Json rest_of(Json config, const Json& before) {
  for (const auto* const changed :
       {"/process/env", "/process/user/additionalGids", "/mounts", "/linux/devices",
        "/linux/resources/devices", "/linux/netDevices", "/linux/intelRdt", "/hooks/prestart",
        "/hooks/createRuntime", "/hooks/createContainer", "/hooks/startContainer",
        "/hooks/poststart", "/hooks/poststop"}) {
    erase(config, Pointer{changed});
  }
  for (const auto* const made :
       {"/process/user", "/process", "/linux/resources", "/linux", "/hooks"}) {
    if (!has(before, Pointer{made})) erase(config, Pointer{made});
  }
  return config;
}

/// Compares the result with that in a document, and with the config before.
void compare(const cdi::Registry& registry, const std::vector<std::string>& names,
             std::string_view before, const cdi::Result<void>& done,
             const cdi::ConfigJson& config) {
  auto document = Json::parse(before, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !cdi::parse_json(before)) return;
  const auto original = document;
  const auto in_document = registry.inject(document, names, made_up_host);
  fuzz::require(done.has_value() == in_document.has_value(), "both succeed, or neither",
                fuzz::fault_of(done) + "\n" + fuzz::fault_of(in_document));
  if (!done) return;
  const auto after = Json::parse(config.text);
  fuzz::require(after == document, "the document has the same result", config.text);
  fuzz::require(rest_of(after, original) == rest_of(original, original), "the rest is unchanged",
                config.text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto [before, spec] = fuzz::two_texts(fuzz::text_of(data, size));
  const auto registry = cdi::make_registry({{.name = "s.yaml", .text = std::string{spec}}});
  const auto names = registry.devices();
  cdi::ConfigJson config{std::string{before}};
  const auto done = registry.inject(config, names, made_up_host);
  const bool changed = done && !names.empty();
  fuzz::require(changed || config.text == before, "the text is unchanged", config.text);
  fuzz::require(!changed || cdi::parse_json(config.text), "the result is JSON", config.text);
  compare(registry, names, before, done, config);
  if (!changed) return 0;
  const auto once = config;
  fuzz::require(registry.inject(config, names, made_up_host) && config == once,
                "a second injection changes nothing", once.text + "\n" + config.text);
  return 0;
}
