// Devices of a spec file that older engines have under other names.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_TOOLS_CDI_WHY_OTHER_NAMES_HPP
#define CDI_TOOLS_CDI_WHY_OTHER_NAMES_HPP

#include <map>
#include <string>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/result.hpp>
#include <cdi/spec.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml11_scalar.hpp>
#include <cdi/versions.hpp>
#include <cdi/yaml.hpp>

/// For each device of a file that an engine has under another name, why: the name is not in quotes,
/// and the engine reads 8 for 010. Reads the file again, since a spec has only the names.
inline std::map<std::string, cdi::Error> other_names(const cdi::VersionedEngine& engine,
                                                     const std::string& file) {
  std::map<std::string, cdi::Error> out;
  const auto* const row = cdi::find_engine_versions(engine);
  if (row == nullptr || row->parser != cdi::SpecParser::sigs_yaml) return out;
  const auto text = cdi::read_file(file);
  if (!text) return out;
  const auto document = cdi::parse_yaml(*text, file);
  if (!document) return out;
  const auto devices = cdi::detail::find_member(document->root(), "devices");
  if (!devices) return out;
  for (const auto device : devices->items()) {
    const auto name = cdi::detail::find_member(device, "name");
    if (!name || name->kind() != cdi::Document::Kind::plain) continue;
    if (!cdi::detail::is_other_text_in_yaml_1_1(name->text())) continue;
    out.emplace(std::string{name->text()},
                cdi::Error{.code = cdi::Errc::invalid,
                           .message = fmt::format("{} reads {} as a different text",
                                                  to_string(engine), cdi::escaped(name->text())),
                           .advice = "put it in quotes",
                           .position = name->position(),
                           .rule = row_of(cdi::Rule::portable_text).code});
  }
  return out;
}

#endif  // CDI_TOOLS_CDI_WHY_OTHER_NAMES_HPP
