// Timing checks: the submission's kernels, timed in rounds with what they run against on the same
// GPU: a copy of as many bytes, or the submission's own version before, and the reference
// solution's, which says what this very card makes of the same idea. They are a bonus; where there
// is no GPU they are not run, and what the model predicts is shown instead.
//
// A first timing ends when the interval of the ratio is narrow (TimingPlan). If it still holds the
// limit, there is a second one with more rounds, and what that cannot tell either, counts for the
// student.
#pragma once

#include <string>

#include "gpu/timer.h"
#include "grading/engine/registry.h"
#include "grading/timing/timed_work.h"

namespace lab32::grading {

// The second timing: a quarter of the interval would take some sixteen times the rounds.
constexpr double kLongInterval = 0.005, kLongSeconds = 8;

struct SpeedCheck {
  std::string kernel;  // whose line is quoted
  MakeWork make;
  device::Baseline baseline = device::Baseline::none;
};

// Points for time: all where the card gives the work at least the rubric's `fraction` of the
// bandwidth of a copy in the same run, or speed.of_reference of what the reference solution has
// there if that is less; in proportion below. `n` is timed; `n_modelled` is what is simulated where
// there is no card.
void credit_speed(Check& check, const SpeedCheck& speed);
inline takes takes_of_speed() { return takes("n", "n_modelled", "fraction", "speed.of_reference"); }

struct StepCheck {
  std::string kernel, before;  // the two versions, as the file has them
  std::string form_before;     // what the table calls the second
  MakeWork make;               // with the version before
};

// Points for a step from one version to the next, where the reference solution's two versions,
// timed in the same rounds, are steps.least_gain apart at least: all where the submission's own two
// make steps.share_of_gain of that gain.
void credit_step(Check& check, const StepCheck& step);
inline takes takes_of_step() {
  return takes("n", "n_modelled", "steps.share_of_gain", "steps.least_gain");
}

}  // namespace lab32::grading
