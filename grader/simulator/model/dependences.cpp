#include "simulator/model/dependences.h"

#include <algorithm>
#include <map>

#include "simulator/model/instruction_cost.h"

namespace lab32::model {
namespace {

using Waits = InstructionCost::Waits;

// To compare chains before the caches are known: cycles of a middling GPU.
constexpr double kGlobal = 500, kShared = 28, kBarrier = 30;

double length(const Chain& c) {
  return c.cycles + kGlobal * c.global_rounds + kShared * c.shared_rounds + kBarrier * c.barriers;
}

const Chain& longer(const Chain& a, const Chain& b) { return length(a) < length(b) ? b : a; }

void wait(Chain& chain, const InstructionCost& cost) {
  chain.cycles += cost.latency;
  switch (cost.waits) {
    case Waits::no:
      break;
    case Waits::global:
      chain.global_rounds += 1;
      break;
    case Waits::shared:
    case Waits::shuffle:
      chain.shared_rounds += 1;
      break;
    case Waits::barrier:
      chain.barriers += 1;
      break;
  }
}

// Which loads may not pass which stores: those of one memory. A generic address may be of either.
struct Memories {
  bool global = false, shared = false;
};

Memories memories_of(const ptx::Instruction& in, const InstructionCost& cost) {
  if (cost.waits == Waits::barrier) return {true, true};
  const bool shared = in.has(ptx::Mod::shared) || in.has(ptx::Mod::shared_cta);
  return {!shared, shared || !in.has(ptx::Mod::global)};
}

Chain longest_chain(const ptx::Function& function, int first, int last) {
  std::map<int, Chain> ready;          // registers written here
  Chain stored_global, stored_shared;  // when the last store or barrier could be issued
  Chain end;
  for (int i = first; i < last; ++i) {
    const ptx::Instruction& in = function.body[static_cast<size_t>(i)];
    const InstructionCost cost = cost_of(in);
    Chain chain;
    ptx::for_each_register(function, in, [&](int reg, bool is_destination) {
      if (is_destination) return;
      if (const auto at = ready.find(reg); at != ready.end()) chain = longer(chain, at->second);
    });
    const bool loads = cost.waits == Waits::global || cost.waits == Waits::shared;
    const bool stays = (loads && !cost.reads_only) || cost.is_store;
    const Memories memories = memories_of(in, cost);
    if (stays && memories.global) chain = longer(chain, stored_global);
    if (stays && memories.shared) chain = longer(chain, stored_shared);
    const Chain issued = chain;
    wait(chain, cost);
    const Chain& passed = cost.waits == Waits::barrier ? chain : issued;
    if (cost.is_store && memories.global) stored_global = longer(stored_global, passed);
    if (cost.is_store && memories.shared) stored_shared = longer(stored_shared, passed);
    // ptxas moves no load across an atomic, whatever memory it is in.
    if (cost.is_atomic) stored_global = stored_shared = issued;
    ptx::for_each_register(function, in, [&](int reg, bool is_destination) {
      if (is_destination) ready[reg] = chain;
    });
    end = longer(end, chain);
  }
  return end;
}

// Guarded instructions run less often than their block.
uint64_t runs(const ptx::BasicBlock& block, const std::vector<uint64_t>& times) {
  uint64_t most = 0;
  for (auto i = static_cast<size_t>(block.first);
       i < std::min(static_cast<size_t>(block.last), times.size()); ++i)
    most = std::max(most, times[i]);
  return most;
}

// How often each block is run or waited for. Where a barrier follows, the warps that skip a
// conditional piece wait for those that run it: it takes the time of all of them if any warp of
// their thread block is at it. `warps`: of a thread block.
std::vector<double> waited_for(const ptx::Function& function, const ptx::ControlFlow& flow,
                               const std::vector<uint64_t>& times, uint32_t warps) {
  int last_barrier = -1;
  for (size_t i = 0; i < function.body.size(); ++i)
    if (cost_of(function.body[i]).waits == Waits::barrier) last_barrier = static_cast<int>(i);
  std::vector<double> counts;
  for (const ptx::BasicBlock& block : flow.blocks) {
    auto count = static_cast<double>(runs(block, times));
    counts.push_back(count);
    if (count == 0 || block.first > last_barrier) continue;
    // The innermost forward branch that this block is inside of.
    for (int from = static_cast<int>(counts.size()) - 2; from >= 0; --from) {
      const int branch = flow.blocks[static_cast<size_t>(from)].last - 1;
      const uint32_t meet = flow.reconverge[static_cast<size_t>(branch)];
      if (meet == ptx::kNoReconverge || static_cast<int>(meet) <= block.first) continue;
      const double all = counts[static_cast<size_t>(from)];
      counts.back() = std::max(count, std::min(all, count * warps));
      break;
    }
  }
  return counts;
}

}  // namespace

Chain longest_chains(const ptx::Function& function, const ptx::ControlFlow& flow,
                     const std::vector<uint64_t>& times, uint32_t warps) {
  Chain sum;
  const std::vector<double> counts = waited_for(function, flow, times, warps);
  const auto blocks = static_cast<int>(flow.blocks.size());
  for (int first = 0, end; first < blocks; first = end) {
    const double n = counts[static_cast<size_t>(first)];
    for (end = first + 1; end < blocks; ++end) {
      const ptx::BasicBlock& next = flow.blocks[static_cast<size_t>(end)];
      const bool from_elsewhere =
          std::any_of(next.predecessors.begin(), next.predecessors.end(),
                      [&](int from) { return from < first || from >= end; });
      const double here = counts[static_cast<size_t>(end)];
      if (from_elsewhere || here > n || 10 * here < 9 * n) break;
    }
    const Chain chain = longest_chain(function, flow.blocks[static_cast<size_t>(first)].first,
                                      flow.blocks[static_cast<size_t>(end - 1)].last);
    sum.cycles += n * chain.cycles;
    sum.global_rounds += n * chain.global_rounds;
    sum.shared_rounds += n * chain.shared_rounds;
    sum.barriers += n * chain.barriers;
    sum.own_rounds += static_cast<double>(runs(flow.blocks[static_cast<size_t>(first)], times)) *
                      chain.global_rounds;
  }
  return sum;
}

}  // namespace lab32::model
