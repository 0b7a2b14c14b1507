// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TESTS_FUZZ_HPP
#define CDI_TESTS_FUZZ_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/model/any_value.hpp>
#include <cdi/result.hpp>
#include <cdi/text/document.hpp>
#include <cdi/text/read.hpp>
#include <cdi/text/write.hpp>

#include "../counted_memory.hpp"

// What the fuzz targets share. Each target is a program of libFuzzer, which calls
// `LLVMFuzzerTestOneInput` with made-up bytes until a property does not hold.

namespace fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program, as a finding, when a property does not hold.
inline void require(bool holds, std::string_view property, std::string_view detail = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n%.*s\n", static_cast<int>(property.size()),
               property.data(), static_cast<int>(detail.size()), detail.data());
  std::abort();
}

/// Why there is no value; empty when there is one.
template <class T>
std::string fault_of(const cdi::Result<T>& result) {
  return result ? std::string{} : to_string(result.error());
}

/// Whether there is a value. The error of one that is not there must name a place inside the text,
/// in words that are UTF-8.
template <class T>
bool is_read(const cdi::Result<T>& result, std::string_view text) {
  if (result) return true;
  const cdi::Error& error = result.error();
  require(!error.message.empty() && cdi::detail::is_utf8(to_string(error)), "an error says why",
          error.message);
  require(error.position.line <= text.size() + 1, "an error names a place inside the text");
  require(error.position.column <= 2 * text.size() + 1, "an error names a place inside its line");
  return false;
}

/// Parses with a bound on memory: at most ten times the text, ten times as much for aliases, and a
/// block of values twice.
template <class Parse>
cdi::Result<cdi::Document> parse_within_memory(Parse parse, std::string_view text) {
  constexpr std::size_t small = 32 << 10;
  const counted::Peak peak;
  auto document = parse(text, "f", cdi::Limits{.expansion = 0});
  require(peak.bytes() <= 20 * text.size() + small, "memory is bounded by the size of the text",
          std::to_string(peak.bytes()));
  return document;
}

/// A value with all in it, as the library hands it to users.
inline cdi::AnyValue value_of(const cdi::Document::Value& value) {
  cdi::AnyValue out;
  cdi::detail::read_any(value, &out, cdi::detail::type_of<cdi::AnyValue>);
  return out;
}

/// A value and everything in it on one line; the kind of each is told by its brackets or quotes.
inline void show(const cdi::Document::Value& value, std::string& out) {
  using Kind = cdi::Document::Kind;
  if (value.kind() == Kind::null) out.append("null");
  if (value.kind() == Kind::plain) out.append(value.text());
  if (value.kind() == Kind::quoted) out.append("\"").append(value.text()).append("\"");
  if (value.kind() == Kind::list) out.append("[");
  if (value.kind() == Kind::map) out.append("{");
  for (const auto item : value.items()) show(item, out), out.append(",");
  for (const auto [key, member] : value.members()) {
    show(key, out), out.append(":");
    show(member, out), out.append(",");
  }
  if (value.kind() == Kind::list) out.append("]");
  if (value.kind() == Kind::map) out.append("}");
}

inline std::string shown(const cdi::Document& document) {
  std::string out;
  show(document.root(), out);
  return out;
}

/// Whether two values say the same. `YamlSink` writes exponents in a way of its own.
inline bool is_same(const cdi::AnyValue& a, const cdi::AnyValue& b) {
  const bool exponent =
      a.kind == cdi::ValueKind::number && a.text.find_first_of("eE") != std::string::npos;
  const bool same_text =
      exponent ? std::strtod(a.text.c_str(), nullptr) == std::strtod(b.text.c_str(), nullptr)
               : a.text == b.text;
  return a.kind == b.kind && same_text &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const cdi::AnyMember& x, const cdi::AnyMember& y) {
                      return x.key == y.key && is_same(x.value, y.value);
                    });
}

/// A value as a sink writes it.
template <class Sink>
std::string written(const cdi::AnyValue& value, Sink sink) {
  cdi::write(value, sink);
  require(static_cast<bool>(sink.good()), "what was read can be written");
  return std::move(sink).take();
}

}  // namespace fuzz

#endif  // CDI_TESTS_FUZZ_HPP
