// What several renderers say alike, in plain text that is not yet escaped for any of them: it goes
// through visible() (base/text.h) first.
#pragma once

#include <string>

#include "report/result.h"

namespace lab32::report {

// "4 / 8", "not run".
std::string points_of(const Test& test);

// "coalescing: 5 / 12", "shuffle: not graded".
std::string lab_in_words(const Lab& lab);

// "sim:h200 (simulated counts), seed 7".
std::string origin_of(const Result& result);

// "measured 2 sectors, expected 1", where there are any; then the message.
std::string reason_with_numbers(const Test& test);

}  // namespace lab32::report
