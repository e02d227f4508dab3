// The one exception type for bad input: a line a person can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace lab32 {

// what() is one complete message: what is wrong, where, and how to fix it. main() prints it after
// "lab32: " and leaves with status 2; the lab runner turns it into the verdict of the lab it hit.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lab32
