// What goes wrong: exceptions with a line a person can act on, and exit statuses.
#pragma once

#include <stdexcept>
#include <string>

namespace lab32 {

// The exit statuses of lab32: of a grading, and of a tool that looks at a whole program (whose own
// status counts where it finds nothing).
constexpr int kFullMarks = 0;
constexpr int kPointsLost = 1, kHazardsFound = 1;
// It could not be graded, or the program needs what is not supported.
constexpr int kNotGraded = 2, kNotSupported = 2;

// Bad input. what() is one complete message: what is wrong, where, and how to fix it. main() prints
// it after "lab32: " and leaves with kNotGraded; the lab runner turns it into the verdict of the
// lab it hit.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Not the input's fault but the machine's: a full disk, no memory, a tool that is missing. Nobody
// loses a point by it: the lab that it hits is not graded.
class MachineError : public Error {
 public:
  using Error::Error;
};

}  // namespace lab32
