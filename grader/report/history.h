// One's own attempts, a line of JSON each, beside one's labs: DIR/.lab32/history. It stays on this
// machine; LAB32_HISTORY=off, and nobody keeps any. `lab32 report` reads it.
#pragma once

#include <filesystem>
#include <string>

#include "report/result.h"

namespace lab32::report {

bool wants_history();

// Adds what was graded, lab by lab, but nothing that is as the lab's last attempt; of each lab the
// last 200 stay. `when`: "2026-11-24T21:58:00+00:00". A folder that cannot be written has none.
void keep_in_history(const std::filesystem::path& directory, const Result& result,
                     const std::string& when);
// Now, as that.
std::string now();

}  // namespace lab32::report
