// One's own attempts, a line of JSON each, beside one's labs: DIR/.lab32/history. It stays on this
// machine, and LAB32_HISTORY=off keeps none. `lab32 report` reads it. And what has changed from one
// attempt to the next, which `lab32 grade --watch` shows.
#pragma once

#include <filesystem>
#include <string>

#include "report/result.h"

namespace lab32::report {

bool history_enabled();

// Adds what was graded, lab by lab, but nothing that is as the lab's last attempt; of each lab the
// last 200 stay. `when`: "2026-11-24T21:58:00+00:00". A folder that cannot be written has none.
void append_to_history(const std::filesystem::path& directory, const Result& result,
                       const std::string& when);
// Now, as that.
std::string now();

// A line per check that has changed, with both measurements, and the points; "" where
// nothing is. Labs that only one of them has are left out.
std::string changes(const Result& before, const Result& after);

}  // namespace lab32::report
