// The history of a student's own attempts: DIR/.lab32/history, in which each attempt is a line of
// JSON. It stays on this machine, LAB32_HISTORY=off disables it, and `lab32 report` reads it.
// result_changes_text() compares two results, for `lab32 grade --watch`.
#pragma once

#include <filesystem>
#include <string>

#include "report/result.h"

namespace lab32::report {

bool history_enabled();

// The figure with the student's answer to a question of the lab: "answer float_adds".
constexpr const char* kPrediction = "answer ";

// Appends each graded lab whose result differs from its last attempt; the last 200 attempts of a
// lab are kept, and in each of them the first answer to every question. `when` has the form
// "2026-11-24T21:58:00+00:00". A folder that cannot be written gets no history.
void append_to_history(const std::filesystem::path& directory, const GradingResult& result,
                       const std::string& when);
// The local time with its distance from UTC, in the form "2026-11-24T21:58:00+00:00".
std::string current_time();

// A line for each check that has changed, with both measurements, and a line with the points; "" if
// nothing has changed. Labs that only one of the results contains, and labs that do not compile,
// are ignored.
std::string result_changes_text(const GradingResult& before, const GradingResult& after);

}  // namespace lab32::report
