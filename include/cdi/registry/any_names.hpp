// `AnyNames`: a view of any range of names.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_REGISTRY_ANY_NAMES_HPP
#define CDI_REGISTRY_ANY_NAMES_HPP

#include <string_view>
#include <type_traits>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {
namespace detail {

/// The names of any range. Valid as long as the range.
class AnyNames {
 public:
  template <class Names>
  explicit AnyNames(const Names& names)
      : names_{&names}, each_{[](const void* range, void* context, Visit visit) {
          for (const auto& item : *static_cast<const Names*>(range)) {  // it may be a temporary
            const std::string_view name = item;
            visit(context, name);
          }
        }} {}

  /// Calls `visit(name)` for each name, in order.
  template <class Visitor>
  void each(Visitor&& visitor) const {
    each_(names_, &visitor, [](void* context, std::string_view name) {
      (*static_cast<std::remove_reference_t<Visitor>*>(context))(name);
    });
  }

 private:
  using Visit = void (*)(void* context, std::string_view name);

  const void* names_;
  void (*each_)(const void* range, void* context, Visit visit);
};

}  // namespace detail
}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_REGISTRY_ANY_NAMES_HPP
