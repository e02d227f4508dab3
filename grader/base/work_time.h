// Measures how long limited work takes (WorkTimer), and how much slower than usual this machine is
// (slowness), so that time limits do not fail correct work on a slow or busy machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace lab32 {

// A stopwatch for work that has a time limit.
class WorkTimer {
 public:
  // Wall time, or this process's CPU time if that is less: on a busy machine work takes longer
  // through no fault of its own.
  double seconds() const {
    return std::min(wall_seconds(), process_cpu_seconds() - worked_before_);
  }
  // Wall time alone; never less than seconds(), and cheaper to read.
  double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  static double process_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double worked_before_ = process_cpu_seconds();
};

// How much slower than usual this machine is: 1 to 16. Time limits are for work that does not end;
// on a slow or busy machine they must not fail correct work.
//
// The value is the longest time that a fixed piece of work has taken so far, divided by its time on
// the quiet machine on which the limits were chosen. It is 1 until measure_slowness() has been
// called.
double slowness();

// Does that piece of work, some ten milliseconds, and returns slowness(). Called only when a limit
// is reached, so that fast work does not pay for it.
double measure_slowness();

// Sets what measure_slowness() returns while this object lives. Only tests use it.
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
