// What the programs in C++ share: clocks, and one line of output for each measurement.
// SPDX-License-Identifier: Apache-2.0 OR MIT

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

constexpr const char* sizes[] = {"4kB", "60kB", "5MB"};

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

inline void print(const std::string& name, double number) {
  std::printf("%s %.4f\n", name.c_str(), number);
}

/// Keeps the compiler from computing a value at compile time, and from leaving it out.
template <class Value>
void keep(const Value& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

template <class Work>
double microseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

inline double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// The median time of a call, in microseconds. Calls for a tenth of a second, and at least three
/// times.
template <class Work>
double median_time(Work work) {
  std::vector<double> times;
  for (double sum = 0; times.size() < 3 || sum < 100'000; sum += times.back()) {
    times.push_back(microseconds(work));
  }
  return median(std::move(times));
}

/// The time of a call that is too short for the clock, in nanoseconds: the median of ten means.
template <class Work>
double mean_time(std::size_t calls, Work work) {
  std::vector<double> times;
  for (int part = 0; part < 10; ++part) {
    times.push_back(microseconds([&] {
      for (std::size_t i = 0; i < calls / 10; ++i) work();
    }));
  }
  return median(std::move(times)) * 10'000 / static_cast<double>(calls);
}
