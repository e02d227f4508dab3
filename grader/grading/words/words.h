// English texts for failures, for reasons why a check was not run, and for the output of kernels.
// The rest of the grader handles these as data (report/result.h).
#pragma once

#include <cstdint>
#include <string>

#include "report/result.h"

namespace lab32::grading {

struct Check;

std::string words(const report::NotRunReason& reason);

// The message of a failure that reads the same in every lab; empty: the check has a message of its
// own.
std::string words(const report::CheckFailureReason& failure);

// "83.4 µs", "1.27 ms".
std::string duration(double seconds);

// "1 request", "3 requests". `noun` is in the singular, and its plural ends in s.
std::string quantity(int64_t number, const std::string& noun);

// "n = 33: ", or nothing for an empty setting.
std::string prefix(const std::string& setting);

// "The kernel printed, n = 33:" and the first lines of the output, indented. Unprintable characters
// are escaped as \x1b, so that they cannot move a terminal's cursor. Empty for no output.
std::string printf_output_text(const std::string& launched_sizes, const std::string& output);

}  // namespace lab32::grading
// Makes the grader's names known in the suites of labs/ without their namespace.
namespace lab32::checks {
using namespace grading;
}
