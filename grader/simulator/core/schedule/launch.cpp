#include "simulator/core/schedule/launch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "simulator/core/isa/device_calls.h"
#include "simulator/core/schedule/block_group.h"
#include "simulator/core/schedule/independent_blocks.h"
#include "simulator/core/schedule/thread_pool.h"

namespace lab32::sim {
namespace {

// Host threads take chunks of neighbouring blocks: large enough that taking one costs nothing,
// small enough that all cores finish at about the same time, even when a round ends early.
uint64_t blocks_per_chunk(uint64_t blocks, unsigned threads, const Dim3& block) {
  constexpr uint64_t kThreads = 8192;
  const uint64_t most = std::clamp<uint64_t>(kThreads / block.count(), 8, 256);
  return std::clamp<uint64_t>(blocks / (uint64_t{threads} * 16), 1, most);
}

// Blocks per host thread in the first round with tracking by word. Kernels whose blocks share words
// nearly always show it by then.
constexpr uint64_t kTrial = 64;

// For each kernel, the allocations in which every block read and wrote only its own words in an
// earlier launch. The next launch tracks these by word from the beginning and so avoids the first
// attempt, which would fail. The guard checks such a launch like any other.
class WordTrackingHistory {
 public:
  static WordTrackingHistory& process_wide() {
    static auto* const known = new WordTrackingHistory;
    return *known;
  }
  std::vector<uint32_t> word_tracked_allocations_of(const KernelProgram* program) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = allocations_.find(program);
    return known == allocations_.end() ? std::vector<uint32_t>{} : known->second;
  }
  void set_word_tracked_allocations(const KernelProgram* program,
                                    std::vector<uint32_t> allocations) {
    constexpr size_t kMost = 1024;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (allocations.empty()) {
      allocations_.erase(program);
      return;
    }
    if (allocations_.size() >= kMost) allocations_.clear();
    allocations_[program] = std::move(allocations);
  }

