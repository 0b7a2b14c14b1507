// A system mutex: <mutex> and <atomic> are expensive to include.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_BASE_MUTEX_HPP
#define CDI_BASE_MUTEX_HPP

#include <pthread.h>

#include <cdi/version.hpp>

namespace cdi::inline CDI_ABI::detail {

/// A system mutex.
class Mutex {
 public:
  Mutex() { ::pthread_mutex_init(&mutex_, nullptr); }
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() { ::pthread_mutex_destroy(&mutex_); }

  void lock() { ::pthread_mutex_lock(&mutex_); }
  void unlock() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

/// Locks a mutex for the lifetime of this object.
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_{mutex} { mutex_.lock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace cdi::detail

#endif  // CDI_BASE_MUTEX_HPP
