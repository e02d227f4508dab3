// Words for what the hazard check has found. The only place where findings become English.
#pragma once

#include <string>

#include "simulator/observers/counters.h"

namespace lab32::counters {

// "line 7: thread 3 of block 0 reads ..., which ...; how it is usually fixed". One sentence: what
// happened, where, and what to think of.
std::string describe(const Finding& finding);
// The same for readers who see the line already: without "line 7: ".
std::string describe_at_its_line(const Finding& finding);

// What to do where the sentence only says what is missing; empty: it says so itself.
std::string usual_fix(const Finding& finding);

// The parts of a race, for its picture. `missing`: what would order the two.
struct RaceWords {
  std::string first, second;  // "thread 3 of block 0"
  std::string place;          // "s[16]"
  std::string missing;        // "__syncthreads()"
};
RaceWords words_of_race(const Finding& finding);

}  // namespace lab32::counters
