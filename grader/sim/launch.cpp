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

struct Shared {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> order_matters{false};
  // Blocks from here on need not run any more: a lower one trapped.
  std::atomic<uint64_t> limit;
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

void run_blocks(const LaunchContext& launch, Share& share, Shared& shared,
                OrderGuard::Worker* guard, uint64_t chunk) {
  std::vector<Observer*> observers;
  for (auto& o : share.observers) observers.push_back(o.get());
  Block block(launch, std::move(observers), guard);
  const uint64_t blocks = launch.grid.count();
  uint64_t index = 0;
  try {
    while (!shared.order_matters) {
      const uint64_t first = shared.next.fetch_add(chunk);
      if (first >= blocks) break;
      for (index = first; index < std::min(first + chunk, blocks); ++index) {
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

void work(const LaunchContext& launch, Share& share, Shared& shared, OrderGuard::Worker* guard,
          uint64_t chunk) {
  try {
    run_blocks(launch, share, shared, guard, chunk);
  } catch (...) {
    share.error = std::current_exception();
    shared.order_matters = true;  // the others may stop
  }
}

void rethrow(const std::vector<Share>& shares) {
  for (const Share& share : shares)
    if (share.error) std::rethrow_exception(share.error);
}

LaunchOutcome collect(const LaunchContext& launch, const std::vector<Observer*>& observers,
                      std::vector<Share>& shares) {
  LaunchOutcome outcome;
  outcome.tally.resize(launch.program->sites.size());
  outcome.diverged.resize(launch.program->sites.size());
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
  return outcome;
}

std::vector<Share> make_shares(const std::vector<Observer*>& observers, unsigned n) {
  std::vector<Share> shares(n);
  for (Share& share : shares)
    for (Observer* o : observers) share.observers.push_back(o->fork());
  return shares;
}

}  // namespace

LaunchOutcome run_grid(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       unsigned threads) {
  const uint64_t blocks = launch.grid.count();
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, blocks));

  if (threads > 1 && !launch.program->order_sensitive) {
    OrderGuard guard(*launch.memory, threads);
    std::vector<Share> shares = make_shares(observers, threads);
    Shared shared;
    shared.limit = blocks;
    const uint64_t chunk = chunk_for(blocks, threads);
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < threads; ++i)
      helpers.emplace_back([&, i] { work(launch, shares[i], shared, &guard.worker(i), chunk); });
    work(launch, shares[0], shared, &guard.worker(0), chunk);
    for (std::thread& t : helpers) t.join();
    rethrow(shares);
    if (!shared.order_matters && guard.settled()) {
      guard.accept();
      LaunchOutcome outcome = collect(launch, observers, shares);
      launch.memory->refresh_initialised();
      return outcome;
    }
    guard.undo();
  }

  std::vector<Share> shares = make_shares(observers, 1);
  Shared shared;
  shared.limit = blocks;
  work(launch, shares[0], shared, nullptr, blocks);
  rethrow(shares);
  launch.memory->refresh_initialised();
  return collect(launch, observers, shares);
}

}  // namespace lab32::sim
