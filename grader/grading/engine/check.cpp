#include "grading/engine/check.h"

#include <algorithm>

#include "base/grid.h"
#include "grading/words/words.h"

namespace lab32::grading {
namespace {

// The verdict keeps the failure that has cost the largest part of the points.
void record_failure_of_worst_share(CheckVerdict& verdict, double share,
                                   const CheckFailureReason& failure) {
  verdict.has_share = true;
  if (share >= verdict.worst_share) return;
  verdict.worst_share = share;
  verdict.failure = failure;
}

// The share of the points. A kernel that needs no traffic and causes none gets all of them,
// although ideal / reached would be 0 / 0.
double share_of(double ideal, double reached) { return reached > ideal ? ideal / reached : 1; }

CheckFailureReason wasteful_failure(double ideal, double reached) {
  CheckFailureReason failure{CheckFailureReason::Kind::wasteful};
  failure.measured = reached;
  failure.expected = ideal;
  return failure;
}

}  // namespace

Check::Check(GradingSession& of_lab, const RubricCheckEntry& of_check)
    : session(of_lab),
      row(of_check),
      trial(seed_of_stream(of_lab.setup.seed, of_check.check + ", other order")) {}

bool Check::has_passed(const std::string& check) const {
  return std::any_of(session.passed.begin(), session.passed.end(),
                     [&](const RubricCheckEntry* passed) { return passed->check == check; });
}

const RubricCheckEntry* Check::first_unpassed_prerequisite() const {
  for (size_t i : row.after)
    if (const RubricCheckEntry* other = &session.rubric.rows()[i]; session.passed.count(other) == 0)
      return other;
  return nullptr;
}

void Check::require_prerequisites() {
  const RubricCheckEntry* open = first_unpassed_prerequisite();
  if (!open) return;
  measured("not counted");
  CheckFailureReason failure{CheckFailureReason::Kind::prerequisite};
  failure.subject = open->check;
  // The result of a check with credit "share" may be right already, with too many points lost for
  // its successors.
  failure.detail =
      open->credit == Credit::all ? "the result is right" : "nearly all points are reached";
  fail_and_throw(failure);
}

void Check::explain(int line, const std::string& message) {
  if (!verdict.message.empty()) verdict.message += "\n";
  if (line > 0) {
    if (verdict.line == 0) verdict.line = line;
    verdict.message += session.source.location_and_source_line(line) + "\n";
  }
  verdict.message += message;
}

void Check::credit(double ideal, double reached) {
  credit_share(share_of(ideal, reached), wasteful_failure(ideal, reached));
}

void Check::limit_credit_to_share(double ideal, double reached) {
  const double share = share_of(ideal, reached);
  verdict.credit = std::min(verdict.credit, share);
  record_failure_of_worst_share(verdict, share, wasteful_failure(ideal, reached));
}

void Check::credit_share(double share, const CheckFailureReason& failure) {
  verdict.credit *= std::min(share, 1.0);
  record_failure_of_worst_share(verdict, share, failure);
}

void Check::withhold_count(const std::string& question) {
  const std::string name = question.substr(0, question.find(' '));
  measured("too many: see " + name);
  verdict.withheld = question;
  session.counts_withheld = true;
}

void Check::mark_as_failed(const CheckFailureReason& failure) {
  verdict.lost = true;
  verdict.failure = failure;
}

void Check::fail_and_throw(const CheckFailureReason& failure, int line,
                           const std::string& message) {
  mark_as_failed(failure);
  explain(line, message);
  throw TestOver{};
}

void Check::fail_and_throw(const CheckFailureReason& failure, int line) {
  fail_and_throw(failure, line, words(failure));
}

void Check::fail_and_throw(int line, const std::string& message) {
  fail_and_throw(CheckFailureReason{}, line, message);
}

void Check::not_run(const NotRunReason& reason) {
  verdict.not_run = reason;
  verdict.message = words(reason);
  throw TestOver{};
}

// ---- launches in another order ----

void ScheduleTrial::prepare_launch_options(const device::LaunchShape& shape, bool trial,
                                           device::LaunchOptions& options) {
  ++launches_;
  wants_trial_ = false;
  if (repeating_) {
    if (launches_ != differing_launch_) return;
    options.schedule = differing_seed_;
    options.loads = differing_loads_;
    // The race check repeats a launch and expects its loads to return the same values each time.
    // Loads that may return older values do not, so the race check is off.
    if (options.loads != Loads::newest) options.check_hazards = false;
    return;
  }
  if (!trial || differs()) return;
  // Try the first launch of several blocks and, before there is one, the first of several warps.
  const bool blocks = shape.grid.count() > 1, warps = shape.block.count() > kWarpSize;
  wants_trial_ = (blocks && !tried_blocks_) || (warps && !tried_blocks_ && !tried_warps_);
  tried_blocks_ |= blocks;
  tried_warps_ |= warps;
}

void ScheduleTrial::rerun_in_random_order(device::Device& device, device::Kernel& kernel,
                                          const device::LaunchShape& shape,
                                          const std::vector<device::KernelArgument>& args,
                                          device::SavedMemory& before,
                                          device::LaunchOptions options) {
  const std::unique_ptr<device::SavedMemory> after = device.save();
  options.count = options.check_hazards = false;
  std::vector<counters::Finding> stale;  // of the last run
  const auto gives_other_output = [&](uint64_t seed, Loads loads) {
    before.put_back();
    options.schedule = seed;
    options.loads = loads;
    device::LaunchResult run = device.launch(kernel, shape, args, options);
    stale = std::move(run.stale);
    // A launch in random order runs a few instructions of each warp in turn and takes longer, so
    // reaching a limit does not count as a difference.
    return !(run.fault && exceeds_launch_limit(*run.fault)) && (run.fault || !after->same());
  };
  const auto try_loads = [&](uint64_t seed, Loads loads) {
    if (!gives_other_output(seed, loads)) return false;
    differing_launch_ = launches_;
    differing_seed_ = seed;
    if (stale.empty()) return true;
    counters::Finding first = std::move(stale.front());
    // If the output differs with the newest values, too, the order alone is the reason. That is not
    // tried after an update in two steps, a load and a store: most orders lose such updates.
    if (!first.update && gives_other_output(seed, Loads::newest)) return true;
    differing_loads_ = loads;
    stale_ = std::move(first);
    return true;
  };
  if (!try_loads(seed_, Loads::oldest) && !stale.empty()) try_loads(seed_ + 1, Loads::any);
  after->put_back();
}

std::string ScheduleTrial::explanation() const {
  if (stale_) return describe(*stale_);
  return "The result is right when blocks and warps run one after the other, and "
         "wrong when they run in a random order, as they may on a GPU. Which work "
         "of another block or warp does a thread here rely on, without waiting "
         "for it?";
}

}  // namespace lab32::grading
