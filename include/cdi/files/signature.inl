// The bodies of <cdi/files/signature.hpp>.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#ifndef CDI_FILES_SIGNATURE_INL
#define CDI_FILES_SIGNATURE_INL

#include <cdi/files/signature.hpp>

namespace cdi::inline CDI_ABI {

CDI_INLINE timespec file_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

CDI_INLINE std::int64_t age_of(const Signature& signature, const timespec& now) {
  constexpr std::int64_t max = 1'000'000;  // seconds: long enough, and small enough to multiply
  if (signature.changed < now.tv_sec - max) return max * 1000;
  if (signature.changed > now.tv_sec) return 0;
  const std::int64_t seconds = now.tv_sec - signature.changed;
  const std::int64_t age = seconds * 1000 + (now.tv_nsec - signature.changed_ns) / 1'000'000;
  return age < 0 ? 0 : age;
}

CDI_INLINE bool is_stable(const Signature& signature, const timespec& now) {
  constexpr std::int64_t tick = 20;
  constexpr std::int64_t whole_seconds = 2'000;
  return age_of(signature, now) > (signature.changed_ns == 0 ? whole_seconds : tick);
}

}  // namespace cdi

#endif  // CDI_FILES_SIGNATURE_INL
