// The exception types for what goes wrong: a line a person can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace lab32 {

// Bad input. what() is one complete message: what is wrong, where, and how to fix it. main() prints
// it after "lab32: " and leaves with status 2; the lab runner turns it into the verdict of the lab
// it hit.
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
