// `lab32 calibrate`: finds out which timing checks a card can decide. It runs each timing check
// with the reference solution as the submission, so that the reference solution is timed against
// itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "device/device.h"
#include "gpu/timer.h"
#include "grading/engine/session.h"
#include "grading/rubric/rubric.h"
#include "report/result.h"

namespace lab32::grading {

struct DecidableTimingChecks {
  std::string card;                     // "NVIDIA H200"
  std::string about;                    // the card's properties, in one line
  double seconds = 0;                   // duration of the calibration
  std::vector<report::LabResult> labs;  // their timing checks; not_graded: no reference solution
};

// Calibrates the first GPU for `labs`, or for all labs if it is empty. Throws Error if there is no
// GPU or no such lab.
DecidableTimingChecks find_gpu_decidable_timing_checks(const std::vector<std::string>& labs,
                                                       const std::filesystem::path& rubric);

// Runs the timing checks of one lab. `module` is the reference solution on the device, and
// `artifact` is compiled for the timer's card. The setup must have a timer.
report::LabResult time_reference_against_itself(const Rubric& rubric, GradingSetup setup,
                                                device::LoadedModule& module,
                                                const toolchain::CompiledArtifact& artifact);

std::string text_of(const DecidableTimingChecks& calibration);

}  // namespace lab32::grading
