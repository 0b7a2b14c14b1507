// `Names`: a parameter type for qualified names, from any range or a braced list.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_RULES_NAMES_HPP
#define CDI_RULES_NAMES_HPP

#include <concepts>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// A range of texts, such as a vector of strings, or of objects convertible to `std::string_view`.
template <class Range>
concept NameRange = requires(const Range& names) {
  { *std::begin(names) } -> std::convertible_to<std::string_view>;
};

/// The qualified names that a function takes: any range of texts or a braced list, as in
/// `cache.inject(config, names)` and `cache.inject(config, {"vendor.com/class=device"})`. A `Names`
/// is a view, created implicitly for one call: the range and its texts must outlive it, and it must
/// not be stored.
class Names {
 public:
  /// Refers to a range. Implicit, so that callers can pass the range itself.
  template <NameRange Range>
  Names(const Range& names) : names_{&names}, each_{each_of<Range>} {}
  /// Refers to a braced list.
  Names(const std::initializer_list<std::string_view>& names)
      : names_{&names}, each_{each_of<std::initializer_list<std::string_view>>} {}

  /// Calls `visit(name)` with a `std::string_view` for each name, in order.
  template <class Visitor>
  void each(Visitor&& visit) const {
    each_(names_, &visit, [](void* context, std::string_view name) {
      (*static_cast<std::remove_reference_t<Visitor>*>(context))(name);
    });
  }

 private:
  using Visit = void (*)(void* context, std::string_view name);

  template <class Range>
  static void each_of(const void* names, void* context, Visit visit) {
    for (const auto& item : *static_cast<const Range*>(names)) {  // `item` may be a temporary
      const std::string_view name = item;
      visit(context, name);
    }
  }

  const void* names_;
  void (*each_)(const void* names, void* context, Visit visit);
};

}  // namespace cdi

#endif  // CDI_RULES_NAMES_HPP
