// Objects that the C library returns to its callers, and the errors of its functions.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_C_OBJECTS_HPP
#define CDI_C_OBJECTS_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <cdi/cdi.h>
#include <cdi/registry.hpp>
#include <cdi/result.hpp>

namespace c_library {

/// The header before each object that the caller frees.
struct alignas(std::max_align_t) Header {
  void (*destroy)(Header*);
};

struct Nothing {};

/// An object for the caller, with the memory that the object points into.
template <class Object, class Storage = Nothing>
struct Box {
  Header header{[](Header* self) {
    delete reinterpret_cast<Box*>(self);
  }};
  Object object{};
  Storage storage{};

  static_assert(alignof(Object) <= sizeof(Header), "the object follows the header");
};

/// Passes ownership of an object to the caller.
template <class Object, class Storage>
Object* release(std::unique_ptr<Box<Object, Storage>> box) {
  return &box.release()->object;
}

/// A struct that may grow. A program that is built for a later release may read a newer member
/// without CDI_HAS, so zeros follow the known members.
template <class T>
struct Grown {
  T object{};
  std::uint64_t zeros[8]{};
};
template <class T, class Storage>
T* release(std::unique_ptr<Box<Grown<T>, Storage>> box) {
  return &box.release()->object.object;
}

/// A list of structs that may grow, at fixed addresses.
template <class T>
class Objects {
 public:
  const T* first() const { return objects_.empty() ? nullptr : &objects_.front().object; }
  T& add(const T& object) {
    auto& added = objects_.emplace_back(Grown<T>{object});
    pointers_.push_back(&added.object);
    return added.object;
  }
  /// Makes two members of a struct describe the list.
  void give(const T* const*& items, std::size_t& size) const {
    items = pointers_.data();
    size = pointers_.size();
  }

 private:
  std::deque<Grown<T>> objects_{};
  std::vector<const T*> pointers_{};
};

/// Texts at fixed addresses, and the pointers to them.
struct Texts {
  std::deque<std::string> texts{};
  std::vector<const char*> pointers{};

  const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
};

/// Returns the message and the place of an error, without advice.
inline std::string text_of(cdi::Error error) {
  error.advice.clear();
  return to_string(error);
}

/// An error with its text.
struct Failure {
  Failure(cdi::Error why) : error{std::move(why)}, text{text_of(error)} {}
  /// Describes a name that does not resolve.
  explicit Failure(const cdi::Unresolved& one) : error{one.why}, text{text_of(one.why)} {
    add_place(one);
    if (is_unknown(one.reason)) add_causes(one);
  }

  /// Notes that the deadline has passed.
  void set_late() {
    constexpr std::string_view late = "timed out: ";
    error.code = cdi::Errc::timeout;
    error.message.insert(0, late);
    text.insert(0, late);
  }

  cdi::Error error;
  std::string text;

 private:
  /// Adds the place of the first cause, which the message names, and the advice.
  void add_place(const cdi::Unresolved& one) {
    error.advice = cdi::advice(one);
    if (one.causes.empty()) return;
    error.where = one.causes.front().where;
    error.position = one.causes.front().position;
    if (one.causes.front().system == ENOMEM) error.system = ENOMEM;
  }

  /// Lists files that could not be read, because they may hold the reason.
  void add_causes(const cdi::Unresolved& one) {
    constexpr std::size_t max = 3;
    std::string more;
    for (std::size_t i = 0; i < one.causes.size() && i < max; ++i) {
      more.append("; not used: ").append(to_string(one.causes[i]));
    }
    const auto count = one.causes.size() + one.more_causes;
    if (count > max) more.append("; and ").append(std::to_string(count - max)).append(" more");
    error.message.append(more);
    text.append(more);
  }
};

/// An error for the caller, with the texts that the error points to.
struct KeptError {
  Failure failure;
  Grown<cdi_error> object{};
};
using KeptErrors = std::deque<KeptError>;

/// Returns the code of an error; system calls such as opendir may also run out of memory.
inline cdi_code code_of(const cdi::Error& error) {
  if (error.system == ENOMEM) return CDI_NO_MEMORY;
  return static_cast<cdi_code>(static_cast<int>(error.code) + 1);
}

inline void keep(KeptErrors& errors, Failure failure) {
  auto& [from, grown] = errors.emplace_back(KeptError{std::move(failure)});
  auto& kept = from.error;
  if (kept.where.find('\0') != std::string::npos) {  // a text in C would end there
    kept.where = cdi::escaped(kept.where, std::string::npos);
  }
  grown.object = {.size = sizeof(cdi_error),
                  .code = code_of(kept),
                  .text = from.text.c_str(),
                  .message = kept.message.c_str(),
                  .advice = kept.advice.c_str(),
                  .where = kept.where.c_str(),
                  .file = kept.position.file.c_str(),
                  .line = kept.position.line,
                  .column = kept.position.column,
                  .system = kept.system,
                  .next = nullptr};
}
static_assert(static_cast<int>(cdi::Errc::system) + 1 == CDI_SYSTEM,
              "cdi_code lists the codes in the order of cdi::Errc");

/// The out-of-memory error, which itself needs no memory.
struct NoMemory {
  Header header{[](Header*) {
  }};
  Grown<cdi_error> error{{.size = sizeof(cdi_error),
                          .code = CDI_NO_MEMORY,
                          .text = "out of memory",
                          .message = "out of memory",
                          .advice = "",
                          .where = "",
                          .file = "",
                          .line = 0,
                          .column = 0,
                          .system = 0,
                          .next = nullptr}};
};
inline NoMemory no_memory;

/// Reports at least one error to the caller.
inline void report(cdi_error** to, std::vector<Failure> errors) {
  if (to == nullptr) return;
  auto box = std::make_unique<Box<Grown<cdi_error>, KeptErrors>>();
  auto& kept = box->storage;
  for (auto& error : errors) keep(kept, std::move(error));
  for (std::size_t i = 1; i < kept.size(); ++i) {
    kept[i - 1].object.object.next = &kept[i].object.object;
  }
  box->object = kept.front().object;
  *to = release(std::move(box));
}

/// The result of a library function: a value, or errors.
template <class T>
struct Answer {
  Answer(T good) : value{good} {}
  Answer(cdi::Error error) { errors.emplace_back(std::move(error)); }
  Answer(Failure failure) { errors.push_back(std::move(failure)); }
  Answer(std::vector<cdi::Error> all) {
    for (auto& error : all) errors.emplace_back(std::move(error));
  }
  Answer(std::vector<Failure> all) : errors{std::move(all)} {}

