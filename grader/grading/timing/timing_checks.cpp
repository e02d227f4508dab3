#include "grading/timing/timing_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "base/error.h"
#include "base/work.h"
#include "device/run_text.h"
#include "grading/engine/check.h"
#include "grading/engine/progress.h"
#include "grading/timing/given_time.h"
#include "grading/timing/speed_verdict.h"
#include "grading/words/describe.h"
#include "grading/words/words.h"

namespace lab32::grading {
namespace {

constexpr size_t kSets = 2;        // inputs that launches use alternately
constexpr double kNotable = 0.03;  // smaller differences are noise

// For a given kernel over inputs that are the same for all submissions. The result is cached by
// these inputs and the shapes (given_time.h).
std::optional<PredictedTime> predict_given_kernel(Check& check, uint32_t n,
                                                  const TimedVersion& version,
                                                  const WorkloadToTime& work) {
  GradingSession& s = check.session;
  std::string all = fmt::format("as events see it\n{}\nn {}", version.given->inputs, n);
  for (const device::StepToTime& step : version.steps(s.module, check.device().multiprocessors())) {
    const device::LaunchShape& shape = std::get<device::LaunchToTime>(step).shape;
    const Dim3 &grid = shape.grid, &block = shape.block;
    all += fmt::format("\n{}x{}x{} of {}x{}x{}, {}", grid.x, grid.y, grid.z, block.x, block.y,
                       block.z, shape.dynamic_shared);
  }
  const TimeLimit& limit = s.time_limit;
  const std::string text =
      cached_result_text_of_given_kernel(check, version.given->kernel, all, [&](Check& own) {
        own.session.time_limit = limit;  // the shape is the submission's, so its time limit applies
        const std::optional<PredictedTime> time = predicted_time(own, n, version, work.arrays);
        return time
                   ? fmt::format("{:.17g} {:.17g} {}", time->seconds, time->error, time->bottleneck)
                   : "";
      });
  PredictedTime time;
  int length = 0;
  if (std::sscanf(text.c_str(), "%lf %lf %n", &time.seconds, &time.error, &length) < 2)
    return std::nullopt;
  time.bottleneck = text.substr(static_cast<size_t>(length));
  return time;
}

// The time of the kernel's launches over n elements. A version that ends one step and begins the
// next is simulated once.
std::optional<PredictedTime> cached_predicted_time(Check& check, const std::string& kernel,
                                                   uint32_t n, const TimedVersion& version,
                                                   const WorkloadToTime& work) {
  auto& known = check.session.predicted;
  const std::pair key{kernel, n};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const std::optional<PredictedTime> time = version.given
                                                ? predict_given_kernel(check, n, version, work)
                                                : predicted_time(check, n, version, work.arrays);
  if (time) known.emplace(key, *time);
  return time;
}

// The text for what limits the launch, without its numbers if they would reveal a withheld count.
std::string bottleneck_text(Check& check, const PredictedTime& time) {
  const bool withheld =
      check.session.counts_withheld && time.bottleneck.find("wavefront") != std::string::npos;
  return withheld ? time.bottleneck.substr(0, time.bottleneck.find(':')) : time.bottleneck;
}

// The reason why the check is not run: there is no GPU. It carries the modelled time of the
// launches, if the device has a model.
NotRunReason no_gpu_reason_with_modelled_time(Check& check, const std::string& kernel, uint32_t n,
                                              const WorkloadToTime& work) {
  const std::optional<PredictedTime> time = cached_predicted_time(check, kernel, n, work, work);
  check.measured("");
  NotRunReason reason{NotRunReason::Kind::no_gpu, check.device().name()};
  if (!time) return reason;
  check.figure("modelled_seconds", time->seconds);
  reason.modelled = {n, time->seconds, time->error, bottleneck_text(check, *time)};
  const std::optional<double> copy = check.device().modelled_copy_kernel_seconds(work.bytes);
  check.measured(duration(time->seconds) + " modelled");
  if (!copy) return reason;
  reason.modelled->copy_seconds = copy;
  reason.modelled->fraction = check.row.required_number("fraction");
  check.figure("modelled_fraction", *copy / time->seconds);
  check.measured(
      fmt::format("{:.2f}, {} modelled", *copy / time->seconds, duration(time->seconds)));
  return reason;
}

NotRunReason no_gpu_reason_with_modelled_ratio(Check& check, const StepCheckWorkload& step,
                                               uint32_t n, const WorkloadToTime& work) {
  const std::optional<PredictedTime> now = cached_predicted_time(check, step.kernel, n, work, work),
                                     before = cached_predicted_time(check, step.before, n,
                                                                    work.before, work);
  check.measured("");
  NotRunReason reason{NotRunReason::Kind::no_gpu, check.device().name()};
  if (!now || !before) return reason;
  const double ratio = before->seconds / now->seconds;
  check.measured(fmt::format("{:.2f} times modelled", ratio));
  check.figure("modelled_ratio", ratio);
  reason.modelled = {n, now->seconds, now->error, bottleneck_text(check, *now), before->seconds};
  reason.modelled->before = step.before;
  reason.modelled->kernel = step.kernel;
  return reason;
}

// The modelled time is shown for kernels whose results are right, and earns no points. It takes a
// third of a grading, so it is left out when a whole class is graded. A check that takes no
// `n_modelled` has none, because the model is wrong about its kernel.
template <class Predict>
[[noreturn]] void not_run_here(Check& check, const MakeWork& make, Predict predict) {
  NotRunReason reason{NotRunReason::Kind::no_gpu, check.device().name()};
  if (check.first_unpassed_prerequisite() || !check.session.setup.modelled_times ||
      !check.row.has("n_modelled"))
    check.not_run(reason);
  const uint32_t n = check.row.required_count("n_modelled");
  const CheckVerdict before = check.verdict;
  try {
    reason = predict(n, make(check, n, 1));
  } catch (const TestOver&) {
    // The launches are too long to be simulated, so the message has no time. That costs no points.
    check.verdict = before;
  }
  check.not_run(reason);
}

device::SolutionToTime submitted_candidate(Check& check, const std::string& name,
                                           const TimedVersion& version) {
  GradingSession& s = check.session;
  return {name, s.time.submission, version.steps(s.module, s.time.timer->multiprocessors())};
}

// A candidate for the timer: the reference solution's launches of this version, in `module`.
device::SolutionToTime reference_candidate(Check& check, const std::string& name,
                                           const TimedVersion& version,
                                           device::LoadedModule& module) {
  const TimerAndArtifacts& time = check.session.time;
  return {name, time.reference, version.steps(module, time.timer->multiprocessors()), false};
}

std::unique_ptr<device::LoadedModule> loaded_reference(Check& check) {
  return check.device().load(*check.session.time.reference);
}

device::TimingPlan timing_plan_with_arrays_only(const WorkloadToTime& work) {
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  return plan;
}

// Makes the work of the check, and records how many seconds that took.
WorkloadToTime make_workload_to_time(Check& check, const MakeWork& make, uint32_t n) {
  const WorkTimer watch;
  WorkloadToTime work = make(check, n, kSets);
  check.figure("spent_making_inputs", watch.wall_seconds());
  return work;
}

// Compares all outputs in parallel, since comparing a large output takes as long as timing.
void verify_outputs(Check& check, const device::MeasuredGpuTimes& timing,
                    const WorkloadToTime& work, int line) {
  std::vector<std::string> wrong(timing.outputs.size());
  std::vector<BackgroundWork> comparisons;
  for (size_t i = 0; i < wrong.size(); ++i) {
    const device::DistinctLaunchOutput& output = timing.outputs[i];
    const TimedVersion& version = output.candidate == kNow ? work : work.before;
    comparisons.emplace_back([&version, &output, &words = wrong[i]] {
      words = version.mismatch(output.set, output.arrays);
    });
  }
  for (size_t i = 0; i < wrong.size(); ++i) {
    comparisons[i].wait_and_rethrow();
    const std::string& words = wrong[i];
    if (words.empty()) continue;
    const size_t candidate = timing.outputs[i].candidate;
    check.measured("wrong when timed");
    check.fail_and_throw(
        {CheckFailureReason::Kind::wrong_result, "when timed"}, line,
        fmt::format("A timed launch{} gave a wrong result (the inputs change from launch to "
                    "launch): {}",
                    candidate == kNow ? "" : " of " + timing.candidates[candidate].name, words));
  }
}

struct TimingAndVerdict {
  device::MeasuredGpuTimes timing;
  SpeedVerdict verdict;
  bool twice = false;
};

// The seconds that each part of the check has taken.
struct SecondsSpentInTimingCheck {
  double card = 0, start = 0, rounds = 0, verifying = 0;
  void record_figures(Check& check) const {
    check.figure("spent_timing", card);
    check.figure("spent_starting_the_card", start);
    check.figure("spent_in_rounds", rounds);
    check.figure("spent_verifying", verifying);
  }
};

// Times the plan. If the result is inconclusive, times it once more with more rounds.
template <class Judge>
TimingAndVerdict time_and_retry_if_inconclusive(Check& check, const std::string& kernel, uint32_t n,
                                                device::TimingPlan plan, const WorkloadToTime& work,
                                                int line, Judge judge) {
  GradingSession& s = check.session;
  SecondsSpentInTimingCheck spent;
  for (bool twice = false;; twice = true) {
    const ProgressReporter::ScopedStep progress(
        s.setup.progress, "timing " + kernel + (twice ? " again, with more rounds" : ""));
    const WorkTimer watch;
    device::GpuTimingResult timed = s.time.timer->time(plan);
    spent.card += watch.wall_seconds();
    if (timed.fault) {
      check.measured(words(timed.fault->kind));
      const std::string kind = to_string(timed.fault->kind);
      check.fail_and_throw(
          {CheckFailureReason::Kind::fault, fmt::format("n = {}", n), kernel, kind}, line,
          fmt::format("On the GPU, with n = {}: {}", grouped_digits(n), describe(*timed.fault)));
    }
    spent.start += timed.timing->start_seconds;
    spent.rounds += timed.timing->rounds_seconds;
    const WorkTimer verifying;
    verify_outputs(check, *timed.timing, work, line);
    spent.verifying += verifying.wall_seconds();
    spent.record_figures(check);
    const SpeedVerdict verdict = judge(*timed.timing);
    if (twice || verdict.outcome != SpeedVerdict::Outcome::inconclusive)
      return {std::move(*timed.timing), verdict, twice};
    plan.wanted_interval = kLongInterval;
    plan.seconds = kLongSeconds;
  }
}

// Records the speed relative to the reference solution's kernel in the same rounds.
void record_speed_relative_to_reference(Check& check, const device::MeasuredGpuTimes& timing,
                                        size_t reference) {
  const auto& other = timing.candidates[reference].cold;
  const device::MedianInterval ratio =
      device::median_interval(device::ratios(other, timing.candidates.front().cold));
  check.figure("reference_seconds", device::median_interval(other).median);
  check.figure("copy_seconds", device::median_interval(timing.copy.cold).median);
  check.figure("against_reference", ratio.median);
  check.figure("against_reference_low", ratio.low);
  check.figure("against_reference_high", ratio.high);
}

// Records the figures of a timing, and gives the check the verdict's credit.
void record_figures_and_credit(Check& check, const TimingAndVerdict& result) {
  const SpeedVerdict& verdict = result.verdict;
  check.figure("seconds", verdict.seconds.median);
  check.figure("seconds_low", verdict.seconds.low);
  check.figure("seconds_high", verdict.seconds.high);
  check.figure("warm_seconds", verdict.warm.median);
  check.figure("copy_seconds", device::median_interval(result.timing.copy.cold).median);
  check.figure("rounds", static_cast<double>(result.timing.copy.cold.size()));
  const bool possible = verdict.outcome != SpeedVerdict::Outcome::impossible;
  CheckFailureReason failure{possible ? CheckFailureReason::Kind::slow
                                      : CheckFailureReason::Kind::impossible_time};
  failure.measured = possible ? verdict.ratio.median : verdict.seconds.median;
  failure.expected = possible ? verdict.limit : verdict.floor_seconds;
  check.credit_share(verdict.credit, failure);
}

// Ends the check with the verdict. `story`: how it was measured, for the message.
void end_with_verdict(Check& check, const TimingAndVerdict& result, uint64_t bytes, int line,
                      std::string story) {
  const SpeedVerdict& verdict = result.verdict;
  if (result.twice) story += "\nTimed twice: the first rounds did not decide.";
  if (!verdict.note.empty()) story += "\n" + verdict.note;
  switch (verdict.outcome) {
    case SpeedVerdict::Outcome::impossible:
      check.measured("impossible");
      check.fail_and_throw(
          *check.verdict.failure, line,
          fmt::format("Physically impossible: {} for {:.0f} MB, which takes {} at the peak "
                      "bandwidth of memory. Does the kernel read all of the input?\n",
                      duration(verdict.seconds.median), static_cast<double>(bytes) / 1e6,
                      duration(verdict.floor_seconds)) +
              story);
    case SpeedVerdict::Outcome::inconclusive:
      check.explain(0,
                    "The timing is inconclusive, because the limit lies inside the interval: you "
                    "get the points.\n" +
                        story);
      return;
    case SpeedVerdict::Outcome::failed:
      check.explain(line, story);
      return;
    case SpeedVerdict::Outcome::passed:
    case SpeedVerdict::Outcome::not_asked:
      check.explain(0, story);
  }
}

std::string time_comparison_line(const device::MeasuredGpuTimes& timing,
                                 const device::ColdAndWarmSamples& other) {
  const device::MedianInterval ratio =
      device::median_interval(device::ratios(timing.candidates.front().cold, other.cold));
  return fmt::format("\n{}: {} (yours takes {:.3f} times as long, {:.3f} ... {:.3f})", other.name,
                     duration(device::median_interval(other.cold).median), ratio.median, ratio.low,
                     ratio.high);
}

void record_reference_gain(Check& check, const device::MedianInterval& gain) {
  check.figure("reference_gain", gain.median);
  check.figure("reference_gain_low", gain.low);
  check.figure("reference_gain_high", gain.high);
}

[[noreturn]] void not_asked(Check& check, const device::MedianInterval& gain,
                            const RequiredShareOfGain& terms) {
  NotRunReason reason{NotRunReason::Kind::no_such_step, check.session.time.timer->name()};
  reason.gain = gain.median;
  reason.least_gain = 1 + terms.least;
  check.measured(fmt::format("{:.2f} by reference", gain.median));
  check.not_run(reason);
}

// A version with a wrong result is not timed. It loses the points of the step if this card asks for
// the step at all, so that the points that can be reached are the same for all submissions.
[[noreturn]] void end_without_submission(Check& check, const StepCheckWorkload& step,
                                         const WorkloadToTime& work,
                                         const std::vector<device::SolutionToTime>& reference,
                                         const RequiredShareOfGain& terms) {
  GradingSession& s = check.session;
  device::TimingPlan plan = timing_plan_with_arrays_only(work);
  plan.candidates = reference;
  plan.speed_ratios = {{0, 1}};
  const ProgressReporter::ScopedStep progress(s.setup.progress,
                                              "timing the reference solution's " + step.kernel);
  const device::GpuTimingResult timed = s.time.timer->time(plan);
  if (!timed.timing) throw Error("the reference solution: " + describe(*timed.fault));
  const device::MedianInterval gain = reference_gain_over_previous(*timed.timing, 0);
  record_reference_gain(check, gain);
  if (gain.median < 1 + terms.least) not_asked(check, gain, terms);
  check.require_prerequisites();
  throw std::logic_error("a prerequisite was open before and has now passed");
}

}  // namespace

void credit_bandwidth_vs_copy(Check& check, const SpeedCheckWorkload& speed) {
  GradingSession& s = check.session;
  const double fraction = check.row.required_number("fraction");
  check.expected(fmt::format("{:.2f} of a copy", fraction));
  if (!s.time.timer)
    not_run_here(check, speed.make, [&](uint32_t n, const WorkloadToTime& work) {
      return no_gpu_reason_with_modelled_time(check, speed.kernel, n, work);
    });

  check.require_prerequisites();
  const uint32_t n = check.row.required_count("n");
  const int line = check.line_of(speed.kernel);
  const WorkloadToTime work = make_workload_to_time(check, speed.make, n);
  device::TimingPlan plan = timing_plan_with_arrays_only(work);
  plan.baseline = speed.baseline;
  plan.candidates = {submitted_candidate(check, "your kernel", work)};
  if (s.time.reference) {
    plan.candidates.push_back(
        reference_candidate(check, "reference solution", work, *loaded_reference(check)));
    plan.speed_ratios.push_back({1, std::nullopt});
  }
  const RequiredShareOfCopyBandwidth terms{fraction,
                                           check.row.required_number("speed.of_reference")};
  const TimingAndVerdict result =
      time_and_retry_if_inconclusive(check, speed.kernel, n, std::move(plan), work, line,
                                     [&](const device::MeasuredGpuTimes& timing) {
                                       return compare_with_copy(timing, work.bytes, terms);
                                     });

  const device::MeasuredGpuTimes& timing = result.timing;
  const SpeedVerdict& verdict = result.verdict;
  check.measured(fmt::format("{:.2f}, {}", verdict.ratio.median, duration(verdict.seconds.median)));
  check.expected(fmt::format("{:.2f} of a copy", verdict.limit));
  record_figures_and_credit(check, result);
  if (timing.candidates.size() > 1) record_speed_relative_to_reference(check, timing, 1);
  check.figure("fraction", verdict.ratio.median);
  check.figure("fraction_low", verdict.ratio.low);
  check.figure("fraction_high", verdict.ratio.high);
  check.figure("fraction_expected", verdict.limit);
  if (timing.baseline)
    check.figure("baseline_seconds", device::median_interval(timing.baseline->cold).median);
  std::string story = fmt::format(
      "measured on {}: {} cold ({} ... {}), {} warm, {:.0f} GB/s; {:.3f} of a copy's bandwidth "
      "({:.3f} ... {:.3f}, {} rounds).",
      s.time.timer->name(), duration(verdict.seconds.median), duration(verdict.seconds.low),
      duration(verdict.seconds.high), duration(verdict.warm.median),
      static_cast<double>(work.bytes) / verdict.seconds.median / 1e9, verdict.ratio.median,
      verdict.ratio.low, verdict.ratio.high, timing.copy.cold.size());
  for (size_t i = 1; i < timing.candidates.size(); ++i)
    story += time_comparison_line(timing, timing.candidates[i]);
  if (timing.baseline) story += time_comparison_line(timing, *timing.baseline);
  if (verdict.limit < fraction)
    story += fmt::format(
        "\nThe reference solution reaches {:.2f} of a copy on this card, so the "
        "limit is {:.0f} % of that instead of {:.2f}.",
        verdict.limit / terms.of_reference, 100 * terms.of_reference, fraction);
  end_with_verdict(check, result, work.bytes, line, std::move(story));
}

void credit_speedup_of_step(Check& check, const StepCheckWorkload& step) {
  GradingSession& s = check.session;
  check.expected("ahead of " + step.form_before);
  if (!s.time.timer)
    not_run_here(check, step.make, [&](uint32_t n, const WorkloadToTime& work) {
      return no_gpu_reason_with_modelled_ratio(check, step, n, work);
    });

  const std::string card = s.time.timer->name();
  if (!s.time.reference) check.not_run({NotRunReason::Kind::no_reference, card});

  const uint32_t n = check.row.required_count("n");
  const int line = check.line_of(step.kernel);
  const RequiredShareOfGain terms{check.row.required_number("steps.share_of_gain"),
                                  check.row.required_number("steps.least_gain")};
  const WorkloadToTime work = make_workload_to_time(check, step.make, n);
  const auto module = loaded_reference(check);
  const std::vector<device::SolutionToTime> reference = {
      reference_candidate(check, "the reference solution's " + step.kernel, work, *module),
      reference_candidate(check, "the reference solution's " + step.before, work.before, *module)};
  if (check.first_unpassed_prerequisite())
    end_without_submission(check, step, work, reference, terms);

  device::TimingPlan plan = timing_plan_with_arrays_only(work);
  plan.candidates = {submitted_candidate(check, step.kernel, work),
                     submitted_candidate(check, step.before, work.before)};
  plan.candidates.insert(plan.candidates.end(), reference.begin(), reference.end());
  plan.speed_ratios = {{kNow, kBefore}, {kReferenceNow, kReferenceBefore}};
  const TimingAndVerdict result =
      time_and_retry_if_inconclusive(check, step.kernel, n, std::move(plan), work, line,
                                     [&](const device::MeasuredGpuTimes& timing) {
                                       return compare_with_previous(timing, work.bytes, terms);
                                     });

  const device::MeasuredGpuTimes& timing = result.timing;
  const SpeedVerdict& verdict = result.verdict;
  const device::MedianInterval gain = reference_gain_over_previous(timing, kReferenceNow);
  record_reference_gain(check, gain);
  record_speed_relative_to_reference(check, timing, kReferenceNow);
  if (verdict.outcome == SpeedVerdict::Outcome::not_asked) not_asked(check, gain, terms);
  const double start = device::median_interval(timing.candidates[kBefore].cold).median;
  check.measured(
      fmt::format("{:.2f} times, {}", verdict.ratio.median, duration(verdict.seconds.median)));
  check.expected(fmt::format("{:.2f} times {}", verdict.limit, step.form_before));
  record_figures_and_credit(check, result);
  check.figure("before_seconds", start);
  check.figure("ratio", verdict.ratio.median);
  check.figure("ratio_low", verdict.ratio.low);
  check.figure("ratio_high", verdict.ratio.high);
  check.figure("ratio_expected", verdict.limit);
  std::string story = fmt::format(
      "measured on {}: {} {}, {} {}; {:.3f} times as fast ({:.3f} ... {:.3f}, "
      "{} rounds). This step makes the reference solution {:.3f} times as "
      "fast ({:.3f} ... {:.3f}).",
      card, step.before, duration(start), step.kernel, duration(verdict.seconds.median),
      verdict.ratio.median, verdict.ratio.low, verdict.ratio.high, timing.copy.cold.size(),
      gain.median, gain.low, gain.high);
  const double counted =
      device::median_interval(clamped_student_previous_seconds(timing, verdict.limit)).median;
  if (std::abs(counted / start - 1) > kNotable)
    story += fmt::format(
        "\nThe reference solution's {} takes {}, so the check compares with {}.", step.before,
        duration(device::median_interval(timing.candidates[kReferenceBefore].cold).median),
        duration(counted));
  end_with_verdict(check, result, work.bytes, line, std::move(story));
}

}  // namespace lab32::grading
