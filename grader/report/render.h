// Renderers: each turns a GradingResult into one output format and knows nothing about how it was
// computed. render() chooses one by its name. The helpers at the end give the phrases that several
// renderers share.
#pragma once

#include <string>
#include <vector>

#include "report/result.h"

namespace lab32::report {

struct ReportStyle {
  bool colour = false;
  int width = 80;
  // Shortens the text for a terminal: checks that were not run share one line, only the first two
  // reasons for lost points are printed, and a lab with full marks has no table.
  bool brief = false;
  std::string command = "lab32";  // how to call lab32, for messages
};

// All renderers show foreign text (paths, messages, a kernel's output) through visible()
// (base/text.h).

// A table for each lab, the reasons for lost points below it, and the total in the last line.
std::string text(const GradingResult& result, const ReportStyle& style = {});

// Schema lab32-result/2, documented in README.md.
std::string json(const GradingResult& result);

std::string gradescope(const GradingResult& result);  // results.json
std::string autolab(
    const GradingResult& result);                // the text, then a line {"scores": {LAB: points}}
std::string junit(const GradingResult& result);  // XML, a suite for each lab
std::string markdown(const GradingResult& result);      // a job summary of GitHub Actions
std::string github(const GradingResult& result);        // annotations of GitHub Actions
std::string csv(const GradingResult& result);           // a row for each check
std::string prairielearn(const GradingResult& result);  // results.json of an external grader
// SARIF 2.1.0, with a result for each check that lost points.
std::string sarif(const GradingResult& result);
// result.json, without the fields that name the student's repository
std::string classroom50(const GradingResult& result);
std::string submitty(const GradingResult& result);  // validation_results.json of a custom validator
// One line, which a custom test of CodeGrade writes to descriptor 3.
std::string codegrade(const GradingResult& result);

// The names that --format takes, in the order of the functions above, beginning with text.
const std::vector<std::string>& format_names();
// `style` applies to the text only. Throws Error if there is no such format.
std::string render(const GradingResult& result, const std::string& format,
                   const ReportStyle& style = {});

// "passed", "failed", "not run", "error", "not graded": the words of the schema.
const char* to_string(Status status);
// The names of the enumerators.
const char* to_string(CheckFailureReason::Kind kind);
const char* to_string(NotRunReason::Kind kind);

// Points as text without trailing zeros: "4", "3.5", "0.25".
std::string format_points(double value);

// Whether text for this stream may be coloured: it is a terminal, the terminal is not dumb, and
// NO_COLOR is not set (https://no-color.org).
bool wants_colour(int file_descriptor);

// Phrases that several renderers share, as plain text that has passed through visible()
// (base/text.h) and is not yet escaped for a format.

// "4 / 8", "not run".
std::string points_text(const CheckResult& test);

// A lab's name with its points or status: "coalescing: 5 / 12", "shuffle: not graded".
std::string lab_summary(const LabResult& lab);

// The file of a lab that has status error, and the line of the compiler's first error in it, or 0.
struct LabErrorPlace {
  std::string file;
  int line = 0;
};
LabErrorPlace place_of_error(const LabResult& lab);

// "sim:h200 (simulated counts), seed 7".
std::string device_and_seed_text(const GradingResult& result);

// "measured 2 sectors, expected 1", if there are measurements; then the message.
std::string reason_with_numbers(const CheckResult& test);

}  // namespace lab32::report
