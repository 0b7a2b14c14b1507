// The bodies of <cdi/files/spec_text.hpp>.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_SPEC_TEXT_INL
#define CDI_FILES_SPEC_TEXT_INL

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cdi/base/path.hpp>
#include <cdi/base/result.hpp>
#include <cdi/files/quarantine.hpp>
#include <cdi/files/read_options.hpp>
#include <cdi/files/rejected_contents.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/registry/loaded_spec.hpp>
#include <cdi/rules/minimum_version.hpp>
#include <cdi/rules/owner.hpp>
#include <cdi/rules/rules.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/rules/yaml_v3_engines.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/json.hpp>
#include <cdi/text/parse_json.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/yaml/parse_yaml.hpp>
#include <cdi/text/yaml/yaml.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

CDI_INLINE Result<Document> document_of_text(std::string& text, std::string_view path,
                                             Format format, const Limits& limits,
                                             std::vector<Error>& warnings) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string_view::npos && text[first] == '{';
  if (format == Format::yaml && !braces) return detail::parse_yaml_in_place(text, path, limits);
  auto json = detail::parse_json_in_place(text, path, limits);
  if (json || json.error().code != Errc::syntax) return json;
  if (format == Format::yaml) return detail::parse_yaml_in_place(text, path, limits);
  auto yaml = cdi::parse_yaml(text, path, limits);
  // Any single line of text is a YAML scalar, so only a map is taken for YAML.
  if (!yaml || yaml->root().kind() != Document::Kind::map) return json;
  warnings.push_back(std::move(json).error());
  warnings.back().message.append("; read as YAML");
  warnings.back().rule = row_of(Rule::json_syntax).code;
  return yaml;
}

inline RejectedFile invalid_spec(const Document& document, const Spec& spec, Error why) {
  RejectedFile out{.why = std::move(why)};
  out.why.position = document.locate(out.why.where);
  if (out.why.rule == row_of(Rule::version_new_enough).code) {
    out.needs_version = to_string(minimum_version(spec));
  }
  return out;
}

inline Error odd_case_warning(const Reading& reading) {
  return {.code = Errc::schema,
          .message =
              "names of members in another case are refused by the Rust crate and by engines "
              "with the Go library 1.1.1 (" +
              std::string{engines_with_yaml_v3} + " and newer)",
          .advice = "write " + cdi::quoted(reading.field),
          .where = std::string{reading.odd_case->text()},
          .position = reading.odd_case->position(),
          .rule = row_of(Rule::member_case).code};
}

/// Makes the warning about a scalar that engines with an older Go library read differently. Its
/// code is `Errc::schema` if those engines refuse the scalar, as `rejection_by` does for them.
inline Error yaml_1_1_warning(const Document::Value& scalar) {
  const bool quoted = scalar.kind() == Document::Kind::quoted;
  return {.code = quoted ? Errc::schema : Errc::invalid,
          .message = (quoted ? cdi::quoted(scalar.text()) + " is refused"
                             : cdi::escaped(scalar.text()) + " is read as another text") +
                     " by engines with the Go library 1.1.0 or older (only " +
                     std::string{engines_with_yaml_v3} + " and newer have 1.1.1)",
          .advice = quoted ? "write true or false" : "put it into quotes",
          .position = scalar.position(),
          .rule = row_of(Rule::portable_text).code};
}

/// Returns the newest member if the spec declares an earlier version.
inline std::optional<NewerMember> newer_member(const Reading& reading, const Spec& spec) {
  if (!reading.newest_key || reading.newest <= parse_spec_version(spec.version))
    return std::nullopt;
  return NewerMember{.since = reading.newest,
                     .key = std::string{reading.newest_key->text()},
                     .position = reading.newest_key->position()};
}

