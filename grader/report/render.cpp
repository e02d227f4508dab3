#include "report/render.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace lab32::report {

const char* to_string(Status status) {
  switch (status) {
    case Status::passed:
      return "passed";
    case Status::failed:
      return "failed";
    case Status::not_run:
      return "not run";
    case Status::error:
      return "error";
  }
  return "error";
}

std::string points(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

bool wants_colour(int file_descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(file_descriptor) && (!no_color || !*no_color) && terminal &&
         std::strcmp(terminal, "dumb") != 0;
}

}  // namespace lab32::report
