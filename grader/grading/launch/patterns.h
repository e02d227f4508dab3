// For labs in which students write a model of the memory unit. run_student_functions() runs the
// student's functions on many warp-wide accesses, and check_answers() compares the answers and
// shows one counter-example.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "grading/engine/suite.h"

namespace lab32::grading {

// The kinds of addresses that inactive lanes get. Their registers may hold anything, so these
// addresses are chosen to reveal functions that use them: a random address, that of the next active
// lane, that of the previous one, and one `distance` bytes from the next one, where no active lane
// needs to be.
constexpr uint32_t kDecoys = 4;

template <class Pattern>
void set_inactive_addresses(Pattern& p, uint32_t kind, Random& random, uint64_t range,
                            uint64_t distance) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if (p.active >> lane & 1) continue;
    uint64_t& address = p.address[lane];
    address = (range > 0 ? random.below(static_cast<uint32_t>(range / p.bytes)) * uint64_t{p.bytes}
                         : random.bits() / p.bytes * p.bytes);
    if (p.active == 0 || kind == 0) continue;
    const uint32_t step = kind == 2 ? kWarpSize - 1 : 1;
    uint32_t other = lane;
    while (!(p.active >> other & 1)) other = (other + step) % kWarpSize;
    address = p.address[other] + (kind == 3 ? distance : 0);
    if (range > 0) address %= range;
  }
}

// Variants of an access that a correct function must count, too: its lanes in other orders, pairs
// of lanes at one address, and some lanes inactive.
template <class Pattern>
std::vector<Pattern> lane_permuted_patterns(const Pattern& p, uint64_t range, uint64_t distance) {
  const auto rearranged = [&](uint32_t (*from)(uint32_t lane)) {
    Pattern other = p;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) other.address[lane] = p.address[from(lane)];
    return other;
  };
  const Pattern neighbours = rearranged([](uint32_t lane) { return lane / 2; });
  const Pattern crossed = rearranged([](uint32_t lane) { return lane / 4 * 2 + lane % 2; });
  std::vector<Pattern> found = {
      neighbours,
      crossed,
      rearranged([](uint32_t lane) { return lane % 16; }),
      rearranged([](uint32_t lane) { return lane ^ 31; }),
      rearranged([](uint32_t lane) { return lane * 5 % kWarpSize; }),
  };
  Random random(0);
  for (const Pattern& whole : {p, neighbours, crossed})
    for (uint32_t active : {0x55555555u, 0xccccccccu, 0x0000ffffu, 0xfffffffeu, 0x00ff00f0u})
      for (uint32_t kind = 0; kind < kDecoys; ++kind) {
        found.push_back(whole);
        found.back().active = active;
        set_inactive_addresses(found.back(), kind, random, range, distance);
      }
  return found;
}

// The answers of the lab's two functions, one per pattern.
struct StudentReturnValues {
  std::vector<int> first, second;
};

// Runs the student's functions on each pattern with the given kernel, one thread per pattern. Word
// is the type of an address in that lab.
template <class Word, class Pattern>
StudentReturnValues run_student_functions(Check& check, const std::string& kernel,
                                          const std::vector<Pattern>& patterns,
                                          const std::string& first_name,
                                          const std::string& second_name) {
  const uint32_t count = static_cast<uint32_t>(patterns.size());
  std::vector<Word> address;
  std::vector<int> bytes;
  std::vector<uint32_t> active;
  for (const Pattern& p : patterns) {
    address.insert(address.end(), p.address.begin(), p.address.end());
    bytes.push_back(static_cast<int>(p.bytes));
    active.push_back(p.active);
  }
  Input<Word> in_address(check, "addresses", address);
  Input<int> in_bytes(check, "bytes", bytes);
  Input<uint32_t> in_active(check, "active", active);
  Output<int> first(check, first_name, count), second(check, second_name, count);
  Launch launch{kernel_name_with_namespace(check, kernel),
                {{blocks_for(count, 256)}, {256}},
                {in_address, in_bytes, in_active, first, second, static_cast<int>(count)},
                ""};
  launch.in_pictures = false;
  run(check, launch);
  return {first.read(), second.read()};
}

// Loses the check unless the function `name` has returned `want` for each pattern. The message
// shows the wrong answer that is easiest to check by hand, the first of those with the least
// hand_check_effort(), and `hint`.
template <class Pattern>
void check_answers(Check& check, const char* name, const std::vector<Pattern>& patterns,
                   const std::vector<int>& got, uint32_t (Pattern::*want)() const,
                   const std::string& hint) {
  size_t wrong = 0, shown = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (got[i] == static_cast<int>((patterns[i].*want)())) continue;
    if (++wrong == 1 || patterns[i].hand_check_effort() < patterns[shown].hand_check_effort())
      shown = i;
  }
  check.figure("patterns", static_cast<double>(patterns.size()));
  check.figure("wrong", static_cast<double>(wrong));
  check.expected("all right");
  if (wrong == 0) {
    check.measured(fmt::format("{} patterns", patterns.size()));
    return;
  }
  check.measured(fmt::format("{} of {} wrong", wrong, patterns.size()));
  const std::string answer = is_poison(got[shown])
                                 ? "nothing was written"
                                 : fmt::format("your function returns {}", got[shown]);
  std::string message = fmt::format(
      "For this instruction {}, which is wrong:\n"
      "{}",
      answer, patterns[shown].show());
  if (std::all_of(got.begin(), got.end(), [](int g) { return g == 0; }))
    message += "\nYour function returns 0 for every input: it is not written yet.";
  else if (!hint.empty())
    message += "\n" + hint;
  check.fail_and_throw(check.line_of(name), message);
}

}  // namespace lab32::grading
