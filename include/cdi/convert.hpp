// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_CONVERT_HPP
#define CDI_CONVERT_HPP

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cdi/fields.hpp>
#include <cdi/storage.hpp>
#include <cdi/value.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

template <class From, class To>
void convert_value(const From& from, To& to);

template <Described From, Described To, std::size_t... I>
void convert_struct(const From& from, To& to, std::index_sequence<I...>) {
  (detail::convert_value(from.*std::get<I>(field_list<From>).member,
                         to.*std::get<I>(field_list<To>).member),
   ...);
  if constexpr (Extensible<From>) detail::convert_value(from.extra, to.extra);
}

template <class From, class To>
void convert_value(const From& from, To& to) {
  if constexpr (std::is_assignable_v<To&, const From&>) {
    to = from;
  } else if constexpr (Described<From>) {
    using Fields = decltype(Describe<From>::fields());
    detail::convert_struct(from, to, std::make_index_sequence<std::tuple_size_v<Fields>>{});
  } else if constexpr (is_value<From>) {
    to.kind = from.kind;
    detail::convert_value(from.text, to.text);
    detail::convert_value(from.members, to.members);
  } else if constexpr (is_member<From>) {
    detail::convert_value(from.key, to.key);
    detail::convert_value(from.value, to.value);
  } else if constexpr (DictLike<To>) {
    to.clear();
    for (const auto& [key, value] : from) {
      detail::convert_value(value, to[typename To::key_type{key}]);
    }
  } else if constexpr (ListLike<To>) {
    to.clear();
    to.reserve(from.size());
    for (const auto& value : from) detail::convert_value(value, to.emplace_back());
  } else {
    to.reset();
    if (from) detail::convert_value(*from, to.emplace());
  }
}

}  // namespace detail

/// The same model in another storage: `convert<Spec>(view)` copies the text, `convert<SpecView>(s)`
/// points into `s`, which must outlive the view. Costs one pass over the model. Both types have the
/// same fields in the same order.
template <Described To, Described From>
To convert(const From& from) {
  To to{};
  detail::convert_value(from, to);
  return to;
}

/// Not there: a view of a model that is about to go would point nowhere.
template <Described To, Described From>
  requires(detail::is_borrowed<To> && !detail::is_borrowed<From>)
To convert(const From&&)
= delete;

}  // namespace cdi::inline CDI_ABI

#endif  // CDI_CONVERT_HPP
