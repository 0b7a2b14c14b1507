// The bodies of <cdi/files/spec_errors.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_SPEC_ERRORS_INL
#define CDI_FILES_SPEC_ERRORS_INL

#include <cstddef>
#include <string>
#include <utility>

#include <cdi/base/order.hpp>
#include <cdi/files/spec_errors.hpp>
#include <cdi/files/spec_text.hpp>
#include <cdi/model/spec.hpp>
#include <cdi/rules/validate.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>
#include <cdi/text/limits.hpp>
#include <cdi/text/read.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Whether one of two members is in the other, or both are the same.
inline bool are_nested(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) return are_nested(b, a);
  if (!b.starts_with(a)) return false;
  return a.empty() || b.size() == a.size() || b[a.size()] == '.' || b[a.size()] == '[';
}

/// Whether a broken rule may be due to a member that could not be read, and so has no value.
inline bool is_consequence(const Error& broken, const std::vector<Error>& unread) {
  for (const auto& error : unread) {
    if (are_nested(broken.where, error.where)) return true;
  }
  return false;
}

inline std::vector<Error> in_order_of_text(std::vector<Error> errors) {
  const auto order = order_of(errors.size(), [&](std::size_t a, std::size_t b) {
    const auto& one = errors[a].position;
    const auto& other = errors[b].position;
    return one.line < other.line || (one.line == other.line && one.column < other.column);
  });
  std::vector<Error> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(errors[i]));
  if (sorted.size() > max_errors) sorted.erase(sorted.begin() + max_errors, sorted.end());
  return sorted;
}

/// Reads as much of a spec as can be read, and checks the rules of the rest.
inline std::vector<Error> errors_of_document(const Document& document) {
  if (auto why = names_too_large(document)) return {*std::move(why)};
  std::vector<Error> unread;
  Spec spec;
  Reading reading{.every = &unread};
  const Type& type = table_of<Spec>();
  reading.bytes_left = document.max_model_bytes();
  const bool read =
      detail::read_value(document.root(), &spec, type, text_as(type, reading), reading);
  if (!read && !reading.why.message.empty()) unread.push_back(std::move(reading.why));
  if (!read && reading.why.code == Errc::limit) return unread;
  std::vector<Error> errors = unread;
  for (auto& error : cdi::every_error(spec)) {
    if (detail::is_consequence(error, unread)) continue;
    error.position = document.locate(error.where);
    errors.push_back(std::move(error));
  }
  return detail::in_order_of_text(std::move(errors));
}

}  // namespace detail

CDI_INLINE std::vector<Error> spec_errors(std::string_view text, std::string_view path,
                                          Format format, const ReadOptions& options) {
  std::string copy = DocumentBuilder::copy_of(text, options.limits);
  std::vector<Error> warnings;
  const auto document = detail::document_of_text(copy, path, format, options.limits, warnings);
  if (!document) return {document.error()};
  return detail::errors_of_document(*document);
}

}  // namespace cdi

#endif  // CDI_FILES_SPEC_ERRORS_INL
