#include "labs/speed.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "labs/describe.h"
#include "labs/grade.h"
#include "labs/progress.h"
#include "labs/race.h"
#include "labs/record.h"
#include "labs/session.h"
#include "labs/verdict.h"

namespace lab32::labs {
namespace {

constexpr const char* kNoCard = "Time is measured on a GPU, and there is none here.";
constexpr size_t kSets = 3;        // inputs taken in turn
constexpr double kNotable = 0.03;  // less is noise

// Where there is no card: what the model says the launches take.
[[noreturn]] void predict(uint32_t n, const TimedWork& work) {
  const std::optional<PredictedTime> time = predicted_time(n, work, work.arrays);
  measured("");
  if (!time) not_run(kNoCard);
  measured(duration(time->seconds) + " modelled");
  figure("modelled_seconds", time->seconds);
  not_run(fmt::format("{} For n = {}, {} (modelled, give or take {:.0f} %) on {}{}.", kNoCard,
                      grouped(n), duration(time->seconds), 100 * time->error,
                      session().device.name(),
                      time->bottleneck.empty() ? "" : ", " + time->bottleneck));
}

[[noreturn]] void predict_step(uint32_t n, const TimedWork& work) {
  const std::optional<PredictedTime> now = predicted_time(n, work, work.arrays),
                                     before = predicted_time(n, work.before, work.arrays);
  measured("");
  if (!now || !before) not_run(kNoCard);
  const double ratio = before->seconds / now->seconds;
  measured(fmt::format("{:.2f} times modelled", ratio));
  figure("modelled_ratio", ratio);
  not_run(fmt::format("No GPU here. For n = {}, {} and {} (modelled).", grouped(n),
                      duration(before->seconds), duration(now->seconds)));
}

device::Contender submitted(const std::string& name, const TimedVersion& version) {
  Session& s = session();
  return {name, s.time.submission, version.steps(s.module, s.time.stopwatch->multiprocessors())};
}

// Beside it, where there is one.
void add_reference(device::TimingPlan& plan, const TimedVersion& version) {
  Session& s = session();
  if (!s.time.reference) return;
  const std::unique_ptr<device::Module> module = s.device.load(*s.time.reference);
  plan.contenders.push_back({"reference solution", s.time.reference,
                             version.steps(*module, s.time.stopwatch->multiprocessors()), false});
}

void verify(const device::Timing& timing, const TimedWork& work, int line) {
  for (const device::TimedOutput& output : timing.outputs) {
    const TimedVersion& version = output.contender == 0 ? work : work.before;
    const std::string wrong = version.mismatch(output.set, output.arrays);
    if (wrong.empty()) continue;
    measured("wrong when timed");
    lose(line, fmt::format("A timed launch{} gave a wrong result (the inputs change from launch to "
                           "launch): {}",
                           output.contender == 0 ? "" : " of " + timing.contenders[1].name, wrong));
  }
}

struct Result {
  device::Timing timing;
  Race race;
  bool twice = false;
};

// Times the plan, and once more, longer, where the first time cannot tell.
template <class Judge>
Result run_race(const std::string& kernel, uint32_t n, device::TimingPlan plan,
                const TimedWork& work, int line, Judge judge) {
  Session& s = session();
  for (bool twice = false;; twice = true) {
    const Progress::Step step(s.progress,
                              "timing " + kernel + (twice ? " again, with more rounds" : ""));
    device::Timed timed = s.time.stopwatch->time(plan);
    if (timed.fault) {
      measured(timed.fault->kind);
      lose(line, fmt::format("On the GPU, with n = {}: {}", grouped(n), timed.fault->message));
    }
    verify(*timed.timing, work, line);
    const Race race = judge(*timed.timing);
    if (twice || race.verdict != Race::Verdict::inconclusive)
      return {std::move(*timed.timing), race, twice};
    plan.wanted_interval = kLongInterval;
    plan.seconds = kLongSeconds;
  }
}

// What all checks of speed record, and their credit.
void record(const Result& result) {
  const Race& race = result.race;
  figure("seconds", race.seconds.median);
  figure("seconds_low", race.seconds.low);
  figure("seconds_high", race.seconds.high);
  figure("warm_seconds", race.warm.median);
  figure("copy_seconds", device::median_interval(result.timing.copy.cold).median);
  figure("rounds", static_cast<double>(result.timing.copy.cold.size()));
  credit(race.credit, 1);
}

// Ends the check with the verdict of the race and the story of how it came about.
void conclude(const Result& result, uint64_t bytes, int line, std::string story) {
  const Race& race = result.race;
  if (result.twice) story += "\nTimed again with more rounds: the first ones could not tell.";
  if (!race.note.empty()) story += "\n" + race.note;
  switch (race.verdict) {
    case Race::Verdict::impossible:
      measured("impossible");
      lose(line, fmt::format("Physically impossible: {} for {:.0f} MB that memory needs {} for at "
                             "its peak. Is all of the input read?\n",
                             duration(race.seconds.median), static_cast<double>(bytes) / 1e6,
                             duration(race.floor_seconds)) +
                     story);
    case Race::Verdict::inconclusive:
      explain(0, "Inconclusive, which counts for you: the interval holds the limit.\n" + story);
      return;
    case Race::Verdict::failed:
      explain(line, story);
      return;
    case Race::Verdict::passed:
      explain(0, story);
  }
}

std::string comparison(const device::Timing& timing, const device::Samples& other) {
  const device::Interval ratio =
      device::median_interval(device::ratios(timing.contenders.front().cold, other.cold));
  return fmt::format("\n{}: {} (yours is {:.3f} times that, {:.3f} ... {:.3f})", other.name,
                     duration(device::median_interval(other.cold).median), ratio.median, ratio.low,
                     ratio.high);
}

}  // namespace

void credit_speed(const Rule& rule, const SpeedCheck& check) {
  Session& s = session();
  const double limit = rule.number("fraction");
  wanted(fmt::format("{:.2f} of a copy", limit));
  if (!s.time.stopwatch) {
    if (!s.passed[check.after]) not_run(kNoCard);
    const uint32_t n = rule.count("n_modelled");
    predict(n, check.make(n, 1));
  }

  rule.after(check.after);
  const uint32_t n = rule.count("n");
  const int line = s.source.find(check.kernel);
  const TimedWork work = check.make(n, kSets);
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  plan.yardstick = check.yardstick;
  plan.contenders = {submitted("your kernel", work)};
  add_reference(plan, work);
  const Result result =
      run_race(check.kernel, n, std::move(plan), work, line,
               [&](const device::Timing& timing) { return judge(timing, work.bytes, limit); });

  const auto& [timing, race, twice] = result;
  measured(fmt::format("{:.2f}, {}", race.ratio.median, duration(race.seconds.median)));
  record(result);
  figure("fraction", race.ratio.median);
  figure("fraction_low", race.ratio.low);
  figure("fraction_high", race.ratio.high);
  if (timing.yardstick)
    figure("yardstick_seconds", device::median_interval(timing.yardstick->cold).median);
  std::string story = fmt::format(
      "measured on {}: {} cold ({} ... {}), {} warm, {:.0f} GB/s; {:.3f} of a copy's bandwidth "
      "({:.3f} ... {:.3f}, {} rounds).",
      s.time.stopwatch->name(), duration(race.seconds.median), duration(race.seconds.low),
      duration(race.seconds.high), duration(race.warm.median),
      static_cast<double>(work.bytes) / race.seconds.median / 1e9, race.ratio.median,
      race.ratio.low, race.ratio.high, timing.copy.cold.size());
  for (size_t i = 1; i < timing.contenders.size(); ++i)
    story += comparison(timing, timing.contenders[i]);
  if (timing.yardstick) story += comparison(timing, *timing.yardstick);
  conclude(result, work.bytes, line, std::move(story));
}

void credit_step(const Rule& rule, const StepCheck& check) {
  Session& s = session();
  wanted("ahead of " + check.form_before);
  const bool ready =
      s.passed[check.after] && (check.after_before.empty() || s.passed[check.after_before]);
  if (!s.time.stopwatch) {
    if (!ready) not_run(kNoCard);
    const uint32_t n = rule.count("n_modelled");
    predict_step(n, check.make(n, 1));
  }

  const std::string card = s.time.stopwatch->name(), file = record_file(card, check.lab);
  const Record record_of_card((root() / file).string());
  const auto now = record_of_card.copies(check.task, check.form, check.n);
  const auto before = record_of_card.copies(check.task, check.form_before, check.n);
  if (!now || !before)
    not_run(
        fmt::format("What the step is worth on {} is not known: {} is not there, or has not "
                    "both versions.",
                    card, file));
  const double gain = *before / *now - 1, least = s.limits.number("steps.least_gain");
  const double limit = 1 + s.limits.number("steps.share_of_gain") * gain;
  measured(fmt::format("{:.2f} in the record", 1 + gain));
  if (gain < least)
    not_run(
        fmt::format("On {} this step is none: {:.2f} times as fast in its record ({}), and "
                    "what is less than {:.2f} is not asked for.",
                    card, 1 + gain, file, 1 + least));
  wanted(fmt::format("{:.2f} times {}", limit, check.form_before));
  if (!check.after_before.empty()) rule.after(check.after_before);
  rule.after(check.after);

  const uint32_t n = rule.count("n");
  const int line = s.source.find(check.kernel);
  const TimedWork work = check.make(n, kSets);
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  plan.contenders = {submitted(check.kernel, work), submitted(check.before, work.before)};
  plan.against = 1;
  add_reference(plan, work.before);
  const Result result =
      run_race(check.kernel, n, std::move(plan), work, line,
               [&](const device::Timing& timing) { return judge_step(timing, work.bytes, limit); });

  const auto& [timing, race, twice] = result;
  const double start = device::median_interval(timing.contenders[1].cold).median;
  measured(fmt::format("{:.2f} times, {}", race.ratio.median, duration(race.seconds.median)));
  record(result);
  figure("before_seconds", start);
  figure("ratio", race.ratio.median);
  figure("ratio_low", race.ratio.low);
  figure("ratio_high", race.ratio.high);
  figure("ratio_wanted", limit);
  std::string story = fmt::format(
      "measured on {}: {} {}, {} {}; {:.3f} times as fast ({:.3f} ... {:.3f}, {} rounds), where "
      "the card's record has {:.3f}.",
      card, check.before, duration(start), check.kernel, duration(race.seconds.median),
      race.ratio.median, race.ratio.low, race.ratio.high, timing.copy.cold.size(), 1 + gain);
  const double counted = device::median_interval(start_of_step(timing, limit)).median;
  if (std::abs(counted / start - 1) > kNotable)
    story += fmt::format(
        "\nThe reference solution's {} takes {}: the step is counted from {}.", check.before,
        duration(device::median_interval(timing.contenders[2].cold).median), duration(counted));
  conclude(result, work.bytes, line, std::move(story));
}

}  // namespace lab32::labs
