#include "grading/engine/time_limit.h"

#include <fmt/core.h>

#include <algorithm>

namespace lab32::grading {

using report::Failure;
using report::Test;

// Sanitizers make all of it slower, as they do launches (spending.cpp).
double TimeLimit::usual() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 1200;
#else
  return 30;
#endif
}

Failure TimeLimit::failure() const {
  Failure failure{Failure::Kind::time_limit};
  failure.expected = seconds_;
  return failure;
}

std::string TimeLimit::what_took_it(const std::vector<Test>& tests) const {
  const auto not_run = std::count_if(tests.begin(), tests.end(), [](const Test& test) {
    return test.failure && test.failure->kind == Failure::Kind::time_limit;
  });
  if (not_run == 0) return "";
  const auto longest =
      std::max_element(tests.begin(), tests.end(),
                       [](const Test& a, const Test& b) { return a.seconds < b.seconds; });
  return fmt::format(
      "The lab's time is used up ({:g} s, --time-limit), and {} not run. \"{}\" took {:.1f} s of "
      "it, compiling {:.1f} s.",
      seconds_, not_run == 1 ? "one check was" : fmt::format("{} checks were", not_run),
      longest->name, longest->seconds, compiling_);
}

}  // namespace lab32::grading
