// Runs declared checks (declaration.h): the bodies that a LAB_CHECK would have.
#pragma once

namespace lab32::grading {

struct Check;

// Runs the check that the row of `check` declares.
void run_declared(Check& check);

}  // namespace lab32::grading
