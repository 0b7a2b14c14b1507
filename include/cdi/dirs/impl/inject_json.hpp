// The bodies of <cdi/dirs/inject_json.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_DIRS_IMPL_INJECT_JSON_HPP
#define CDI_DIRS_IMPL_INJECT_JSON_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <cdi/base/result.hpp>
#include <cdi/dirs/cache.hpp>
#include <cdi/dirs/inject_json.hpp>
#include <cdi/dirs/scan.hpp>
#include <cdi/model/any_value.hpp>
#include <cdi/registry/any_names.hpp>
#include <cdi/registry/registry.hpp>
#include <cdi/targets/json_editor.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// How a JSON text is laid out.
struct JsonLayout {
  int indent = -1;  // columns a level; -1 if all is on one line
  char with = ' ';
  std::string_view end{};  // what follows the value
};

inline JsonLayout layout_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  JsonLayout layout;
  layout.end = text.substr(text.find_last_not_of(blanks) + 1);
  const auto line = text.find('\n', text.find('{'));
  if (line == text.npos || line >= text.size() - layout.end.size()) return layout;
  constexpr int usual = 2;
  constexpr std::size_t most = 16;  // nlohmann overruns its buffer at some hundreds
  const auto first = text.find_first_not_of(blanks, line);
  const auto begin = text.rfind('\n', first) + 1;
  const auto width = first - begin;
  layout.indent = width == 0 || width > most ? usual : static_cast<int>(width);
  if (text[begin] == '\t') layout.with = '\t';
  return layout;
}

/// The first number that a `double` cannot hold, such as 1e999: nlohmann refuses it without a
/// place.
inline std::optional<Document::Value> find_too_large(const Document::Value& value) {
  const auto is_too_large = [](std::string_view text) {
    return is_json_number(text) && !json_number<nlohmann::json>(text).is_number();
  };
  if (value.kind() == Document::Kind::plain && is_too_large(value.text())) return value;
  for (const auto item : value.items()) {
    if (auto found = find_too_large(item)) return found;
  }
  for (const auto [key, member] : value.members()) {
    if (auto found = find_too_large(member)) return found;
  }
  return std::nullopt;
}

/// Edits a JSON text by `inject(document)`.
template <class Inject>
Result<void> edit_json_text(std::string& text, const Inject& inject) {
  using Json = nlohmann::ordered_json;
  const auto checked = cdi::parse_json(text);  // nlohmann has neither limits nor lines
  if (!checked) return checked.error();
  auto document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    const auto found = find_too_large(checked->root());
    return Error{.code = Errc::syntax,
                 .message = found ? "the OCI spec has a number that is too large"
                                  : "nlohmann_json cannot read the OCI spec",
                 .position = found ? found->position() : Position{}};
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

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_DIRS_IMPL_INJECT_JSON_HPP
