// How long a piece of work takes that has a limit, and how slow this machine is.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace lab32 {

// How long a piece of work takes that has a limit.
class WorkTimer {
 public:
  // By the clock, or what this process has worked if that is less: on a busy machine work takes
  // longer through no fault of its own.
  double seconds() const { return std::min(passed(), worked() - worked_before_); }
  // By the clock alone: never less, and at once.
  double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  static double worked() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double worked_before_ = worked();
};

// How much slower than usual this machine is. Limits in seconds are for work that does not end; on
// a slow or busy machine they must not make right work an endless one.
//
// 1 to 16: the longest that a fixed piece of work has taken so far, beside what it takes on the
// quiet machine where the limits were chosen. 1 until somebody has looked.
double slowness();

// Does that piece of work, some ten milliseconds, and gives slowness(). For when a limit is
// reached: whoever stays within it pays nothing.
double measure_slowness();

// For tests: what measure_slowness() finds, as long as this lives.
class AssumedSlowness {
 public:
  explicit AssumedSlowness(double slowness);
  ~AssumedSlowness();
  AssumedSlowness(const AssumedSlowness&) = delete;
  AssumedSlowness& operator=(const AssumedSlowness&) = delete;

 private:
  double before_;
};

}  // namespace lab32
