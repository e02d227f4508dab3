// What must have passed before a check: a kernel that does nothing is fast.
#pragma once

#include "grading/rubric/rubric.h"

namespace lab32::grading {

// The first prerequisite of the running check that has not passed; null: all have.
const RubricRow* open_prerequisite();

// The running check is lost unless all have passed. The harness asks before the check begins; of a
// bonus, credit_speed and credit_step ask, once they know whether this machine can time it.
void require_prerequisites();

}  // namespace lab32::grading
