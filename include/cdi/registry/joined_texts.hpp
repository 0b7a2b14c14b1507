// `JoinedTexts`: texts one after the other in memory.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_REGISTRY_JOINED_TEXTS_HPP
#define CDI_REGISTRY_JOINED_TEXTS_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A list of short texts that are read in any order: a processor keeps more of them in its caches
/// than of texts that are far apart.
class JoinedTexts {
 public:
  std::size_t size() const { return ends_.size(); }

  /// Returns the text with an index. Valid until the list changes.
  std::string_view operator[](std::size_t index) const {
    const auto begin = begin_of(index);
    return {text_.data() + begin, ends_[index] - begin};
  }

  void reserve(std::size_t size) { ends_.reserve(size); }

  void push_back(std::string_view text) {
    text_.append(text);
    ends_.push_back(text_.size());
  }

  /// Replaces the texts from `first` to before `last` by all texts of another list.
  void replace(std::size_t first, std::size_t last, const JoinedTexts& others);

 private:
  std::size_t begin_of(std::size_t index) const { return index == 0 ? 0 : ends_[index - 1]; }

  std::string text_{};
  std::vector<std::size_t> ends_{};  // of each text, in `text_`
};

}  // namespace cdi::detail

#if CDI_BODIES
#include <cdi/registry/joined_texts.inl>
#endif

#endif  // CDI_REGISTRY_JOINED_TEXTS_HPP