 private:
  std::mutex mutex_;
  std::map<const KernelProgram*, std::vector<uint32_t>> allocations_;
};

// A round (order_guard.h) of blocks from `first` on, shared by the host threads.
struct ParallelBlockRound {
  ParallelBlockRound(uint64_t first, uint64_t last, bool whole)
      : limit(last), end(last), to_the_end(whole), next(first) {}
  std::atomic<bool> order_matters{false};
  // Blocks from here on need not run, because a lower block trapped.
  std::atomic<uint64_t> limit;
  const uint64_t end;
  const bool to_the_end;  // the round must run all its blocks
  // This counter has cache lines of its own, because the threads read the other members before each
  // block.
  alignas(128) std::atomic<uint64_t> next;
};

// Runs blocks of the round on this thread until none is left. `guard` is null if the blocks are
// proven independent.
void run_blocks(const LaunchContext& launch, WorkerResult& result, ParallelBlockRound& round,
                SerialEquivalenceRollback* guard, unsigned worker, uint64_t chunk) {
  Block block(launch, result.own_observers(), guard != nullptr ? &guard->worker(worker) : nullptr);
  try {
    while (!round.order_matters && (round.to_the_end || !guard->is_undo_log_full())) {
      const uint64_t first = round.next.fetch_add(chunk);
      if (first >= round.end) break;
      for (uint64_t index = first; index < std::min(first + chunk, round.end); ++index) {
        if (round.order_matters || index >= round.limit) break;
        block.begin(index);
        // The block may be waiting for a later block or one on another thread. Independent blocks
        // never wait for each other.
        while (block.run_until_done_or_polling() == Block::State::polls)
          if (guard != nullptr) throw OrderMatters{};
        result.save_printf_output(block);
      }
    }
    if (!round.order_matters) block.flush_meter();
  } catch (const OrderMatters&) {
    round.order_matters = true;
  } catch (Trap& trap) {
    const uint64_t trapped = trap.block = block.info().index;
    uint64_t limit = round.limit;
    while (trapped < limit && !round.limit.compare_exchange_weak(limit, trapped)) {
    }
    result.save_printf_output(block);
    result.trap = std::move(trap);
  }
  result.take_results(block);
}

void run_worker(const LaunchContext& launch, WorkerResult& result, ParallelBlockRound& round,
                SerialEquivalenceRollback* guard, unsigned worker, uint64_t chunk) {
  try {
    run_blocks(launch, result, round, guard, worker, chunk);
  } catch (...) {
    result.error = std::current_exception();
    round.order_matters = true;  // stops the other threads
  }
}

// Runs a round on all threads.
std::vector<WorkerResult> run_round(const LaunchContext& launch,
                                    const std::vector<Observer*>& observers, unsigned threads,
                                    ParallelBlockRound& round, SerialEquivalenceRollback* guard) {
  std::vector<WorkerResult> results;
  for (unsigned i = 0; i < threads; ++i) results.emplace_back(observers);
  const uint64_t chunk = blocks_per_chunk(round.end - round.next, threads, launch.block);
  run_side_by_side(threads,
                   [&](unsigned i) { run_worker(launch, results[i], round, guard, i, chunk); });
  for (const WorkerResult& result : results)
    if (result.error) std::rethrow_exception(result.error);
  return results;
}

std::vector<WorkerResult*> pointers_to(std::vector<WorkerResult>& results) {
  std::vector<WorkerResult*> all;
  for (WorkerResult& result : results) all.push_back(&result);
  return all;
}

void copy_issued_by_warp(const InstructionsIssuedByEachWarp& tally, std::vector<uint32_t>& warps) {
  if (tally.blocks.empty()) return;
  const size_t each = tally.issued.size() / tally.blocks.size();
  for (size_t i = 0; i < tally.blocks.size(); ++i) {
    const size_t at = tally.blocks[i] * each;
    if (warps.size() < at + each) warps.resize(at + each);
    std::copy_n(tally.issued.begin() + static_cast<std::ptrdiff_t>(i * each), each,
                warps.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

// Adds the results of a round to the outcome of earlier rounds, in which no block trapped.
void collect_results(const std::vector<Observer*>& observers,
                     const std::vector<WorkerResult*>& results, LaunchOutcome& outcome) {
  std::map<uint64_t, std::string> output;
  for (const WorkerResult* result : results) copy_issued_by_warp(result->warps, outcome.warps);
  const auto earlier = [](const auto& a, const auto& b) {
    return a && (!b || a->block < b->block);
  };
  for (WorkerResult* result : results) {
    for (size_t i = 0; i < observers.size(); ++i) observers[i]->merge(*result->observers[i]);
    for (size_t s = 0; s < result->tally.size(); ++s) {
      outcome.tally[s].warps += result->tally[s].warps;
      outcome.tally[s].lanes += result->tally[s].lanes;
      outcome.tally[s].splits += result->tally[s].splits;
      outcome.tally[s].peer += result->tally[s].peer;
    }
    output.merge(result->output);
    outcome.longest_warp = std::max(outcome.longest_warp, result->longest_warp);
    outcome.busiest_warp = std::max(outcome.busiest_warp, result->busiest_warp);
    outcome.longest_wait = std::max(outcome.longest_wait, result->longest_wait);
    if (earlier(result->trap, outcome.trap)) outcome.trap = result->trap;
    if (earlier(result->bad_access, outcome.bad_access)) outcome.bad_access = result->bad_access;
    if (earlier(result->uninitialised, outcome.uninitialised))
      outcome.uninitialised = result->uninitialised;
    if (earlier(result->out_of_range_shift_or_shuffle, outcome.out_of_range_shift_or_shuffle))
      outcome.out_of_range_shift_or_shuffle = result->out_of_range_shift_or_shuffle;
  }
  for (const auto& [block, text] : output) {
    if (outcome.trap && block > outcome.trap->block) break;
    const size_t space = kOutputLimit - outcome.output.size();
    outcome.output += text.substr(0, space);
    outcome.output_lost |= text.size() > space;
  }
}

// Sets the site of a launch that reached a limit to the first instruction of its longest loop,
// where it spent its time.
void set_limit_site_to_longest_loop(LaunchOutcome& outcome) {
  if (!outcome.trap || (outcome.trap->reason != TrapReason::launch_limit &&
                        outcome.trap->reason != TrapReason::launch_seconds))
    return;
  uint64_t most = 0;
  for (const StaticInstructionIssueCounts& t : outcome.tally) most = std::max(most, t.warps);
  for (size_t s = 0; s < outcome.tally.size(); ++s) {
    if (2 * outcome.tally[s].warps < most) continue;
    outcome.trap->site = static_cast<uint32_t>(s);
    return;
  }
}

void rewind_meter(const LaunchContext& launch, uint64_t issued = 0) {
  if (launch.meter != nullptr) launch.meter->go_back(issued);
}

bool any_observer_wants(const std::vector<Observer*>& observers, bool (Observer::*what)() const) {
  return std::any_of(observers.begin(), observers.end(),
                     [&](const Observer* o) { return (o->*what)(); });
}

// Runs blocks on several host threads until all have run, one has trapped, or their order matters.
// Returns the number of committed blocks; with race detection it is all or none.
uint64_t run_and_commit_blocks_in_parallel(const LaunchContext& launch,
                                           const std::vector<Observer*>& observers,
                                           unsigned threads, LaunchOutcome& outcome) {
  const uint64_t blocks = launch.grid.count();
  const bool races = any_observer_wants(observers, &Observer::wants_order);
  const bool whole = any_observer_wants(observers, &Observer::wants_whole_launch);
  SerialEquivalenceRollback guard(*launch.memory, threads, SerialEquivalenceRollback::Mode::at_once,
                                  races);
  std::vector<std::vector<WorkerResult>> rounds;  // not yet committed
  const auto commit = [&] {
    guard.commit();
    for (std::vector<WorkerResult>& round : rounds)
      collect_results(observers, pointers_to(round), outcome);
    rounds.clear();
  };
  uint64_t first = 0, trial = threads * kTrial;
  if (!whole)
    guard.track_by_word(
        WordTrackingHistory::process_wide().word_tracked_allocations_of(launch.program));
  if (guard.by_word()) trial = blocks;
  bool trapped = false;
  while (first < blocks && !trapped) {
    const uint64_t issued = launch.meter != nullptr ? launch.meter->issued() : 0;
    const uint64_t most = guard.by_word() ? std::min(blocks - first, trial) : blocks - first;
    ParallelBlockRound round(first, first + most, whole);
    std::vector<WorkerResult> results = run_round(launch, observers, threads, round, &guard);
    if (round.order_matters || !guard.validate_round()) {
      rewind_meter(launch, issued);
      if (races) {
        rounds.clear();
        first = 0;
        rewind_meter(launch);
      }
      trial = threads * kTrial;
      if (guard.rollback() && !whole) continue;
      WordTrackingHistory::process_wide().set_word_tracked_allocations(launch.program, {});
      return first;
    }
    for (const WorkerResult& result : results) trapped |= result.trap.has_value();
    rounds.push_back(std::move(results));
    if (!races) commit();
    first = std::min(round.next.load(), round.end);
    trial = std::min(trial * 4, blocks);
  }
  commit();
  if (!trapped)
    WordTrackingHistory::process_wide().set_word_tracked_allocations(
        launch.program, guard.allocations_tracked_by_word());
  return first;
}

// Runs independent blocks on several host threads, without a guard.
uint64_t run_independent_blocks(LaunchContext launch, const std::vector<Observer*>& observers,
                                unsigned threads, const ByteRanges& written,
                                LaunchOutcome& outcome) {
  launch.independent_blocks = true;
  // The allocations are marked before the run, because several threads would mark them
  // concurrently.
  for (const auto& a : launch.memory->allocations())
    for (const auto& [begin, end] : written)
      if (a->begin < end && begin < a->end) a->pristine = false;
  ParallelBlockRound round(0, launch.grid.count(), true);
  std::vector<WorkerResult> results = run_round(launch, observers, threads, round, nullptr);
  collect_results(observers, pointers_to(results), outcome);
  return round.end;
}

// The first block to reach a lock or flag determines which accesses are ordered, so a race may be
// visible in only one order. The observers of order therefore also see a run in reverse order. The
// results of that run are discarded. It may not end: blocks that wait for lower ones can wait for
// ever if the device does not hold all blocks.
void rerun_blocks_in_reverse(LaunchContext launch, const std::vector<Observer*>& observers,
                             SerialEquivalenceRollback& guard, const PossibleRaceDetector& suspects,
                             uint64_t issued_in_order) {
  std::vector<Observer*> of_order;
  for (Observer* o : observers)
    if (o->wants_order()) of_order.push_back(o);
  launch.reversed = true;
  const auto attempt = [&] {
    rewind_meter(launch);
    for (Observer* o : of_order) o->begin_ordered_run();
    ResidentBlockScheduler residents(launch, of_order, &guard.worker(0), &suspects);
    try {
      residents.run(0, 4 * issued_in_order + 1'000'000);
    } catch (const OrderMatters&) {
      // Threads use an allocation in two ways, perhaps in this order only. The caller tracks it by
      // word and runs the launch again.
      return false;
    } catch (const HeapTouched&) {
      return true;  // only in the reverse order
    }
    return true;
  };
  while (!attempt()) guard.rollback();
  guard.rollback();
}

void run_without_order_guard(const LaunchContext& launch, const std::vector<Observer*>& observers,
                             uint64_t first, LaunchOutcome& outcome) {
  rewind_meter(launch);
  ResidentBlockScheduler residents(launch, observers);
  residents.run(first);
  collect_results(observers, residents.results(), outcome);
}

// Runs all blocks on one host thread. If words are suspect, runs them twice more and reports the
// accesses to these words in their order.
void run_in_order(const LaunchContext& launch, const std::vector<Observer*>& observers,
                  LaunchOutcome& outcome) {
  SerialEquivalenceRollback guard(*launch.memory, 1, SerialEquivalenceRollback::Mode::in_order,
                                  true);
  uint64_t issued = 0;
  const auto attempt = [&] {
    rewind_meter(launch);
    ResidentBlockScheduler residents(launch, observers, &guard.worker(0));
    try {
      residents.run();
      issued = residents.issued();
    } catch (const HeapTouched&) {
      outcome.grid_races_unchecked = true;
      return true;
    } catch (const OrderMatters&) {
      return false;  // an allocation is used in two ways, so it must be tracked by word
    }
    if (guard.has_suspect_words()) return true;
    guard.commit();
    collect_results(observers, residents.results(), outcome);
    return true;
  };
  while (!attempt()) guard.rollback();
  if (outcome.grid_races_unchecked) {
    guard.rollback();
    return run_without_order_guard(launch, observers, 0, outcome);
  }
  if (const std::unique_ptr<PossibleRaceDetector> suspects = guard.take_suspect_words()) {
    guard.rollback();
    if (!launch.schedule) rerun_blocks_in_reverse(launch, observers, guard, *suspects, issued);
    for (Observer* o : observers)
      if (o->wants_order()) o->begin_ordered_run();
    rewind_meter(launch);
    ResidentBlockScheduler residents(launch, observers, nullptr, suspects.get());
    residents.run();
    collect_results(observers, residents.results(), outcome);
  }
}

}  // namespace

LaunchOutcome run_grid(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       unsigned threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, launch.grid.count()));
  if (launch.schedule || any_observer_wants(observers, &Observer::replaces_loaded_values))
    threads = 1;
  LaunchOutcome outcome;
  outcome.tally.resize(launch.program->sites.size());
  uint64_t done = 0;
  // The order of the blocks decides which part of the heap each gets, and a heap allocation cannot
  // be undone.
  const bool heap = launch.program->uses_heap || launch.program->launches_kernels;
  if (threads > 1 && !launch.program->order_sensitive && !heap && !launch.has_clusters()) {
    const IndependenceProof independent = any_observer_wants(observers, &Observer::wants_order)
                                              ? IndependenceProof{}
                                              : prove_independent_blocks(launch);
    done = independent.proven
               ? run_independent_blocks(launch, observers, threads, independent.written, outcome)
               : run_and_commit_blocks_in_parallel(launch, observers, threads, outcome);
  }
  const bool left = done < launch.grid.count() && !outcome.trap;
  if (left && !heap && any_observer_wants(observers, &Observer::wants_order)) {
    run_in_order(launch, observers, outcome);
  } else if (left) {
    outcome.grid_races_unchecked = heap && any_observer_wants(observers, &Observer::wants_order);
    run_without_order_guard(launch, observers, done, outcome);
  }
  set_limit_site_to_longest_loop(outcome);
  launch.memory->mark_fully_written_allocations();
  return outcome;
}

}  // namespace lab32::sim
