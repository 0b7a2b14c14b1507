// `HeapOptional`: an optional the size of one pointer, with its value on the heap.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_MODEL_HEAP_OPTIONAL_HPP
#define CDI_MODEL_HEAP_OPTIONAL_HPP

#include <type_traits>
#include <utility>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI {

/// An optional that keeps its value on the heap; used like `std::optional`. When empty, it
/// takes only a pointer, which pays off because few devices set a value (bench/cache_bench.cpp).
template <class T>
class HeapOptional {
 public:
  using value_type = T;  ///< the type of the value

  /// Creates an empty optional; does not allocate.
  HeapOptional() noexcept {}  // not defaulted because of g++ 12: see storage.hpp
  /// Holds a value; allocates. Implicit, as for `std::optional`.
  HeapOptional(T value) : held_{new T(std::move(value))} {}
  /// Copies the value, if any; allocates only then.
  HeapOptional(const HeapOptional& other) : held_{other ? new T(*other) : nullptr} {}
  /// Takes the other optional's value and leaves it empty. Does not allocate.
  HeapOptional(HeapOptional&& other) noexcept : held_{std::exchange(other.held_, nullptr)} {}
  /// Replaces the value by copying or moving another optional.
  HeapOptional& operator=(HeapOptional other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  /// Replaces the value; allocates.
  template <class U = T>
    requires(!std::is_scalar_v<T> && std::is_convertible_v<U, T> &&
             !std::is_same_v<std::remove_cvref_t<U>, HeapOptional>)
  HeapOptional& operator=(U&& value) { return *this = HeapOptional{T(std::forward<U>(value))}; }
  ~HeapOptional() { delete held_; }

  /// Whether there is a value.
  bool has_value() const noexcept { return held_ != nullptr; }
  /// Equivalent to `has_value()`.
  explicit operator bool() const noexcept { return has_value(); }
  /// The value. Behaviour is undefined if there is none, since access is not checked.
  T& operator*() noexcept { return *held_; }
  /// The value. Behaviour is undefined if there is none.
  const T& operator*() const noexcept { return *held_; }
  /// Accesses a member of the value. Behaviour is undefined if there is none.
  T* operator->() noexcept { return held_; }
  /// Accesses a member of the value. Behaviour is undefined if there is none.
  const T* operator->() const noexcept { return held_; }

  /// Replaces the value with a default value and returns it; allocates.
  T& emplace() {
    *this = HeapOptional{T()};
    return *held_;
  }
  /// Destroys the value, if any.
  void reset() noexcept { delete std::exchange(held_, nullptr); }

  friend bool operator==(const HeapOptional& a, const HeapOptional& b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }

 private:
  T* held_ = nullptr;  // not a unique_ptr: <memory> is a third of the compile cost of spec.hpp
};

}  // namespace cdi

#endif  // CDI_MODEL_HEAP_OPTIONAL_HPP
