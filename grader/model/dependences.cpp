#include "model/dependences.h"

#include <algorithm>
#include <map>

#include "model/instruction_cost.h"

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

Chain longest_chain(const ptx::Function& function, int first, int last) {
  std::map<int, Chain> ready;  // registers written here
  Chain stored;                // when the last store or barrier could be issued
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
    if ((loads && !cost.reads_only) || cost.is_store) chain = longer(chain, stored);
    if (cost.is_store) stored = longer(stored, chain);
    wait(chain, cost);
    if (cost.waits == Waits::barrier) stored = chain;
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

}  // namespace

Chain longest_chains(const ptx::Function& function, const ptx::ControlFlow& flow,
                     const std::vector<uint64_t>& times) {
  Chain sum;
  const auto blocks = static_cast<int>(flow.blocks.size());
  for (int first = 0, end; first < blocks; first = end) {
    const uint64_t most = runs(flow.blocks[static_cast<size_t>(first)], times);
    for (end = first + 1; end < blocks; ++end) {
      const ptx::BasicBlock& next = flow.blocks[static_cast<size_t>(end)];
      const bool from_elsewhere =
          std::any_of(next.predecessors.begin(), next.predecessors.end(),
                      [&](int from) { return from < first || from >= end; });
      const uint64_t here = runs(next, times);
      if (from_elsewhere || here > most || 10 * here < 9 * most) break;
    }
    const Chain chain = longest_chain(function, flow.blocks[static_cast<size_t>(first)].first,
                                      flow.blocks[static_cast<size_t>(end - 1)].last);
    const auto n = static_cast<double>(most);
    sum.cycles += n * chain.cycles;
    sum.global_rounds += n * chain.global_rounds;
    sum.shared_rounds += n * chain.shared_rounds;
    sum.barriers += n * chain.barriers;
  }
  return sum;
}

}  // namespace lab32::model
