// `lab32 calibrate`: which timing checks a card can decide. Each is run with the reference solution
// in the submission's place, so that it is timed beside itself.
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

struct Calibration {
  std::string card;               // "NVIDIA H200"
  std::string about;              // in one line
  double seconds = 0;             // that it took
  std::vector<report::Lab> labs;  // their timing checks; not_graded: there is no reference solution
};

// Of the first GPU; all labs, if `labs` is empty. Throws Error where there is no GPU or no such
// lab.
Calibration calibrate(const std::vector<std::string>& labs, const std::filesystem::path& rubric);

// The timing checks of one lab; `module` is the reference solution on the device, `artifact` for
// the timer's card. The setup has a timer.
report::Lab calibrate_lab(const Rubric& rubric, GradingSetup setup, device::LoadedModule& module,
                          const toolchain::Artifact& artifact);

std::string text_of(const Calibration& calibration);

}  // namespace lab32::grading
