// How long a piece of work takes that has a limit.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace lab32 {

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

}  // namespace lab32
