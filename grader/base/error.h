// The two exceptions of lab32, whose messages tell the user what to do, and its exit statuses.
// Error is the fault of the input and costs points; MachineError is the fault of the machine and
// costs none.
#pragma once

#include <stdexcept>
#include <string>

namespace lab32 {

// The exit statuses of lab32. A tool that runs a whole program (`run`, `profile`, `check`) returns
// the program's own status if it has found nothing.
constexpr int kFullMarks = 0;
constexpr int kPointsLost = 1, kHazardsFound = 1;
// The submission could not be graded, or the program uses a feature that is not supported.
constexpr int kNotGraded = 2, kNotSupported = 2;

// Bad input. what() is one complete message: what is wrong, where, and how to fix it. main() prints
// it after "lab32: " and exits with kNotGraded; the lab runner turns it into the verdict of the lab
// that caused it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The machine's fault, not the input's: a full disk, no memory, a missing tool. The lab is reported
// as not graded, and the student loses no points.
class MachineError : public Error {
 public:
  using Error::Error;
};

}  // namespace lab32
