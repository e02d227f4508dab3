// Failures and reasons in English. Facts are kept as such (report/result.h) until they come here.
#pragma once

#include <string>

#include "report/result.h"

namespace lab32::grading {

std::string words(const report::NotRun& reason);

// Of those kinds that are told alike in every lab; empty: the check tells it.
std::string words(const report::Failure& failure);

// "83.4 µs", "1.27 ms".
std::string duration(double seconds);

// "n = 33: " or nothing.
std::string prefix(const std::string& setting);

}  // namespace lab32::grading
