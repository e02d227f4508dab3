// Renderers: each prints a Result and knows nothing of how it came to be.
#pragma once

#include <string>

#include "report/result.h"

namespace lab32::report {

struct Style {
  bool colour = false;
  int width = 80;
};

// Both show what others wrote (paths, messages, what a kernel prints) by visible() (base/text.h).

// A table for each lab, the reason for each lost point below it, the total in the last line.
std::string text(const Result& result, const Style& style = {});

// Schema lab32-result/2, documented in README.md.
std::string json(const Result& result);

// "passed", "failed", "not run", "error", "not graded": the words of the schema.
const char* to_string(Status status);
// The enumerators' own names.
const char* to_string(Failure::Kind kind);
const char* to_string(NotRun::Kind kind);

// A score as people write it: "4", "3.5", "0.25".
std::string points(double value);

// Whether text for this stream may be coloured: a terminal that is not dumb, and no NO_COLOR
// (https://no-color.org).
bool wants_colour(int file_descriptor);

}  // namespace lab32::report
