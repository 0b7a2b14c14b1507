// A name that is split can be joined again; another text has an error in UTF-8. A selector selects
// valid names, which select the same. A version that is read is written the same.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <cdi/minimum_version.hpp>
#include <cdi/name.hpp>
#include <cdi/requests.hpp>

#include "fuzz.hpp"

namespace {

void require_words(const cdi::Error& error) {
  fuzz::require(!error.message.empty() && cdi::detail::is_utf8(error.message), "an error says why",
                error.message);
}

void check_name(std::string_view text) {
  const auto name = cdi::parse_name(text);
  if (!name) return require_words(cdi::qualified_name_error(text));
  const auto kind = std::string{name->vendor} + "/" + std::string{name->device_class};
  fuzz::require(cdi::qualified_name(kind, name->device) == text, "a name has three parts");
  fuzz::require(cdi::parse_kind(kind).has_value(), "a name begins with a kind");
  const auto file = cdi::transient_spec_name(kind, name->device);
  fuzz::require(file && file->find('/') == file->npos, "a spec name is a file name");
}

void check_selector(std::string_view text) {
  const auto names = cdi::parse_selector(text);
  if (!names) return require_words(names.error());
  std::string joined;
  for (const auto& name : *names) {
    fuzz::require(cdi::parse_name(name).has_value(), "a selected name is valid", name);
    joined.append(joined.empty() ? "" : ":").append(name);
  }
  const auto again = cdi::parse_selector(joined);
  fuzz::require(again && *again == *names, "selected names select the same", joined);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  check_name(text);
  check_selector(text);
  if (!cdi::parse_kind(text)) require_words(cdi::kind_error(text));
  if (!cdi::is_device_name(text)) require_words(cdi::name_error(cdi::NamePart::device, text));
  const auto file = cdi::transient_spec_name("v/c", text);
  fuzz::require(!file || file->find('/') == file->npos, "a transient id cannot contain a slash");
  if (const auto version = cdi::parse_spec_version(text)) {
    const auto digits = text.substr(text.starts_with('v') ? 1 : 0);
    fuzz::require(cdi::to_string(*version) == digits, "a version is written as it is read");
  }
  return 0;
}
