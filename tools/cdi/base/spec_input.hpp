// Reads specs from a file or from standard input, to write them again.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <cdi/file.hpp>
#include <cdi/minimum_version.hpp>
#include <cdi/versions.hpp>

#include "../../kit/host/standard_streams.hpp"
#include "../../kit/versions/conversion.hpp"
#include "in_place.hpp"
#include "options.hpp"

/// Rejects a link from one format to another: the text would be in the format of the link.
inline cdi::Result<void> check_link(const FileInPlace& file) {
  const auto format = cdi::format_of(file.name);
  if (!format || format == cdi::format_of(file.path)) return {};
  return cdi::Error{
      .code = cdi::Errc::denied,
      .message = "the path is a link to a file in another format, " + cdi::quoted(file.name),
      .advice = "give that file instead",
      .position = {.file = file.path}};
}

/// Parses the spec of standard input, which may have either format.
inline cdi::Result<cdi::LoadedSpec> parse_spec_input(const std::string& text,
                                                     const cdi::ReadOptions& reading) {
  return cdi::parse_spec(text, "standard input", cdi::Format::yaml, reading);
}

/// Reads the spec of a file, or of standard input for `-`, which may have either format.
inline cdi::Result<cdi::LoadedSpec> read_spec(const std::string& file,
                                              const cdi::ReadOptions& reading) {
  if (file != "-") return cdi::read_spec_file(file, reading);
  const auto text = tools::read_standard_input();
  if (!text) return text.error();
  return parse_spec_input(*text, reading);
}

/// The spec of a file in its own version, with the owner that the file records. Fails, with the
/// first loss, if a text written from it would not contain everything in the file.
inline cdi::Result<tools::Conversion> whole_spec(const cdi::LoadedSpec& loaded) {
  auto spec = tools::convert_spec(loaded, *cdi::parse_spec_version(loaded.spec.version));
  if (spec && !spec->losses.empty()) return std::move(spec->losses.front());
  return spec;
}

/// A warning about a member that newer versions no longer have; nothing if there is none.
inline std::optional<cdi::Error> retired_member(const cdi::Spec& spec) {
  const auto need = cdi::minimum_need(spec);
  if (need.until == cdi::Lifetime::never) return std::nullopt;
  return cdi::Error{.code = cdi::Errc::unsupported,
                    .message = fmt::format("{} replaced it in CDI {}: engines that read that "
                                           "version refuse the file, whatever its cdiVersion",
                                           need.until_instead, to_string(need.until)),
                    .where = need.until_where};
}
