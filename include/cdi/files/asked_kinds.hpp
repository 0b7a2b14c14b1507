// `AskedKinds`: which files can be specs of the kinds that are asked for, by their bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_FILES_ASKED_KINDS_HPP
#define CDI_FILES_ASKED_KINDS_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <cdi/rules/names.hpp>
#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

namespace detail {

/// The kinds of the devices that a program asks for.
class AskedKinds {
 public:
  /// The kinds of names: the text before the first `=`, which need not be a valid kind.
  explicit AskedKinds(Names names) {
    names.each([&](std::string_view name) { add(name.substr(0, name.find('='))); });
  }

  /// Whether a text can be a spec of one of the kinds, as far as a search for bytes can decide. It
  /// costs less than to parse the text: of more than 8 kinds, any text can be.
  ///
  /// A kind has neither blanks nor quotes. JSON and YAML therefore give it only for its own bytes,
  /// next to each other: a line break in a scalar is a blank or a line break in the value. Other
  /// bytes can give it only with an escape, which is a backslash; with a tag, which begins with an
  /// exclamation mark; or as UTF-16, which has a NUL byte for each ASCII character.
  bool can_be_in(std::string_view text) const {
    if (kinds_.size() > most) return true;
    for (const auto& kind : kinds_) {
      if (text.find(kind) != text.npos) return true;
    }
    for (const char other : {'\\', '!', '\0'}) {
      if (!kinds_.empty() && text.find(other) != text.npos) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t most = 8;  // to search for more costs as much as to parse

  void add(std::string_view kind) {
    if (kinds_.size() > most) return;
    for (const auto& known : kinds_) {
      if (known == kind) return;
    }
    kinds_.emplace_back(kind);
  }

  std::vector<std::string> kinds_{};
};

}  // namespace detail

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_FILES_ASKED_KINDS_HPP
