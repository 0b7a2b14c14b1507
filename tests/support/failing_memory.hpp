// Replaces the global allocation functions of a program by functions that fail on request. Include
// it in only one source file.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace failing {

inline thread_local std::size_t left = 0;         // allocations of this thread until one fails
inline thread_local bool has_failed = false;      // since the last `fail_at`
inline thread_local std::size_t allocations = 0;  // of this thread
inline std::atomic<std::ptrdiff_t> held = 0;      // allocations that are not freed yet

/// Makes one allocation of this thread fail, counted from 1. With 0, none fails.
inline void fail_at(std::size_t number) {
  left = number;
  has_failed = false;
}

/// Returns null if the allocation is one that fails.
inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  if (left != 0 && --left == 0) {
    has_failed = true;
    return nullptr;
  }
  ++held;
  return std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

}  // namespace failing

// Not inlined, because g++ warns if it inlines only one function of a new and delete pair.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return failing::allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = failing::allocate(size, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = failing::allocate(size, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory != nullptr) --failing::held;
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  operator delete(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}
