// cdi - Container Device Interface for C++20
// SPDX-License-Identifier: Apache-2.0

#ifndef CDI_TESTS_COUNTED_MEMORY_HPP
#define CDI_TESTS_COUNTED_MEMORY_HPP

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

// Replaces the global allocation functions of a program by ones that count. For one source file.

namespace counted {

inline std::atomic<std::size_t> held{0};  // bytes, with what malloc rounds up
inline std::atomic<std::size_t> most_held{0};
inline std::atomic<std::size_t> allocations{0};

/// The most bytes that were held at a time since it was made, over what was held then. One at a
/// time, in a program of one thread.
class Peak {
 public:
  Peak() : before_{held} { most_held = before_; }
  std::size_t bytes() const { return most_held - before_; }

 private:
  std::size_t before_;
};

}  // namespace counted

// Not inlined: g++ would see half of a pair and warn.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  counted::held += ::malloc_usable_size(memory) + sizeof(std::size_t);  // its own head
  counted::most_held = std::max<std::size_t>(counted::most_held, counted::held);
  ++counted::allocations;
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) counted::held -= ::malloc_usable_size(memory) + sizeof(std::size_t);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

#endif  // CDI_TESTS_COUNTED_MEMORY_HPP
