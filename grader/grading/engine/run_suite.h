// Runs the checks of a lab, in the order of its rubric. Each LAB_CHECK becomes a
// report::CheckResult.
#pragma once

#include <string>

#include "grading/engine/session.h"
#include "report/result.h"

namespace lab32::grading {

// Runs the suite of `lab` in the session. Appends its tests to lab.tests and adds up their points.
void run_suite(GradingSession& session, report::LabResult& lab);

}  // namespace lab32::grading
