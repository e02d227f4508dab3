#include "grading/timing_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/root.h"
#include "device/fault_text.h"
#include "grading/comparison.h"
#include "grading/describe.h"
#include "grading/prerequisites.h"
#include "grading/progress.h"
#include "grading/reference_timings.h"
#include "grading/runner.h"
#include "grading/session.h"
#include "grading/verdict.h"
#include "grading/words.h"

namespace lab32::grading {
namespace {

constexpr size_t kSets = 3;        // inputs taken in turn
constexpr double kNotable = 0.03;  // less is noise

// Of the kernel's launches over n elements. A version that ends one step and begins the next is
// simulated once.
std::optional<PredictedTime> predicted(const std::string& kernel, uint32_t n,
                                       const TimedVersion& version, const TimedWork& work) {
  auto& known = session().predicted;
  const std::pair key{kernel, n};
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const std::optional<PredictedTime> time = predicted_time(n, version, work.arrays);
  if (time) known.emplace(key, *time);
  return time;
}

// Where there is no card: what the model says the launches take.
NotRun predict(const std::string& kernel, uint32_t n, const TimedWork& work) {
  const std::optional<PredictedTime> time = predicted(kernel, n, work, work);
  measured("");
  NotRun reason{NotRun::Kind::no_gpu, session().device.name()};
  if (!time) return reason;
  measured(duration(time->seconds) + " modelled");
  figure("modelled_seconds", time->seconds);
  reason.modelled = {n, time->seconds, time->error, time->bottleneck};
  return reason;
}

NotRun predict_step(const StepCheck& check, uint32_t n, const TimedWork& work) {
  const std::optional<PredictedTime> now = predicted(check.kernel, n, work, work),
                                     before = predicted(check.before, n, work.before, work);
  measured("");
  NotRun reason{NotRun::Kind::no_gpu, session().device.name()};
  if (!now || !before) return reason;
  const double ratio = before->seconds / now->seconds;
  measured(fmt::format("{:.2f} times modelled", ratio));
  figure("modelled_ratio", ratio);
  reason.modelled = {n, now->seconds, now->error, now->bottleneck, before->seconds};
  return reason;
}

// The model's time is shown of kernels whose results are right, to who reads one report: it takes a
// third of a grading.
template <class Predict>
[[noreturn]] void not_run_here(const MakeWork& make, Predict predict) {
  NotRun reason{NotRun::Kind::no_gpu, session().device.name()};
  if (open_prerequisite() || session().alike) not_run(reason);
  const uint32_t n = rubric().count("n_modelled");
  const Verdict before = verdict();
  try {
    reason = predict(n, make(n, 1));
  } catch (const TestOver&) {
    verdict() = before;  // launches too long to be simulated: no time, and no points to lose here
  }
  not_run(reason);
}

device::Candidate submitted(const std::string& name, const TimedVersion& version) {
  Session& s = session();
  return {name, s.time.submission, version.steps(s.module, s.time.timer->multiprocessors())};
}

// Beside it, where there is one.
void add_reference(device::TimingPlan& plan, const TimedVersion& version) {
  Session& s = session();
  if (!s.time.reference) return;
  const std::unique_ptr<device::LoadedModule> module = s.device.load(*s.time.reference);
  plan.candidates.push_back({"reference solution", s.time.reference,
                             version.steps(*module, s.time.timer->multiprocessors()), false});
}

void verify(const device::Timing& timing, const TimedWork& work, int line) {
  for (const device::TimedOutput& output : timing.outputs) {
    const TimedVersion& version = output.candidate == 0 ? work : work.before;
    const std::string wrong = version.mismatch(output.set, output.arrays);
    if (wrong.empty()) continue;
    measured("wrong when timed");
    lose({Failure::Kind::wrong_result, "when timed"}, line,
         fmt::format("A timed launch{} gave a wrong result (the inputs change from launch to "
                     "launch): {}",
                     output.candidate == 0 ? "" : " of " + timing.candidates[1].name, wrong));
  }
}

struct Result {
  device::Timing timing;
  Comparison comparison;
  bool twice = false;
  double limit = 0;  // of the ratio
};

// Times the plan, and once more, longer, where the first time cannot tell.
template <class Judge>
Result time_twice(const std::string& kernel, uint32_t n, device::TimingPlan plan,
                  const TimedWork& work, int line, double limit, Judge judge) {
  Session& s = session();
  for (bool twice = false;; twice = true) {
    const Progress::Step step(s.progress,
                              "timing " + kernel + (twice ? " again, with more rounds" : ""));
    device::Timed timed = s.time.timer->time(plan);
    if (timed.fault) {
      measured(words(timed.fault->kind));
      const std::string kind = to_string(timed.fault->kind);
      lose({Failure::Kind::fault, fmt::format("n = {}", n), kernel, kind}, line,
           fmt::format("On the GPU, with n = {}: {}", grouped(n), describe(*timed.fault)));
    }
    verify(*timed.timing, work, line);
    const Comparison comparison = judge(*timed.timing, work.bytes, limit);
    if (twice || comparison.verdict != Comparison::Verdict::inconclusive)
      return {std::move(*timed.timing), comparison, twice, limit};
    plan.wanted_interval = kLongInterval;
    plan.seconds = kLongSeconds;
  }
}

// What all timing checks record, and their credit.
void record(const Result& result) {
  const Comparison& comparison = result.comparison;
  figure("seconds", comparison.seconds.median);
  figure("seconds_low", comparison.seconds.low);
  figure("seconds_high", comparison.seconds.high);
  figure("warm_seconds", comparison.warm.median);
  figure("copy_seconds", device::median_interval(result.timing.copy.cold).median);
  figure("rounds", static_cast<double>(result.timing.copy.cold.size()));
  const bool possible = comparison.verdict != Comparison::Verdict::impossible;
  Failure failure{possible ? Failure::Kind::slow : Failure::Kind::impossible_time};
  failure.measured = possible ? comparison.ratio.median : comparison.seconds.median;
  failure.expected = possible ? result.limit : comparison.floor_seconds;
  credit_share(comparison.credit, failure);
}

// Ends the check with the verdict of the comparison and the story of how it came about.
void conclude(const Result& result, uint64_t bytes, int line, std::string story) {
  const Comparison& comparison = result.comparison;
  if (result.twice) story += "\nTimed again with more rounds: the first ones could not tell.";
  if (!comparison.note.empty()) story += "\n" + comparison.note;
  switch (comparison.verdict) {
    case Comparison::Verdict::impossible:
      measured("impossible");
      lose(*verdict().failure, line,
           fmt::format("Physically impossible: {} for {:.0f} MB that memory needs {} for at "
                       "its peak. Is all of the input read?\n",
                       duration(comparison.seconds.median), static_cast<double>(bytes) / 1e6,
                       duration(comparison.floor_seconds)) +
               story);
    case Comparison::Verdict::inconclusive:
      explain(0, "Inconclusive, which counts for you: the interval holds the limit.\n" + story);
      return;
    case Comparison::Verdict::failed:
      explain(line, story);
      return;
    case Comparison::Verdict::passed:
      explain(0, story);
  }
}

std::string compared_with(const device::Timing& timing, const device::Samples& other) {
  const device::Interval ratio =
      device::median_interval(device::ratios(timing.candidates.front().cold, other.cold));
  return fmt::format("\n{}: {} (yours is {:.3f} times that, {:.3f} ... {:.3f})", other.name,
                     duration(device::median_interval(other.cold).median), ratio.median, ratio.low,
                     ratio.high);
}

}  // namespace

void credit_speed(const SpeedCheck& check) {
  Session& s = session();
  const double limit = rubric().number("fraction");
  expected(fmt::format("{:.2f} of a copy", limit));
  if (!s.time.timer)
    not_run_here(check.make,
                 [&](uint32_t n, const TimedWork& work) { return predict(check.kernel, n, work); });

  require_prerequisites();
  const uint32_t n = rubric().count("n");
  const int line = line_of(check.kernel);
  const TimedWork work = check.make(n, kSets);
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  plan.baseline = check.baseline;
  plan.candidates = {submitted("your kernel", work)};
  add_reference(plan, work);
  const Result result = time_twice(check.kernel, n, std::move(plan), work, line, limit, judge);

  const device::Timing& timing = result.timing;
  const Comparison& comparison = result.comparison;
  measured(fmt::format("{:.2f}, {}", comparison.ratio.median, duration(comparison.seconds.median)));
  record(result);
  figure("fraction", comparison.ratio.median);
  figure("fraction_low", comparison.ratio.low);
  figure("fraction_high", comparison.ratio.high);
  if (timing.baseline)
    figure("baseline_seconds", device::median_interval(timing.baseline->cold).median);
  std::string story = fmt::format(
      "measured on {}: {} cold ({} ... {}), {} warm, {:.0f} GB/s; {:.3f} of a copy's bandwidth "
      "({:.3f} ... {:.3f}, {} rounds).",
      s.time.timer->name(), duration(comparison.seconds.median), duration(comparison.seconds.low),
      duration(comparison.seconds.high), duration(comparison.warm.median),
      static_cast<double>(work.bytes) / comparison.seconds.median / 1e9, comparison.ratio.median,
      comparison.ratio.low, comparison.ratio.high, timing.copy.cold.size());
  for (size_t i = 1; i < timing.candidates.size(); ++i)
    story += compared_with(timing, timing.candidates[i]);
  if (timing.baseline) story += compared_with(timing, *timing.baseline);
  conclude(result, work.bytes, line, std::move(story));
}

void credit_step(const StepCheck& check) {
  Session& s = session();
  expected("ahead of " + check.form_before);
  if (!s.time.timer)
    not_run_here(check.make,
                 [&](uint32_t n, const TimedWork& work) { return predict_step(check, n, work); });

  const std::string card = s.time.timer->name(), file = record_file(card, check.lab);
  const ReferenceTimings reference((root() / file).string());
  const auto now = reference.copies(check.task, check.form, check.n);
  const auto before = reference.copies(check.task, check.form_before, check.n);
  NotRun reason{NotRun::Kind::no_reference_timings, card, file};
  if (!now || !before) not_run(reason);
  const double gain = *before / *now - 1, least = rubric().number("steps.least_gain");
  const double limit = 1 + rubric().number("steps.share_of_gain") * gain;
  measured(fmt::format("{:.2f} recorded", 1 + gain));
  if (gain < least) {
    reason.kind = NotRun::Kind::no_such_step;
    reason.gain = 1 + gain;
    reason.least_gain = 1 + least;
    not_run(reason);
  }
  expected(fmt::format("{:.2f} times {}", limit, check.form_before));
  require_prerequisites();

  const uint32_t n = rubric().count("n");
  const int line = line_of(check.kernel);
  const TimedWork work = check.make(n, kSets);
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  plan.candidates = {submitted(check.kernel, work), submitted(check.before, work.before)};
  plan.against = 1;
  add_reference(plan, work.before);
  const Result result = time_twice(check.kernel, n, std::move(plan), work, line, limit,
                                   [&](const device::Timing& timing, uint64_t bytes, double least) {
                                     return judge_step(timing, bytes, least, *before);
                                   });

  const device::Timing& timing = result.timing;
  const Comparison& comparison = result.comparison;
  const double start = device::median_interval(timing.candidates[1].cold).median;
  measured(fmt::format("{:.2f} times, {}", comparison.ratio.median,
                       duration(comparison.seconds.median)));
  record(result);
  figure("before_seconds", start);
  figure("ratio", comparison.ratio.median);
  figure("ratio_low", comparison.ratio.low);
  figure("ratio_high", comparison.ratio.high);
  figure("ratio_expected", limit);
  std::string story = fmt::format(
      "measured on {}: {} {}, {} {}; {:.3f} times as fast ({:.3f} ... {:.3f}, {} rounds), where "
      "the card's reference timings have {:.3f}.",
      card, check.before, duration(start), check.kernel, duration(comparison.seconds.median),
      comparison.ratio.median, comparison.ratio.low, comparison.ratio.high, timing.copy.cold.size(),
      1 + gain);
  const double counted = device::median_interval(start_of_step(timing, limit, *before)).median;
  if (std::abs(counted / start - 1) > kNotable)
    story += fmt::format("\nThe reference solution's {} {} {}: the step is counted from {}.",
                         check.before, s.time.reference ? "takes" : "would take, by the record,",
                         duration(device::median_interval(usual_start(timing, *before)).median),
                         duration(counted));
  conclude(result, work.bytes, line, std::move(story));
}

}  // namespace lab32::grading
