#include "labs/speed.h"

#include <fmt/core.h>

#include "base/error.h"
#include "labs/describe.h"
#include "labs/launch.h"
#include "labs/memory.h"
#include "labs/progress.h"
#include "labs/race.h"
#include "labs/session.h"
#include "labs/verdict.h"

namespace lab32::labs {
namespace {

constexpr const char* kNoCard = "Time is measured on a GPU, and there is none here.";
constexpr size_t kSets = 3;  // inputs taken in turn

// An array on the session's device, whatever its elements are.
class Bytes : public Memory {
 public:
  explicit Bytes(const device::TimedArray& array) : Memory(array.name, 1, array.bytes) {
    if (!array.sets.empty()) upload(array.sets.front().data());
  }
  void fill(uint8_t value) { upload(std::vector<uint8_t>(count(), value).data()); }
};

// Where there is no card: what the model says the launches take.
[[noreturn]] void predict(uint32_t n, const TimedWork& work) {
  Session& s = session();
  std::vector<std::unique_ptr<Bytes>> arrays;
  for (const device::TimedArray& array : work.arrays)
    arrays.push_back(std::make_unique<Bytes>(array));
  double seconds = 0, error = 0;
  std::string bottleneck;
  bool known = true;
  for (const device::TimedStep& step : work.steps(s.module, s.device.multiprocessors())) {
    if (const device::Fill* fill = std::get_if<device::Fill>(&step)) {
      arrays.at(fill->array.index)->fill(fill->value);
      continue;
    }
    const auto& launch = std::get<device::TimedLaunch>(step);
    Launch what{launch.kernel, launch.shape, {}, fmt::format("n = {}", n)};
    for (const device::TimedArg& arg : launch.args) {
      if (const device::ArrayIndex* at = std::get_if<device::ArrayIndex>(&arg))
        what.args.push_back(*arrays.at(at->index));
      else
        what.args.push_back(std::get<device::Arg>(arg));
    }
    // What the first launch has left in L2, the next one finds there.
    what.model =
        seconds > 0 ? device::LaunchOptions::Model::warm : device::LaunchOptions::Model::cold;
    const device::Run ran = run(what);
    known = known && ran.predicted;
    if (!ran.predicted) continue;
    // The words of the longest launch.
    if (ran.predicted->seconds > seconds) bottleneck = ran.predicted->bottleneck;
    seconds += ran.predicted->seconds;
    error = std::max(error, ran.predicted->error);
  }
  measured("");
  std::string reason = kNoCard;
  if (known) {
    measured(duration(seconds) + " modelled");
    figure("modelled_seconds", seconds);
    reason += fmt::format(" For n = {}, {} (modelled, give or take {:.0f} %) on {}", grouped(n),
                          duration(seconds), 100 * error, s.device.name());
    reason += bottleneck.empty() ? "." : ", " + bottleneck + ".";
  }
  not_run(reason);
}

device::TimingPlan plan_of(const TimedWork& work, const device::Module* reference,
                           device::Yardstick yardstick) {
  Session& s = session();
  const uint32_t multiprocessors = s.time.stopwatch->multiprocessors();
  device::TimingPlan plan;
  plan.arrays = work.arrays;
  plan.copy_bytes = work.bytes;
  plan.yardstick = yardstick;
  plan.contenders.push_back(
      {"your kernel", s.time.submission, work.steps(s.module, multiprocessors)});
  if (reference)
    plan.contenders.push_back(
        {"reference solution", s.time.reference,
         work.steps(const_cast<device::Module&>(*reference), multiprocessors)});
  return plan;
}

void verify(const device::Timing& timing, const TimedWork& work, int line) {
  for (const device::TimedOutput& output : timing.outputs) {
    const std::string wrong = work.mismatch(output.set, output.arrays);
    if (wrong.empty()) continue;
    measured("wrong when timed");
    lose(line,
         "A timed launch gave a wrong result (the inputs change from launch to launch): " + wrong);
  }
}

std::string comparison(const device::Timing& timing, const device::Samples& other) {
  const device::Interval ratio =
      device::median_interval(device::ratios(timing.contenders.front().cold, other.cold));
  return fmt::format("{}: {} (yours is {:.3f} times that, {:.3f} ... {:.3f})", other.name,
                     duration(device::median_interval(other.cold).median), ratio.median, ratio.low,
                     ratio.high);
}

}  // namespace

TimedWork from_in_to_out(const std::vector<std::vector<float>>& inputs) {
  TimedWork work;
  device::TimedArray in{"in", inputs.at(0).size() * sizeof(float), {}};
  for (const std::vector<float>& input : inputs) in.sets.push_back(bytes_of(input));
  work.bytes = 2 * in.bytes;
  const device::TimedArray out{"out", in.bytes, {}};
  work.arrays = {std::move(in), out};
  return work;
}

std::vector<std::vector<float>> random_inputs(size_t sets, size_t count) {
  Random random = session().random();
  std::vector<std::vector<float>> inputs;
  for (size_t s = 0; s < sets; ++s) inputs.push_back(random.floats(count));
  return inputs;
}

void credit_speed(const Rule& rule, const SpeedCheck& check) {
  Session& s = session();
  const double limit = rule.number("fraction");
  wanted(fmt::format("{:.2f} of a copy", limit));
  const int line = s.source.find(check.kernel);
  if (!s.time.stopwatch) {
    if (!s.passed[check.after]) not_run(kNoCard);
    const uint32_t n = rule.count("n_modelled");
    predict(n, check.make(n, 1));
  }

  rule.after(check.after);
  const uint32_t n = rule.count("n");
  const TimedWork work = check.make(n, kSets);
  std::unique_ptr<device::Module> reference;
  if (s.time.reference) reference = s.device.load(*s.time.reference);
  device::Timed timed;
  {
    const Progress::Step step(s.progress, "timing " + check.kernel);
    timed = s.time.stopwatch->time(plan_of(work, reference.get(), check.yardstick));
  }
  if (timed.fault) {
    measured(timed.fault->kind);
    lose(line, "On the GPU: " + timed.fault->message);
  }
  const device::Timing& timing = *timed.timing;
  verify(timing, work, line);

  const Race race = judge(timing, work.bytes, limit);
  measured(fmt::format("{:.2f}, {}", race.fraction.median, duration(race.seconds.median)));
  figure("seconds", race.seconds.median);
  figure("seconds_low", race.seconds.low);
  figure("seconds_high", race.seconds.high);
  figure("warm_seconds", race.warm.median);
  figure("copy_seconds", device::median_interval(timing.copy.cold).median);
  figure("fraction", race.fraction.median);
  figure("fraction_low", race.fraction.low);
  figure("fraction_high", race.fraction.high);
  if (timing.yardstick)
    figure("yardstick_seconds", device::median_interval(timing.yardstick->cold).median);
  figure("rounds", static_cast<double>(timing.copy.cold.size()));
  credit(race.credit, 1);

  const double bytes = static_cast<double>(work.bytes);
  std::string story = fmt::format(
      "measured on {}: {} cold ({} ... {}), {} warm, {:.0f} GB/s; {:.3f} of a copy's bandwidth "
      "({:.3f} ... {:.3f}, {} rounds).",
      s.time.stopwatch->name(), duration(race.seconds.median), duration(race.seconds.low),
      duration(race.seconds.high), duration(race.warm.median), bytes / race.seconds.median / 1e9,
      race.fraction.median, race.fraction.low, race.fraction.high, timing.copy.cold.size());
  for (size_t i = 1; i < timing.contenders.size(); ++i)
    story += "\n" + comparison(timing, timing.contenders[i]);
  if (timing.yardstick) story += "\n" + comparison(timing, *timing.yardstick);
  if (!race.note.empty()) story += "\n" + race.note;
  switch (race.verdict) {
    case Race::Verdict::impossible:
      measured("impossible");
      lose(line,
           fmt::format("Physically impossible: {} for {:.0f} MB that memory needs {} for at its "
                       "peak. Is all of the input read?\n",
                       duration(race.seconds.median), bytes / 1e6, duration(race.floor_seconds)) +
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

}  // namespace lab32::labs
