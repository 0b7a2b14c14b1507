// `copy_as`: copies a model into another storage.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_COPY_AS_HPP
#define CDI_MODEL_COPY_AS_HPP

#include <cstddef>
#include <type_traits>

#include <cdi/model/borrowed.hpp>
#include <cdi/model/fields.hpp>
#include <cdi/model/type.hpp>
#include <cdi/model/type_of.hpp>
#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

namespace detail {

/// Copies a value to an object of another type, which may differ only in its storage.
void copy_erased(void* from, const Type& from_type, void* to, const Type& to_type);

/// Whether two types differ only in their storage, compared down to `depth` levels.
constexpr bool is_same_model(const Type& a, const Type& b, int depth = 6) {
  if (a.shape != b.shape || a.field_count != b.field_count) return false;
  if (depth == 0 || a.shape == Shape::any_value) return true;
  // Not `a.item != nullptr`: with g++ 12's undefined sanitizer, that is not a constant.
  const bool holds = a.shape == Shape::list || a.shape == Shape::dict || a.shape == Shape::optional;
  if (holds && !is_same_model(*a.item, *b.item, depth - 1)) return false;
  for (std::size_t i = 0; i < a.field_count; ++i) {
    if (!is_same_model(*a.fields[i].type, *b.fields[i].type, depth - 1)) return false;
  }
  return true;
}

/// Replaces `to` with the value of `from`; their storage may differ.
template <class From, class To>
void copy_value(const From& from, To& to) {
  if constexpr (std::is_assignable_v<To&, const From&>) {
    to = from;
  } else {
    static_assert(is_same_model(type_of<From>, type_of<To>),
                  "cdi: only a model with the same fields in another storage can be copied");
    detail::copy_erased(as_mutable(&from), table_of<From>(), &to, table_of<To>());
  }
}

}  // namespace detail

/// Copies a model into another storage: `copy_as<Spec>(view)` copies the text, while
/// `copy_as<SpecView>(s)` points into `s`, which must outlive the view. Both types must list the
/// same fields in the same order. Costs one pass over the model.
template <Described To, Described From>
To copy_as(const From& from) {
  To to{};
  detail::copy_value(from, to);
  return to;
}

/// Deleted: a view of a temporary model would dangle.
template <Described To, Described From>
  requires(Borrowing<To> && !Borrowing<From>)
To copy_as(const From&&)
= delete;

}  // namespace cdi

#if CDI_BODIES
#include <cdi/model/copy_as.inl>
#endif

#endif  // CDI_MODEL_COPY_AS_HPP
