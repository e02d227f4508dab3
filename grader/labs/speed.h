// Checks of speed: the submission's kernels, timed in turns with what they run against on the same
// card: a copy of as many bytes, or the submission's own version before. Where there is no card
// they are not run, and what the model predicts is shown instead.
//
// A first timing ends when the interval of the ratio is narrow (TimingPlan). If it still holds the
// limit, there is a second one with more rounds, and what that cannot tell either, counts for the
// student.
#pragma once

#include <string>

#include "device/stopwatch.h"
#include "labs/rule.h"
#include "labs/timed_work.h"

namespace lab32::labs {

// The second timing: a quarter of the interval takes some sixteen times the rounds.
constexpr double kLongInterval = 0.005, kLongSeconds = 16;

struct SpeedCheck {
  std::string kernel;  // whose line is quoted
  std::string after;   // the test of its result: a kernel that does nothing is fast
  MakeWork make;
  device::Yardstick yardstick = device::Yardstick::none;
};

// Points for time: all where the card gives the work at least rule's `fraction` of the bandwidth of
// a copy in the same run, in proportion below. rule's `n` is timed; `n_modelled` is what is
// simulated where there is no card.
void credit_speed(const Rule& rule, const SpeedCheck& check);

struct StepCheck {
  std::string lab;                         // whose record says what the step is worth
  std::string task, n, form, form_before;  // its rows there
  std::string kernel, before;
  std::string after, after_before;  // the tests of their results; after_before may be empty
  MakeWork make;                    // with the version before
};

// Points for a step from one version to the next, where this very card's record in data/measured
// shows it to be worth steps.least_gain at least: all where the submission's own two versions make
// steps.share_of_gain of the recorded gain.
void credit_step(const Rule& rule, const StepCheck& check);

}  // namespace lab32::labs
