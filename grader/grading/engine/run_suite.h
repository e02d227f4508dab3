// Runs the suite of a lab: each LAB_CHECK becomes a
// report::Test.
#pragma once

#include <string>

#include "grading/engine/session.h"
#include "report/result.h"

namespace lab32::grading {

// Runs the suite of `lab` in the session and appends its tests to lab.tests; scores are summed.
void run_suite(Session& session, report::Lab& lab);

}  // namespace lab32::grading