/// Reads a spec from a document and validates it. Errors and warnings receive line and column.
inline SpecOrRejected spec_of_document(const Document& document) {
  Reading reading;
  auto spec = detail::read_noting<Spec>(document.root(), reading);
  if (!spec) return {.rejected = {.why = std::move(spec).error()}};
  std::vector<Error> warnings;
  auto valid = document.may_have_nul() ? cdi::validate(*spec, &warnings)
                                       : detail::validate_without_nul(*spec, &warnings);
  if (!valid) return {.rejected = invalid_spec(document, *spec, std::move(valid).error())};
  for (auto& warning : warnings) warning.position = document.locate(warning.where);
  if (reading.odd_case) warnings.insert(warnings.begin(), odd_case_warning(reading));
  if (const auto& scalar = reading.other_in_yaml_1_1) {
    warnings.push_back(yaml_1_1_warning(*scalar));
  }
  LoadedSpec out{.spec = std::move(*spec), .warnings = std::move(warnings)};
  out.device_positions = document.positions_of(*detail::find_member(document.root(), "devices"));
  if (const auto edits = detail::find_member(document.root(), "containerEdits")) {
    const auto at = edits->position();
    out.edits_position = {at.line, at.column};
  }
  out.newer_member = newer_member(reading, out.spec);
  out.as_read = true;
  return {.spec = std::move(out)};
}

/// Reads a spec. `quarantine` removes the invalid devices, from `document` as well.
inline SpecOrRejected spec_of_good_devices(Document& document, bool quarantine) {
  auto out = detail::spec_of_document(document);
  if (out.spec || !quarantine) return out;
  std::vector<QuarantinedDevice> left_out;
  auto good = detail::without_bad_devices(document, left_out);
  if (!good) return out;
  out = detail::spec_of_document(*good);
  if (!out.spec) return out;
  out.spec->quarantined = std::move(left_out);
  document = *std::move(good);
  return out;
}

/// The positions of members, from the document that a spec was read from.
class DocumentPositions final : public MemberPositions {
 public:
  explicit DocumentPositions(Document document) : document_{std::move(document)} {
    const auto devices = detail::find_member(document_.root(), "devices");
    if (!devices) return;
    for (const auto device : devices->items()) devices_.push_back(device);
  }

  Position locate(std::string_view where) const override {
    auto value = start_of(where);
    while (!where.empty() && detail::descend(value, where)) continue;
    return value.position();
  }

  std::vector<LineColumn> positions_of(std::string_view where) const override {
    auto value = start_of(where);
    while (!where.empty()) {
      if (!detail::descend(value, where)) return {};
    }
    return document_.positions_of(value);
  }

 private:
  /// The device that a path begins with, which is taken from the path; else the root. A search from
  /// the root passes all devices before that one.
  Document::Value start_of(std::string_view& where) const {
    constexpr std::string_view devices = "devices[";
    std::uint32_t index = 0;
    auto rest = where;
    if (!rest.starts_with(devices)) return document_.root();
    rest.remove_prefix(devices.size());
    if (!take_number(rest, index) || !rest.starts_with(']') || index >= devices_.size()) {
      return document_.root();
    }
    where = rest.substr(1);
    return devices_[index];
  }

  Document document_;
  std::vector<Document::Value> devices_{};
};

/// Makes the warning about unread text that follows a document.
inline Error warning_of_rest(const Document& document, Position at) {
  Error out{.code = Errc::syntax, .position = std::move(at)};  // the text is not valid YAML
  out.rule = row_of(Rule::single_document).code;
  if (document.has_marker_before_rest()) {
    out.code = Errc::invalid;
    out.message = "only the first document of the file is read";
    out.advice = "put the others into files of their own";
  } else if (document.source()[document.root().offset()] == '{') {
    out.message = "text behind the closing brace is not read";
    out.advice = "move the brace to the end, or remove the text";
  } else {
    out.message = "text that is indented less than the members before it is not read";
    out.advice = "indent all members alike, or remove the text";
  }
  return out;
}

/// Warns about parts of the text that are not read or that other readers do not accept.
inline void warn_of_text(const Document& document, std::vector<Error>& warnings) {
  if (const auto rest = document.rest()) warnings.push_back(warning_of_rest(document, *rest));
  if (auto found = document.unportable()) {
    warnings.push_back({.code = Errc::syntax,
                        .message = std::move(found->reason),
                        .advice = std::move(found->advice),
                        .position = std::move(found->position),
                        .rule = row_of(Rule::portable_text).code});
  }
}

