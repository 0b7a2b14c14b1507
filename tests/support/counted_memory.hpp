// Replaces the global allocation functions of a program by functions that count. Include it in only
// one source file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace counted {

inline std::atomic<std::size_t> held{0};  // bytes, with the padding of malloc
inline std::atomic<std::size_t> max_held{0};
inline std::atomic<std::size_t> allocations{0};

/// The highest number of allocated bytes since construction, minus the number at construction. For
/// one object at a time, in a program with one thread.
class Peak {
 public:
  Peak() : before_{held} { max_held = before_; }
  std::size_t bytes() const { return max_held - before_; }

 private:
  std::size_t before_;
};

}  // namespace counted

// Not inlined, because g++ warns if it inlines only one function of a new and delete pair.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  counted::held += ::malloc_usable_size(memory) + sizeof(std::size_t);  // malloc's header
  counted::max_held = std::max<std::size_t>(counted::max_held, counted::held);
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

[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory == nullptr) std::abort();
  counted::held += ::malloc_usable_size(memory) + sizeof(std::size_t);
  counted::max_held = std::max<std::size_t>(counted::max_held, counted::held);
  ++counted::allocations;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}
