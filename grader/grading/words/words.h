// Failures, reasons and what a kernel has printed, in English. Facts are kept as facts
// (report/result.h) until they come here.
#pragma once

#include <cstdint>
#include <string>

#include "report/result.h"

namespace lab32::grading {

std::string words(const report::NotRun& reason);

// Of those kinds that are told alike in every lab; empty: the check tells it.
std::string words(const report::Failure& failure);

// "83.4 µs", "1.27 ms".
std::string duration(double seconds);

// "1 request", "3 requests". `noun`: in the singular; its plural takes an s.
std::string quantity(int64_t number, const std::string& noun);

// "n = 33: " or nothing.
std::string prefix(const std::string& setting);

// "The kernel printed (n = 33):" and its first lines, each indented. Characters that are not
// printable stand as \x1b, so that no output moves a terminal's cursor. Empty for no output.
std::string printed_text(const std::string& setting, const std::string& output);

}  // namespace lab32::grading
