// Renderers: each prints a Result and knows nothing of how it came to be.
#pragma once

#include <string>
#include <vector>

#include "report/result.h"

namespace lab32::report {

struct Style {
  bool colour = false;
  int width = 80;
};

// All show what others wrote (paths, messages, what a kernel prints) by visible() (base/text.h).

// A table for each lab, the reason for each lost point below it, the total in the last line.
std::string text(const Result& result, const Style& style = {});

// Schema lab32-result/2, documented in README.md.
std::string json(const Result& result);

std::string gradescope(const Result& result);  // results.json
std::string autolab(const Result& result);     // the text, then a line {"scores": {LAB: points}}
std::string junit(const Result& result);       // XML, a suite for each lab
std::string markdown(const Result& result);    // a job summary of GitHub Actions
std::string github(const Result& result);      // annotations of GitHub Actions
std::string csv(const Result& result);         // a row for each check

// By the names that --format has: format_names() in the order above, text first.
const std::vector<std::string>& format_names();
// `style` is the text's. Throws Error where there is no such format.
std::string render(const Result& result, const std::string& format, const Style& style = {});

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

// What several renderers say alike, in plain text that is not yet escaped for any of them: it goes
// through visible() (base/text.h) first.

// "4 / 8", "not run".
std::string points_of(const Test& test);

// "coalescing: 5 / 12", "shuffle: not graded".
std::string lab_in_words(const Lab& lab);

// "sim:h200 (simulated counts), seed 7".
std::string origin_of(const Result& result);

// "measured 2 sectors, expected 1", where there are any; then the message.
std::string reason_with_numbers(const Test& test);

}  // namespace lab32::report
