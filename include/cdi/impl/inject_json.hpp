// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_IMPL_INJECT_JSON_HPP
#define CDI_IMPL_INJECT_JSON_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/any_names.hpp>
#include <cdi/cache.hpp>
#include <cdi/inject_json.hpp>
#include <cdi/oci/json_editor.hpp>
#include <cdi/parse_json.hpp>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>
#include <cdi/scan.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// How a JSON text is laid out.
struct JsonLayout {
  int indent = -1;  // a level; -1 when all is on one line
  char with = ' ';
  std::string_view end{};  // what follows the value
};

inline JsonLayout layout_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  JsonLayout layout;
  layout.end = text.substr(text.find_last_not_of(blanks) + 1);
  const auto line = text.find('\n', text.find('{'));
  if (line == text.npos || line >= text.size() - layout.end.size()) return layout;
  const auto first = text.find_first_not_of(blanks, line);
  const auto begin = text.rfind('\n', first) + 1;
  layout.indent = static_cast<int>(first - begin);
  if (text[begin] == '\t') layout.with = '\t';
  return layout;
}

/// Edits a JSON text by `inject(document)`.
template <class Inject>
Result<void> edit_json_text(std::string& text, const Inject& inject) {
  using Json = nlohmann::ordered_json;
  auto document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    auto again = cdi::parse_json(text);
    if (!again) return std::move(again).error();
    return Error{.code = Errc::syntax, .message = "the OCI spec has a number that is too large"};
  }
  if (auto done = inject(document); !done) return done;
  const auto layout = layout_of(text);
  auto out = document.dump(layout.indent, layout.with);
  out.append(layout.end);
  text = std::move(out);
  return {};
}

CDI_INLINE Result<void> inject_json_from(const std::vector<std::string>* dirs, std::string& config,
                                         AnyNames names) {
  return edit_json_text(config, [&](nlohmann::ordered_json& document) {
    const auto registry = scan_spec_dirs(dirs == nullptr ? default_spec_dirs() : *dirs);
    return registry->inject(document, names);
  });
}

CDI_INLINE Result<void> inject_json_with(Cache& cache, std::string& config, AnyNames names) {
  return edit_json_text(
      config, [&](nlohmann::ordered_json& document) { return cache.inject(document, names); });
}

}  // namespace cdi::inline CDI_ABI::detail

#endif  // CDI_IMPL_INJECT_JSON_HPP
