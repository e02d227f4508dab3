// Timing checks. They time the submission's kernels in rounds together with a baseline on the same
// GPU: a copy of as many bytes, or the submission's previous version. The reference solution runs
// in the same rounds and shows how much an idea gains on this card. Timing checks are a bonus:
// without a GPU they are not run, and the message shows the modelled time.
//
// A first timing ends when the interval of the ratio is narrow (TimingPlan). If the limit still
// lies inside the interval, a second timing takes more rounds. If that does not decide either, the
// student gets the points.
#pragma once

#include <string>

#include "gpu/timer.h"
#include "grading/engine/registry.h"
#include "grading/timing/timed_work.h"

namespace lab32::grading {

// The limits of the second timing. An interval of a quarter of the width takes about sixteen times
// as many rounds.
constexpr double kLongInterval = 0.005, kLongSeconds = 8;

struct SpeedCheckWorkload {
  std::string kernel;  // its line is quoted
  MakeWork make;
  device::Baseline baseline = device::Baseline::none;
};

// Gives points for the bandwidth relative to that of a copy in the same run. The limit is the
// rubric's `fraction`, or speed.of_reference times the reference solution's ratio if that is less;
// below it the points shrink in proportion. Times `n` elements, or simulates `n_modelled` without a
// card.
void credit_bandwidth_vs_copy(Check& check, const SpeedCheckWorkload& speed);
inline takes_rubric_keys keys_of_speed_check() {
  return takes_rubric_keys("n", "n_modelled", "fraction", "speed.of_reference");
}

struct StepCheckWorkload {
  std::string kernel, before;  // the two versions, as the file names them
  std::string form_before;     // the previous version's name in the table
  MakeWork make;               // including the previous version
};

// Gives points for a step from one version to the next. The check counts only if the reference
// solution's two versions differ by at least steps.least_gain in the same rounds. All points need
// steps.share_of_gain of that gain.
void credit_speedup_of_step(Check& check, const StepCheckWorkload& step);
inline takes_rubric_keys keys_of_step_check() {
  return takes_rubric_keys("n", "n_modelled", "steps.share_of_gain", "steps.least_gain");
}

}  // namespace lab32::grading
