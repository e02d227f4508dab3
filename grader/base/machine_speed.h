// How much slower than usual this machine is. Limits in seconds are for work that does not end; on
// a slow or busy machine they must not make right work an endless one.
#pragma once

namespace lab32 {

// 1 to 16: the longest that a fixed piece of work has taken so far, beside what it takes on the
// quiet machine where the limits were chosen. 1 until somebody has looked.
double slowness();

// Does that piece of work, some ten milliseconds, and gives slowness(). For when a limit is
// reached: whoever stays within it pays nothing.
double measure_slowness();

// For tests: what measure_slowness() finds, as long as this lives.
class AsSlowAs {
 public:
  explicit AsSlowAs(double slowness);
  ~AsSlowAs();
  AsSlowAs(const AsSlowAs&) = delete;
  AsSlowAs& operator=(const AsSlowAs&) = delete;

 private:
  double before_;
};

}  // namespace lab32
