#include "sim/launch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <thread>

namespace lab32::sim {
namespace {

// Blocks are handed out in chunks of neighbours: large enough to cost nothing, small enough that
// the cores finish together.
uint64_t chunk_for(uint64_t blocks, unsigned threads) {
  return std::clamp<uint64_t>(blocks / (uint64_t{threads} * 16), 1, 256);
}

// Blocks a host thread of the first round in which words are noted: kernels whose blocks share
// words nearly always show it by then.
constexpr uint64_t kTrial = 64;

// A round (order_guard.h): blocks from `first` on.
struct Shared {
  Shared(uint64_t first, uint64_t last, bool whole)
      : next(first), limit(last), end(last), to_the_end(whole) {}
  std::atomic<uint64_t> next;
  std::atomic<bool> order_matters{false};
  // Blocks from here on need not run any more: a lower one trapped.
  std::atomic<uint64_t> limit;
  const uint64_t end;
  const bool to_the_end;  // not to be cut short
};

// The runtime's FIFO of printf output holds 1 MiB; what comes after is dropped here. (There it
// pushes out the oldest.)
constexpr size_t kOutputLimit = 1 << 20;

// What one host thread brings home.
struct Share {
  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<IssueTally> tally;
  std::vector<uint8_t> diverged;
  std::map<uint64_t, std::string> output;
  size_t output_bytes = 0;
  std::exception_ptr error;  // neither trap nor order: the machine's fault, or ours
  std::optional<Trap> trap;
  uint64_t longest_warp = 0;
};

void keep_output(Share& share, Block& block, uint64_t index) {
  std::string text = block.take_output();
  // Blocks come in increasing order: with this much before it, a block's text is beyond the limit.
  if (text.empty() || share.output_bytes >= kOutputLimit) return;
  share.output_bytes += text.size();
  share.output.emplace(index, std::move(text));
}

void run_blocks(const LaunchContext& launch, Share& share, Shared& shared, OrderGuard* guard,
                unsigned worker, uint64_t chunk) {
  std::vector<Observer*> observers;
  for (auto& o : share.observers) observers.push_back(o.get());
  Block block(launch, std::move(observers), guard ? &guard->worker(worker) : nullptr);
  uint64_t index = 0;
  try {
    while (!shared.order_matters && (shared.to_the_end || !guard->full())) {
      const uint64_t first = shared.next.fetch_add(chunk);
      if (first >= shared.end) break;
      for (index = first; index < std::min(first + chunk, shared.end); ++index) {
        if (shared.order_matters || index >= shared.limit) break;
        block.run(index);
        keep_output(share, block, index);
      }
    }
  } catch (const OrderMatters&) {
    shared.order_matters = true;
  } catch (Trap& trap) {
    trap.block = index;
    uint64_t limit = shared.limit;
    while (index < limit && !shared.limit.compare_exchange_weak(limit, index)) {
    }
    keep_output(share, block, index);
    share.trap = std::move(trap);
  }
  share.tally = std::move(block.tally());
  share.diverged = block.diverged();
  share.longest_warp = block.longest_warp();
}

void work(const LaunchContext& launch, Share& share, Shared& shared, OrderGuard* guard,
          unsigned worker, uint64_t chunk) {
  try {
    run_blocks(launch, share, shared, guard, worker, chunk);
  } catch (...) {
    share.error = std::current_exception();
    shared.order_matters = true;  // the others may stop
  }
}

void rethrow(const std::vector<Share>& shares) {
  for (const Share& share : shares)
    if (share.error) std::rethrow_exception(share.error);
}

// Adds to the outcome of earlier rounds, in which nothing trapped.
void collect(const std::vector<Observer*>& observers, std::vector<Share>& shares,
             LaunchOutcome& outcome) {
  std::map<uint64_t, std::string> output;
  for (Share& share : shares) {
    for (size_t i = 0; i < observers.size(); ++i) observers[i]->merge(*share.observers[i]);
    for (size_t s = 0; s < share.tally.size(); ++s) {
      outcome.tally[s].warps += share.tally[s].warps;
      outcome.tally[s].lanes += share.tally[s].lanes;
      outcome.diverged[s] |= share.diverged[s];
    }
    output.merge(share.output);
    outcome.longest_warp = std::max(outcome.longest_warp, share.longest_warp);
    if (share.trap && (!outcome.trap || share.trap->block < outcome.trap->block))
      outcome.trap = share.trap;
  }
  for (const auto& [block, text] : output) {
    if (outcome.trap && block > outcome.trap->block) break;
    outcome.output += text.substr(0, kOutputLimit - outcome.output.size());
  }
}

std::vector<Share> make_shares(const std::vector<Observer*>& observers, unsigned n) {
  std::vector<Share> shares(n);
  for (Share& share : shares)
    for (Observer* o : observers) share.observers.push_back(o->fork());
  return shares;
}

// Blocks on several host threads at once, until all have run, one has trapped, or their order
// matters. Returns how many stand.
uint64_t run_at_once(const LaunchContext& launch, const std::vector<Observer*>& observers,
                     unsigned threads, LaunchOutcome& outcome) {
  const uint64_t blocks = launch.grid.count();
  OrderGuard guard(*launch.memory, threads);
  const bool whole = std::any_of(observers.begin(), observers.end(),
                                 [](const Observer* o) { return o->wants_whole_launch(); });
  uint64_t first = 0, trial = threads * kTrial;
  while (first < blocks && !outcome.trap) {
    const uint64_t most = guard.by_word() ? std::min(blocks - first, trial) : blocks - first;
    std::vector<Share> shares = make_shares(observers, threads);
    Shared shared(first, first + most, whole);
    const uint64_t chunk = chunk_for(most, threads);
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < threads; ++i)
      helpers.emplace_back([&, i] { work(launch, shares[i], shared, &guard, i, chunk); });
    work(launch, shares[0], shared, &guard, 0, chunk);
    for (std::thread& t : helpers) t.join();
    rethrow(shares);
    if (shared.order_matters || !guard.settle()) {
      if (guard.undo() && !whole) continue;
      break;
    }
    guard.accept();
    collect(observers, shares, outcome);
    first = std::min(shared.next.load(), shared.end);
    trial = std::min(trial * 4, blocks);
  }
  return first;
}

}  // namespace

LaunchOutcome run_grid(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       unsigned threads) {
  const uint64_t blocks = launch.grid.count();
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, blocks));

  LaunchOutcome outcome;
  outcome.tally.resize(launch.program->sites.size());
  outcome.diverged.resize(launch.program->sites.size());
  uint64_t done = 0;
  if (threads > 1 && !launch.program->order_sensitive)
    done = run_at_once(launch, observers, threads, outcome);
  if (done < blocks && !outcome.trap) {
    std::vector<Share> shares = make_shares(observers, 1);
    Shared shared(done, blocks, true);
    work(launch, shares[0], shared, nullptr, 0, blocks);
    rethrow(shares);
    collect(observers, shares, outcome);
  }
  launch.memory->refresh_initialised();
  return outcome;
}

}  // namespace lab32::sim