  T value{};
  std::vector<Failure> errors{};
};

/// Returns the value with which a function fails: NULL or -1.
template <class T>
T failure() {
  if constexpr (std::is_pointer_v<T>) {
    return nullptr;
  } else {
    return -1;
  }
}

/// Disables thread cancellation, which would unwind through `noexcept` and abort.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Keeps errno: a function that succeeds would otherwise leave what a system call set, or 0.
class SameErrno {
 public:
  SameErrno() = default;
  SameErrno(const SameErrno&) = delete;
  SameErrno& operator=(const SameErrno&) = delete;
  ~SameErrno() { errno = before_; }

 private:
  int before_ = errno;
};

/// Calls `work`, which returns an `Answer`, and passes on the value or the errors.
template <class Work>
auto guarded(cdi_error** error, const Work& work) noexcept {
  const NoCancellation guard;
  const SameErrno same_errno;
  using Value = decltype(work().value);
  if (error != nullptr) *error = nullptr;
  try {
    auto answer = work();
    if (answer.errors.empty()) return answer.value;
    report(error, std::move(answer.errors));
  } catch (...) {  // std::bad_alloc: the library throws no other exception
    if (error != nullptr) *error = &no_memory.error.object;
  }
  return failure<Value>();
}

template <class List>
inline cdi_strings* strings(List&& texts) {
  auto box = std::make_unique<Box<cdi_strings, Texts>>();
  for (auto& text : texts) box->storage.pointers.push_back(box->storage.keep(std::move(text)));
  box->object = {box->storage.pointers.data(), box->storage.pointers.size()};
  return release(std::move(box));
}

struct ErrorsStorage {
  KeptErrors kept{};
  std::vector<const cdi_error*> pointers{};
};

inline cdi_errors* errors(const std::vector<cdi::Error>& all) {
  auto box = std::make_unique<Box<cdi_errors, ErrorsStorage>>();
  for (const auto& error : all) {
    keep(box->storage.kept, error);
    box->storage.pointers.push_back(&box->storage.kept.back().object.object);
  }
  box->object = {box->storage.pointers.data(), box->storage.pointers.size()};
  return release(std::move(box));
}

/// Copies a text for the caller.
inline char* text(const std::string& from) {
  void* const memory = ::operator new(sizeof(Header) + from.size() + 1);
  new (memory) Header{[](Header* self) {
    ::operator delete(self);
  }};
  return static_cast<char*>(
      std::memcpy(static_cast<char*>(memory) + sizeof(Header), from.c_str(), from.size() + 1));
}

struct ReasonsStorage : Texts {
  Objects<cdi_reason> reasons{};
};

inline cdi_reasons* reasons(const std::vector<cdi::Unresolved>& unresolved) {
  auto box = std::make_unique<Box<cdi_reasons, ReasonsStorage>>();
  auto& to = box->storage;
  for (const auto& one : unresolved) {
    to.reasons.add({.size = sizeof(cdi_reason),
                    .name = to.keep(one.name),
                    .code = cdi::row_of(one.reason).code.data(),
                    .text = to.keep(text_of(one.why)),
                    .advice = to.keep(cdi::advice(one))});
  }
  to.reasons.give(box->object.items, box->object.count);
  return release(std::move(box));
}

}  // namespace c_library

#endif  // CDI_C_OBJECTS_HPP
