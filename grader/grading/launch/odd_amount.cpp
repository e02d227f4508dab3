#include "grading/launch/odd_amount.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "grading/engine/session.h"

namespace lab32::grading {

std::string describe(const device::OddAmount& odd) {
  if (odd.line == 0 || odd.file != session().source.display()) return "";
  if (odd.shuffle)
    return fmt::format("Line {} shuffles by {} lanes; a warp has {}.", odd.line, odd.amount,
                       odd.limit);
  return fmt::format("Line {} shifts by {}; C++ gives a result for 0 to {} only.", odd.line,
                     odd.amount, odd.limit - 1);
}

// "swizzle.cu(9): warning #62-D: shift count is negative"
std::string odd_shift_of(const std::string& warnings, const std::string& display) {
  std::istringstream lines(warnings);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(display + "(", 0) != 0) continue;
    for (const char* what : {"shift count is negative", "shift count is too large"})
      if (line.find(std::string(": ") + what) != std::string::npos)
        return fmt::format(
            "The compiler warns of line {}: {}. C++ gives no result for such a shift, and the "
            "compiler leaves out what needs it.",
            std::atoi(line.c_str() + display.size() + 1), what);
  }
  return "";
}

}  // namespace lab32::grading
