// `Rare`: an optional that costs one pointer while it is empty.
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_MODEL_RARE_HPP
#define CDI_MODEL_RARE_HPP

#include <type_traits>
#include <utility>

#include <cdi/version.hpp>

namespace cdi {
inline namespace CDI_ABI {

/// A member that is seldom there, used like a `std::optional`. It takes one pointer where there is
/// nothing, and keeps the value on the heap: of many devices that is what counts
/// (bench/cache_bench.cpp).
template <class T>
class Rare {
 public:
  using value_type = T;  ///< of what is held

  /// Nothing; allocates nothing.
  Rare() noexcept {}  // NOLINT(modernize-use-equals-default): g++ 12, see storage.hpp
  /// A value; allocates. Implicit, as for `std::optional`.
  Rare(T value) : held_{new T(std::move(value))} {}
  /// A copy of the value, if there is one; allocates then.
  Rare(const Rare& other) : held_{other ? new T(*other) : nullptr} {}
  /// Takes the other's value, if there is one, and leaves it with nothing. Does not allocate.
  Rare(Rare&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
  /// Holds from now on what another holds: a copy, or what was moved from it.
  Rare& operator=(Rare other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  /// Holds a value made of `value` from now on; allocates.
  template <class U = T>
    requires(!std::is_scalar_v<T> && std::is_convertible_v<U, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, Rare>)
  Rare& operator=(U&& value) { return *this = Rare{T(std::forward<U>(value))}; }
  ~Rare() { delete held_; }

  /// Whether there is a value.
  bool has_value() const noexcept { return held_ != nullptr; }
  /// As `has_value`.
  explicit operator bool() const noexcept { return has_value(); }
  /// The value. Only when there is one; nobody looks.
  T& operator*() noexcept { return *held_; }
  /// The value, to look at. Only when there is one.
  const T& operator*() const noexcept { return *held_; }
  /// A member of the value. Only when there is one.
  T* operator->() noexcept { return held_; }
  /// A member of the value, to look at. Only when there is one.
  const T* operator->() const noexcept { return held_; }

  /// Makes a value of its defaults in place of what was there.
  T& emplace() {
    *this = Rare{T()};
    return *held_;
  }
  /// Holds nothing from now on.
  void reset() noexcept { delete std::exchange(held_, nullptr); }

  friend bool operator==(const Rare& a, const Rare& b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }

 private:
  T* held_ = nullptr;  // not a unique_ptr: <memory> costs a third of what a spec does to include
};

}  // namespace CDI_ABI
}  // namespace cdi

#endif  // CDI_MODEL_RARE_HPP
