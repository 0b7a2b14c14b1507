// `AskedKinds`: decides from a file's bytes whether it may be a spec of a requested kind.
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

/// The kinds of the devices that a program requests.
class AskedKinds {
 public:
  /// Takes the kind of each name: the text before the first `=`, which need not be a valid kind.
  explicit AskedKinds(Names names) {
    names.each([&](std::string_view name) { add(name.substr(0, name.find('='))); });
  }

  /// Returns false if a byte search rules out that the text is a spec of one of the kinds. The
  /// search is cheaper than parsing. With more than 8 kinds, the result is always true.
  ///
  /// A kind contains neither blanks nor quotes. JSON and YAML can therefore express a kind only by
  /// its own adjacent bytes, because a line break in a scalar becomes a blank or a line break in
  /// the value. Any other spelling requires a backslash escape, a tag, which begins with an
  /// exclamation mark, or UTF-16, which has a NUL byte for each ASCII character.
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
  static constexpr std::size_t most = 8;  // searching for more kinds costs as much as parsing

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
