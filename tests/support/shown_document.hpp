// Shows documents as text, with positions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <string>

#include <cdi/result.hpp>
#include <cdi/text/document.hpp>

/// `LINE:COLUMN`.
inline std::string place(const cdi::Position& position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

/// A value as text; with `places`, each value and key has its position: `{a@1:1=1@1:4}@1:1`.
inline std::string show(const cdi::Document::Value& value, bool places = false) {
  using Kind = cdi::Document::Kind;
  std::string out;
  if (value.kind() == Kind::null) out = "null";
  if (value.kind() == Kind::plain) out = value.text();
  if (value.kind() == Kind::quoted) out = cdi::quoted(value.text());
  if (value.kind() == Kind::list) {
    for (const auto item : value.items()) out += (out.empty() ? "" : " ") + show(item, places);
    out = "[" + out + "]";
  }
  if (value.kind() == Kind::map) {
    for (const auto [key, member] : value.members()) {
      out += (out.empty() ? "" : " ") + show(key, places) + "=" + show(member, places);
    }
    out = "{" + out + "}";
  }
  return places ? out + "@" + place(value.position()) : out;
}
