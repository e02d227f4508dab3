#include "labs/reduction/counts.h"

#include <fmt/core.h>

#include <algorithm>

#include "grading/engine/check.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"

namespace lab32::checks::reduction {
namespace {

struct CounterWords {
  const char *key, *least;  // keys of the rubric
  const char *one, *many, *per;
};

CounterWords counter_words(Counter counter) {
  switch (counter) {
    case Counter::accesses:
      return {"accesses", "least_accesses", "access", "accesses", "block"};
    case Counter::wavefronts:
      return {"wavefronts", "least_wavefronts", "wavefront", "wavefronts", "block"};
    case Counter::idle_lanes:
      return {"idle_lanes", "least_idle_lanes", "idle lane", "idle lanes", "element"};
    case Counter::barriers:
      return {"barriers", "least_barriers", "barrier", "barriers", "block"};
    default:
      return {"instructions", "least_instructions", "instruction", "instructions", "element"};
  }
}

// A whole number is written without a decimal point. Any other value has two decimals, or as many,
// up to nine, as show that it differs from `other`, the number beside it in the report.
std::string short_number(double value, double other) {
  if (value == static_cast<double>(static_cast<uint64_t>(value)))
    return fmt::format("{:.0f}", value);
  int digits = 2;
  while (value != other && digits < 9 &&
         fmt::format("{:.{}f}", value, digits) == fmt::format("{:.{}f}", other, digits))
    ++digits;
  return fmt::format("{:.{}f}", value, digits);
}

std::string count_text(const std::string& number, const CounterWords& words) {
  return number + " " + (number == "1" ? words.one : words.many);
}

// For the table: "74 wavefronts", "29 per block".
void show_counts(Check& check, double got, double limit, const CounterWords& words) {
  check.measured(count_text(short_number(got, limit), words));
  check.expected(short_number(limit, got) + " per " + words.per);
}

uint64_t idle_of(const counters::SharedTraffic& t) { return 32 * t.requests - t.lanes; }

// The line of the student's file on which `of` is largest; nullptr if it is 0 on all lines.
const counters::LineCounters* line_with_largest_count(Check& check, const device::LaunchResult& run,
                                                      uint64_t (*of)(const counters::Counters&)) {
  const counters::LineCounters* found = nullptr;
  for (const counters::LineCounters& line : run.lines)
    if (line.file == check.session.source.display() && line.line > 0 && of(line.counters) > 0 &&
        (!found || of(line.counters) > of(found->counters)))
      found = &line;
  return found;
}

}  // namespace

const char* key_of(Counter counter) { return counter_words(counter).key; }

NormalisedReductionCounts::NormalisedReductionCounts(Check& check, const device::LaunchResult& run,
                                                     uint64_t blocks, uint64_t elements)
    : NormalisedReductionCounts(counters_of(check, run), static_cast<double>(blocks),
                                static_cast<double>(elements)) {}

NormalisedReductionCounts::NormalisedReductionCounts(const counters::Counters& c, double blocks,
                                                     double elements) {
  double requests = 0, active = 0;
  for (const counters::SharedTraffic& t : {c.shared_load, c.shared_store, c.shared_atom}) {
    requests += static_cast<double>(t.requests);
    active += static_cast<double>(t.lanes);
  }
  accesses = requests / blocks;
  wavefronts = static_cast<double>(c.shared_wavefronts()) / blocks;
  barriers = static_cast<double>(c.block_barriers) / blocks;
  lanes = requests > 0 ? active / requests : 0;
  idle_lanes = (32 * requests - active) / elements;
  instructions = 32 * static_cast<double>(c.warp_instructions) / elements;
}

LaunchCounterVerdict::LaunchCounterVerdict(Check& check, const device::LaunchResult& run,
                                           uint32_t block, uint64_t blocks, uint64_t elements)
    : check_(check),
      run_(run),
      block_(block),
      blocks_(blocks),
      counts_(check, run, blocks, elements) {}

void LaunchCounterVerdict::record_figures() const {
  check_.figure("accesses", counts_.accesses);
  check_.figure("lanes", counts_.lanes);
  check_.figure("wavefronts", counts_.wavefronts);
  check_.figure("idle_lanes", counts_.idle_lanes);
  check_.figure("barriers", counts_.barriers);
  check_.figure("instructions", counts_.instructions);
}

double LaunchCounterVerdict::counter_value(const NormalisedReductionCounts& counts,
                                           Counter counter) {
  switch (counter) {
    case Counter::accesses:
      return counts.accesses;
    case Counter::wavefronts:
      return counts.wavefronts;
    case Counter::idle_lanes:
      return counts.idle_lanes;
    case Counter::barriers:
      return counts.barriers;
    default:
      return counts.instructions;
  }
}

void LaunchCounterVerdict::explain_excess(Counter counter) const {
  const counters::LineCounters* line = nullptr;
  if (counter == Counter::accesses || counter == Counter::idle_lanes) {
    line = line_with_largest_count(check_, run_, [](const counters::Counters& c) {
      return idle_of(c.shared_load) + idle_of(c.shared_store) + idle_of(c.shared_atom);
    });
    if (!line) return;
    const counters::Counters& c = line->counters;
    const uint64_t requests = c.shared_requests();
    const uint64_t lanes = c.shared_load.lanes + c.shared_store.lanes + c.shared_atom.lanes;
    check_.explain(
        line->line,
        fmt::format("The warps of a block of {} threads access shared memory {} times here, "
                    "with {:.1f} of 32 lanes active on average.",
                    block_, requests / blocks_,
                    static_cast<double>(lanes) / static_cast<double>(requests)));
  } else if (counter == Counter::wavefronts) {
    const ExplainedLine waste = line_of_most_excess_wavefronts(check_, run_);
    check_.explain(waste.line,
                   waste.line > 0
                       ? waste.message
                       : "No access has a bank conflict, but there are more accesses than the step "
                         "needs.");
  } else if (counter == Counter::barriers) {
    check_.explain(
        0, fmt::format("All {} threads of a block wait at {}.", block_,
                       count_text(short_number(counts_.barriers, 0), counter_words(counter))));
  } else if (counter == Counter::instructions) {
    line = line_with_largest_count(check_, run_,
                                   [](const counters::Counters& c) { return c.warp_instructions; });
    if (!line) return;
    check_.explain(line->line,
                   fmt::format("{:.0f} % of the instructions are on this line.",
                               100 * static_cast<double>(line->counters.warp_instructions) /
                                   static_cast<double>(run_.counters->warp_instructions)));
  }
}

void LaunchCounterVerdict::credit_counter_against_limit(Counter counter, double limit,
                                                        const std::string& idea) {
  const CounterWords words = counter_words(counter);
  const double got = reached(counter);
  show_counts(check_, got, limit, words);
  check_.figure(std::string("ideal_") + words.key, limit);
  reduce_points_for_idle_threads(check_, run_);
  check_.limit_credit_to_share(limit, got);
  if (got <= limit) return;
  explain_excess(counter);
  check_.explain(0, idea);
}

void LaunchCounterVerdict::credit_working_lanes(
    const std::optional<NormalisedReductionCounts>& needed) const {
  const NormalisedReductionCounts& counts = needed ? *needed : counts_;
  const double share = counts.lanes / 32, least = check_.row.required_number("min_access_share");
  if (counts.accesses == 0 || share >= least) return;
  CheckFailureReason failure{CheckFailureReason::Kind::wasteful};
  failure.measured = share;
  failure.expected = least;
  check_.credit_share(share / least, failure);
  check_.explain(0, fmt::format("The accesses on which the sum depends have {:.1f} of 32 lanes "
                                "active on average. What the other lanes do changes nothing, so it "
                                "does not count as work.",
                                counts.lanes));
}

void LaunchCounterVerdict::limit_credit_by_earlier_counter(Counter counter, double limit) {
  const CounterWords words = counter_words(counter);
  const double got = reached(counter);
  const double of_own_idea = check_.verdict.credit;
  check_.limit_credit_to_share(limit, got);
  // A kernel that lacks the idea of its own step, such as the skeleton's, gets a message about that
  // idea only.
  if (got <= limit || of_own_idea < 0.5) return;
  check_.explain(0, fmt::format("An earlier step needs only {} per {}; here there {} {}.",
                                count_text(short_number(limit, got), words), words.per,
                                got == 1 ? "is" : "are", short_number(got, limit)));
  if (of_own_idea < 1) return;
  // A count that has lost points is shown in the table already.
  show_counts(check_, got, limit, words);
  explain_excess(counter);
}

double LaunchCounterVerdict::credit_share_for_limit(Counter counter, double limit) const {
  const double got = reached(counter);
  return got > limit ? limit / got : 1;
}

void LaunchCounterVerdict::limit_credit_to_other_launch(Counter counter, double limit,
                                                        const std::string& published,
                                                        const std::string& here) {
  const CounterWords words = counter_words(counter);
  const double got = reached(counter), before = check_.verdict.credit;
  check_.limit_credit_to_share(limit, got);
  if (check_.verdict.credit == before) return;
  const std::string there = fmt::format(
      "{} there {} {} per {}, where the same idea needs {}.", here, got == 1 ? "is" : "are",
      count_text(short_number(got, limit), words), words.per, short_number(limit, got));
  if (before < 1) {
    check_.explain(0, "It loses more points elsewhere: " + there);
    return;
  }
  show_counts(check_, got, limit, words);
  explain_excess(counter);
  check_.explain(0, fmt::format("The counts are right {}, but {}", published, there));
}

void LaunchCounterVerdict::require_no_later_step(
    Counter counter, const std::string& later,
    const std::function<std::optional<NormalisedReductionCounts>(Counter counter)>& needed) {
  const CounterWords words = counter_words(counter);
  const double least = check_.row.required_number(words.least);
  double got = reached(counter);
  std::string what = "it has";
  if (got >= least) {
    const std::optional<NormalisedReductionCounts> without = needed(counter);
    if (!without || counter_value(*without, counter) >= least) return;
    got = counter_value(*without, counter);
    what = fmt::format(
        "some of its {} change nothing, neither the sum nor the order of accesses "
        "that it depends on, and without these it has",
        words.many);
  }
  check_.measured("another step");
  check_.expected("this one");
  CheckFailureReason failure{CheckFailureReason::Kind::other_version};
  failure.detail = words.key;
  failure.measured = got;
  failure.expected = least;
  check_.fail_and_throw(
      failure, 0,
      fmt::format("The sum is right, but this is another step: {} {}, where this step's "
                  "kernel has at least {} per {}. {}",
                  what, count_text(short_number(got, least), words), short_number(least, got),
                  words.per, later));
}

}  // namespace lab32::checks::reduction
