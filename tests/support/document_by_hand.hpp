// Builds documents by hand.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <cdi/text/document.hpp>
#include <cdi/text/document_builder.hpp>

#include "shown_document.hpp"

/// Builds a document by hand. The values are on line 1, each in the next column.
class Hand {
 public:
  explicit Hand(cdi::Limits limits = {}, bool merge_keys = true)
      : builder_{std::string(40, ' '), "f", limits, merge_keys} {}

  bool null() { return builder_.null(column_++); }
  bool word(std::string_view text) { return builder_.decoded_scalar(column_++, text, false); }
  bool text(std::string_view text) { return builder_.decoded_scalar(column_++, text, true); }
  bool list() { return builder_.begin_list(column_++); }
  bool end_list() { return builder_.end_list(); }
  bool map() { return builder_.begin_map(column_++); }
  bool end_map() { return builder_.end_map(); }
  std::uint32_t last() const { return builder_.last(); }
  bool copy(std::uint32_t from) { return builder_.copy(from, column_++); }
  cdi::Result<cdi::Document> finish() { return std::move(builder_).finish(); }

 private:
  cdi::DocumentBuilder builder_;
  std::size_t column_ = 0;
};

inline std::string shown(cdi::Result<cdi::Document> document) {
  return document ? show(document->root()) : to_string(document.error());
}
