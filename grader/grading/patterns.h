// What labs share in which a student builds a piece of the memory unit: asking the student's
// functions about warp-wide accesses, and judging the answers by one counter-example.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "grading/suite.h"

namespace lab32::grading {

// What the two functions of a lab answered, pattern by pattern.
struct Answers {
  std::vector<int> first, second;
};

// The student's functions on each pattern, by the given kernel: one thread per pattern. Word is the
// type of an address there.
template <class Word, class Pattern>
Answers ask(const std::string& kernel, const std::vector<Pattern>& patterns,
            const std::string& first_name, const std::string& second_name) {
  const uint32_t count = static_cast<uint32_t>(patterns.size());
  std::vector<Word> address;
  std::vector<int> bytes;
  std::vector<uint32_t> active;
  for (const Pattern& p : patterns) {
    address.insert(address.end(), p.address.begin(), p.address.end());
    bytes.push_back(static_cast<int>(p.bytes));
    active.push_back(p.active);
  }
  Input<Word> in_address("addresses", address);
  Input<int> in_bytes("bytes", bytes);
  Input<uint32_t> in_active("active", active);
  Output<int> first(first_name, count), second(second_name, count);
  run({given(kernel),
       {{blocks_for(count, 256)}, {256}},
       {in_address, in_bytes, in_active, first, second, static_cast<int>(count)},
       ""});
  return {first.read(), second.read()};
}

// Loses the check unless the function `name` has answered each pattern as `want` does. Shown is the
// wrong answer that is easiest to think through, the first of the least effort(), and `hint`.
template <class Pattern>
void check_answers(const char* name, const std::vector<Pattern>& patterns,
                   const std::vector<int>& got, uint32_t (Pattern::*want)() const,
                   const std::string& hint) {
  size_t wrong = 0, shown = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (got[i] == static_cast<int>((patterns[i].*want)())) continue;
    if (++wrong == 1 || patterns[i].effort() < patterns[shown].effort()) shown = i;
  }
  figure("patterns", static_cast<double>(patterns.size()));
  figure("wrong", static_cast<double>(wrong));
  expected("all right");
  if (wrong == 0) {
    measured(fmt::format("{} patterns", patterns.size()));
    return;
  }
  measured(fmt::format("{} of {} wrong", wrong, patterns.size()));
  const std::string answer =
      is_poison(got[shown]) ? "nothing was written" : fmt::format("you say {}", got[shown]);
  std::string message = fmt::format("For this instruction {}, and that is not so:\n{}", answer,
                                    patterns[shown].show());
  if (std::all_of(got.begin(), got.end(), [](int g) { return g == 0; }))
    message += "\nIt answers 0 to everything: it is still to be written.";
  else if (!hint.empty())
    message += "\n" + hint;
  lose(line_of(name), message);
}

}  // namespace lab32::grading
