#include "report/reasons.h"

#include <fmt/core.h>

#include "report/render.h"

namespace lab32::report {

std::string points_of(const Test& test) {
  if (test.status == Status::not_run) return to_string(test.status);
  return points(test.score) + " / " + points(test.max_score);
}

std::string lab_in_words(const Lab& lab) {
  return lab.name + ": " +
         (lab.status == Status::not_graded ? to_string(lab.status)
                                           : points(lab.score) + " / " + points(lab.max_score));
}

std::string origin_of(const Result& result) {
  // Nobody should take a simulator's count for a card's.
  const bool simulated = result.device.compare(0, 3, "sim") == 0;
  return fmt::format("{}{}{}, seed {}", result.device, simulated ? " (simulated counts)" : "",
                     result.timer.empty() ? "" : ", " + result.timer + " (measured times)",
                     result.seed);
}

std::string reason_with_numbers(const Test& test) {
  std::string text;
  if (!test.measured.empty()) text += "measured: " + test.measured + "\n";
  if (!test.expected.empty()) text += "expected: " + test.expected + "\n";
  if (!test.message.empty() && !text.empty()) text += "\n";
  return text + test.message;
}

}  // namespace lab32::report
