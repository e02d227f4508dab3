#include "grading/words/describe.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "grading/engine/check.h"
#include "grading/launch/arrays.h"

namespace lab32::grading {

namespace {

// The addresses of the first three lanes, which show the step from lane to lane, and of the last.
std::string lane_addresses_text(Check& check, const device::WorstAccess& access) {
  std::vector<int> active;
  for (int lane = 0; lane < 32; ++lane)
    if (access.mask >> lane & 1) active.push_back(lane);
  std::string text;
  for (size_t i = 0; i < active.size(); ++i) {
    const bool last = i + 1 == active.size();
    if (i >= 3 && !last) continue;
    if (i > 0) text += i >= 3 && active.size() > 4 ? ", ..., " : ", ";
    text += fmt::format("lane {} {}", active[i], name_of_address(check, access.address[active[i]]));
  }
  return text;
}

std::string access_sentence(Check& check, const device::WorstAccess& access) {
  const int lanes = __builtin_popcount(access.mask);
  std::string what = access_plural(access);
  if (lanes == 1) what.pop_back();
  const char* cost = access.atomic
                         ? lanes == 1 ? "costs" : "cost"  // L2 adds to one word lane after lane
                     : lanes == 1 ? "touches"
                                  : "touch";
  return fmt::format(
      "Warp {} of block {}: {} {} {} of {} bytes {} {} sectors where {} would do: {}.", access.warp,
      access.block, lanes, lanes == 1 ? "lane's" : "lanes'", what, access.bytes, cost, access.cost,
      access.ideal, lane_addresses_text(check, access));
}

// Sectors beyond those that hold the requested bytes. Atomics on one word count once for each lane.
uint64_t excess_sectors(const counters::Counters& c) {
  return c.global_sectors() - std::min(c.global_sectors(), c.l2_sectors_ideal);
}

}  // namespace

const char* access_plural(const device::WorstAccess& access) {
  return access.atomic ? "atomics" : access.store ? "stores" : "loads";
}

ExplainedLine line_of_most_excess_sectors(Check& check, const device::LaunchResult& run) {
  const std::string& own = check.session.source.display();
  ExplainedLine waste;
  uint64_t most = 0;
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t excess = excess_sectors(line.counters);
    if (line.file != own || excess <= most) continue;
    most = excess;
    waste.line = line.line;
  }
  const device::WorstAccess* worst = nullptr;
  for (const device::WorstAccess& access : run.worst) {
    if (access.file != own || access.line != waste.line || access.shared) continue;
    if (!worst || uint64_t{access.cost} * worst->ideal > uint64_t{worst->cost} * access.ideal)
      worst = &access;
  }
  if (worst) waste.message = message_unless_withheld(check, access_sentence(check, *worst));
  return waste;
}

int line_of_most_global_atomics(Check& check, const device::LaunchResult& run) {
  int found = 0;
  uint64_t most = 0;
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t atomics = line.counters.red.requests + line.counters.atom.requests;
    if (line.file != check.session.source.display() || atomics <= most) continue;
    most = atomics;
    found = line.line;
  }
  return found;
}

void withhold_details_until_passed(Check& check, const std::string& question) {
  check.withheld = check.has_passed(question) ? "" : question;
}

std::string message_unless_withheld(Check& check, std::string message) {
  if (check.withheld.empty()) return message;
  return fmt::format(
      "The details of this line's accesses would answer a question of `{}`. "
      "They are shown once that check passes.",
      check.withheld);
}

std::string undefined_amount_text(Check& check, const device::OutOfRangeShiftOrShuffle& odd) {
  if (odd.line == 0 || odd.file != check.session.source.display()) return "";
  if (odd.shuffle)
    return fmt::format("Line {} shuffles by {} lanes, but a warp has only {}.", odd.line,
                       odd.amount, odd.limit);
  return fmt::format("Line {} shifts by {}, but C++ defines shifts by 0 to {} only.", odd.line,
                     odd.amount, odd.limit - 1);
}

// A warning of the compiler reads "swizzle.cu(9): warning #62-D: shift count is negative".
std::string shift_warning_explanation(const std::string& warnings, const std::string& display) {
  std::istringstream lines(warnings);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(display + "(", 0) != 0) continue;
    for (const char* what : {"shift count is negative", "shift count is too large"})
      if (line.find(std::string(": ") + what) != std::string::npos)
        return fmt::format(
            "The compiler warns of line {}: {}. C++ does not define such a shift, so "
            "the compiler may remove the code that uses its result.",
            std::atoi(line.c_str() + display.size() + 1), what);
  }
  return "";
}

}  // namespace lab32::grading