CDI_INLINE SpecOrRejected spec_of_text(std::string text, std::string_view path, Format format,
                                       const ReadOptions& options) {
  const std::string kept = options.digest == nullptr ? std::string{} : text;
  // JSON files cannot contain comments, whatever their text is.
  std::string owner{format == Format::yaml ? detail::owner_in_comment(text) : std::string_view{}};
  std::vector<Error> warnings;
  auto document = detail::document_of_text(text, path, format, options.limits, warnings);
  if (!document) {
    SpecOrRejected out{.rejected = {.why = document.error()}};
    detail::guess_contents(text, out.rejected);
    return out;
  }
  detail::warn_of_text(*document, warnings);
  auto out = detail::spec_of_good_devices(*document, options.quarantine_devices);
  if (!out.spec) {
    detail::record_contents(*document, out.rejected);
    return out;
  }
  LoadedSpec& loaded = *out.spec;
  loaded.path = path;
  loaded.owner_comment = std::move(owner);
  for (auto& warning : loaded.warnings) warnings.push_back(std::move(warning));
  loaded.warnings = std::move(warnings);
  if (options.digest != nullptr) loaded.digest = options.digest(kept);
  return out;
}

CDI_INLINE std::unique_ptr<const MemberPositions> positions_in_text(const LoadedSpec& spec,
                                                                    const std::string& text) {
  std::vector<Error> warnings;
  std::string copy = DocumentBuilder::copy_of(text, {});
  auto document = detail::document_of_text(copy, spec.path, Format::yaml, {}, warnings);
  if (!document) return nullptr;
  const auto again = detail::spec_of_good_devices(*document, !spec.quarantined.empty());
  if (!again.spec || again.spec->spec != spec.spec) return nullptr;
  return std::make_unique<const DocumentPositions>(*std::move(document));
}

}  // namespace detail

CDI_INLINE Result<LoadedSpec> parse_spec(std::string_view text, std::string_view path,
                                         Format format, const ReadOptions& options) {
  auto read =
      detail::spec_of_text(DocumentBuilder::copy_of(text, options.limits), path, format, options);
  if (!read.spec) return std::move(read.rejected.why);
  read.spec->lazy_positions =
      std::make_shared<LazyPositions>(detail::positions_in_text, std::string{text});
  return *std::move(read.spec);
}

CDI_INLINE Result<std::string> write_spec(const Spec& spec, Format format) {
  auto valid = cdi::validate(spec, nullptr, ValidateFor::writing);
  if (!valid) return std::move(valid).error();
  if (format == Format::yaml) return cdi::write_yaml(spec);
  auto text = cdi::write_json(spec);
  if (text) text->append("\n");
  return text;
}

// No second file records the owner of a JSON file before 0.6.0: the two files could not be replaced
// in one step, and might name different owners.
CDI_INLINE Result<std::string> write_spec(Spec spec, Format format, std::string_view owner) {
  if (owner.empty()) return cdi::write_spec(spec, format);
  if (auto good = cdi::check_owner(owner); !good) return std::move(good).error();
  const auto declared = parse_spec_version(spec.version);
  const bool has_annotations = !declared || *declared >= detail::first_with_annotations;
  if (!has_annotations && format == Format::json) {
    return Error{.code = Errc::unsupported,
                 .message = "a JSON file of version " + cdi::quoted(spec.version) +
                            " cannot record its owner",
                 .advice =
                     "choose a name that ends in .yaml, or "
                     "write version \"" +
                     to_string(detail::first_with_annotations) + "\"",
                 .where = "cdiVersion"};
  }
  if (has_annotations) spec.annotations.insert_or_assign(std::string{owner_annotation}, owner);
  auto text = cdi::write_spec(spec, format);
  if (text && !has_annotations) {
    text->insert(0, std::string{detail::owner_comment}.append(owner).append("\n"));
  }
  return text;
}

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_SPEC_TEXT_INL
