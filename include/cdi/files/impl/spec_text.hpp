// The bodies of <cdi/files/spec_text.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_IMPL_SPEC_TEXT_HPP
#define CDI_FILES_IMPL_SPEC_TEXT_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/find_member.hpp>
#include <cdi/files/quarantine.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/rejected_contents.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/json_text.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/parse_yaml.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

CDI_INLINE Result<Document> parse_text(std::string_view text, std::string_view path, Format format,
                                       const Limits& limits, std::vector<Error>& warnings) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string_view::npos && text[first] == '{';
  if (format == Format::yaml && !braces) return cdi::parse_yaml(text, path, limits);
  auto json = cdi::parse_json(text, path, limits);
  if (json || json.error().code != Errc::syntax) return json;
  auto yaml = cdi::parse_yaml(text, path, limits);
  if (format == Format::yaml) return yaml;
  // One line of any text is a YAML scalar: only a map is meant as YAML.
  if (!yaml || yaml->root().kind() != Document::Kind::map) return json;
  warnings.push_back(std::move(json).error());
  warnings.back().message.append("; read as YAML");
  warnings.back().rule = row_of(Rule::json_syntax).code;
  return yaml;
}

/// Reads a spec from a document and validates it. Errors and warnings get line and column.
inline bool read_document(const Document& document, LoadedSpec& out, RejectedFile& rejected) {
  Reading reading;
  auto spec = detail::read_noting<Spec>(document.root(), reading);
  if (!spec) {
    rejected.why = std::move(spec).error();
    return false;
  }
  std::vector<Error> warnings;
  if (auto valid = cdi::validate(*spec, &warnings); !valid) {
    rejected.why = std::move(valid).error();
    rejected.why.position = document.locate(rejected.why.where);
    if (rejected.why.rule == row_of(Rule::version_new_enough).code) {
      rejected.needs_version = to_string(minimum_version(*spec));
    }
    return false;
  }
  if (reading.odd_case) {
    out.warnings.push_back({.code = Errc::schema,
                            .message = "since 1.1.1 the Go reference refuses names of members in "
                                       "another case: write " +
                                       cdi::quoted(reading.field),
                            .where = std::string{reading.odd_case->text()},
                            .position = reading.odd_case->position(),
                            .rule = row_of(Rule::member_case).code});
  }
  for (auto& warning : warnings) {
    warning.position = document.locate(warning.where);
    out.warnings.push_back(std::move(warning));
  }
  out.spec = std::move(*spec);
  out.lines = document.lines_of(*detail::find_member(document.root(), "devices"));
  const auto edits = detail::find_member(document.root(), "containerEdits");
  if (edits) out.edits_line = edits->position().line;
  return true;
}

/// Reads a spec; with `quarantine`, without its invalid devices, which `document` then lacks, too.
inline bool read_good_devices(Document& document, bool quarantine, LoadedSpec& out,
                              RejectedFile& rejected) {
  if (detail::read_document(document, out, rejected)) return true;
  if (!quarantine) return false;
  auto good = detail::without_bad_devices(document, out.quarantined);
  if (!good) return false;
  rejected = {};
  if (!detail::read_document(*good, out, rejected)) return false;
  document = *std::move(good);
  return true;
}

/// The places of members, from the document that a spec was read from.
class PlacesInDocument final : public MemberPlaces {
 public:
  explicit PlacesInDocument(Document document) : document_{std::move(document)} {}
  Position locate(std::string_view where) const override { return document_.locate(where); }

 private:
  Document document_;
};

/// Warns of parts of the text that are not read, and of those that other readers do not accept.
inline void warn_of_text(const Document& document, std::vector<Error>& warnings) {
  if (const auto rest = document.rest()) {
    warnings.push_back({.code = Errc::invalid,
                        .message = "only the first document of the file is read: put the others "
                                   "into files of their own",
                        .position = *rest,
                        .rule = row_of(Rule::single_document).code});
  }
  if (auto found = document.unportable()) {
    warnings.push_back({.code = Errc::invalid,
                        .message = std::move(found->reason),
                        .position = std::move(found->position),
                        .rule = row_of(Rule::portable_text).code});
  }
}

CDI_INLINE bool read_text(std::string_view text, std::string_view path, Format format,
                          const ReadOptions& options, LoadedSpec& out, RejectedFile& rejected) {
  out.path = path;
  auto document = detail::parse_text(text, path, format, options.limits, out.warnings);
  if (document) detail::warn_of_text(*document, out.warnings);
  if (!document) {
    rejected.why = document.error();
    detail::guess_contents(text, rejected);
  } else if (read_good_devices(*document, options.quarantine_devices, out, rejected)) {
    if (options.digest != nullptr) out.digest = options.digest(text);
    if (options.keep_places) {
      out.places = std::make_shared<const PlacesInDocument>(*std::move(document));
    }
    return true;
  } else {
    detail::record_contents(*document, rejected);
  }
  return false;
}

}  // namespace detail

CDI_INLINE Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path,
                                         Format format, const ReadOptions& options) {
  LoadedSpec loaded;
  RejectedFile rejected;
  if (!detail::read_text(text, path, format, options, loaded, rejected)) return rejected.why;
  return loaded;
}

CDI_INLINE Result<std::string> write_spec(const Spec& spec, Format format) {
  auto valid = cdi::validate(spec, nullptr, Purpose::write);
  if (!valid) return std::move(valid).error();
  if (format == Format::yaml) return cdi::write_yaml(spec);
  auto text = cdi::write_json(spec);
  if (text) text->append("\n");
  return text;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_IMPL_SPEC_TEXT_HPP
