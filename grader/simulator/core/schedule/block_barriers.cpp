#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

void BlockBarriers::Barrier::reset() {
  arrived = wanted = popc = 0;
  all = true, any = false;
  waiting.clear();
}

void BlockBarriers::reset_for_next_block() {
  for (Barrier& barrier : barriers_) barrier.reset();
}

uint32_t BlockBarriers::count_live_threads() const {
  uint32_t n = 0;
  for (const auto& w : warps_) n += static_cast<uint32_t>(__builtin_popcount(w->live()));
  return n;
}

void BlockBarriers::arrive(Warp& warp, uint32_t mask, std::byte* regs,
                           const BlockContext::BarrierArrival& arrival) {
  Barrier& barrier = barriers_[arrival.barrier];
  const bool counted = arrival.threads != 0;
  barrier.arrived += static_cast<uint32_t>(__builtin_popcount(mask));
  if (counted) {
    if (barrier.wanted != 0 && barrier.wanted != arrival.threads) {
      TrapFacts facts = warp.facts(TrapReason::counts_differ, __builtin_ctz(mask));
      facts.barrier = arrival.barrier;
      facts.value = arrival.threads;
      facts.limit = barrier.wanted;
      warp.trap(*arrival.inst, std::move(facts));
    }
    barrier.wanted = arrival.threads;
    // The barrier counts whole warps (PTX ISA): a warp of fewer than 32 threads counts as 32 when
    // all of its threads have arrived.
    uint32_t before = 0;
    for (const WaitingWarpSplit& w : barrier.waiting)
      if (w.warp == warp.index()) before |= w.mask;
    if ((before & warp.live()) != warp.live() && ((before | mask) & warp.live()) == warp.live())
      barrier.arrived += kWarpSize - static_cast<uint32_t>(__builtin_popcount(before | mask));
  }
  if (arrival.reduce != BlockContext::BarrierArrival::Reduce::none) {
    const uint32_t votes = arrival.predicate & mask;
    barrier.popc += static_cast<uint32_t>(__builtin_popcount(votes));
    barrier.all &= votes == mask;
    barrier.any |= votes != 0;
  }
  WarpSplit& split = warp.current();
  const WaitingWarpSplit here{warp.index(), split.id, mask, regs, arrival.inst, arrival.wait};
  if (arrival.wait && (warp.live() & ~mask) != 0 && !block_.as_on_a_gpu())
    report_second_barrier(warp, here);
  barrier.waiting.push_back(here);
  if (arrival.wait) {
    split.state = WarpSplit::State::block_barrier;
  } else {
    ++split.pc;
  }
  const uint32_t wanted = barrier.wanted ? barrier.wanted : count_live_threads();
  if (barrier.arrived >= wanted) complete(arrival.barrier);
}

void BlockBarriers::complete(uint32_t index, bool forced) {
  Barrier& barrier = barriers_[index];
  std::array<uint32_t, 32> lanes{};
  for (const WaitingWarpSplit& w : barrier.waiting) lanes[w.warp] |= w.mask;
  // A forced barrier counts as a barrier of the whole block. Its fault has been reported already,
  // and the consequences of that fault should not be reported as further faults.
  bool whole = true;
  for (const auto& w : warps_) whole &= (w->live() & ~lanes[w->index()]) == 0;
  if (whole) block_.accesses().pass_barrier();
  for (Observer* o : block_.reports().observers())
    o->block_barrier(lanes.data(), static_cast<uint32_t>(warps_.size()), whole || forced);
  if (block_.launch().keep_going && whole)
    report_skipped_barrier(barrier.waiting.front(), lanes.data());

  // A copy, because released splits may arrive at this barrier again at once.
  const Barrier done = barrier;
  barrier.reset();
  for (const WaitingWarpSplit& w : done.waiting) {
    if (!w.waits) continue;
    if (w.inst->dst_count > 0 && w.inst->dst[0].bytes != 0) {
      const RegisterSlot& slot = w.inst->dst[0];
      auto* at = reinterpret_cast<uint32_t*>(w.regs + slot.offset);
      if (slot.is_predicate) {
        const bool value = w.inst->ptx->has(ptx::Modifier::op_and) ? done.all : done.any;
        *at = value ? *at | w.mask : *at & ~w.mask;
      } else {
        for (uint32_t r = w.mask; r; r &= r - 1) at[__builtin_ctz(r)] = done.popc;
      }
    }
    warps_[w.warp]->splits().release_split_from_barrier(w.split);
  }
}

void BlockBarriers::on_threads_exit() {
  if (block_.cluster() != nullptr)
    block_.cluster()->on_threads_exit(block_.info().rank, count_live_threads() == 0);
  for (uint32_t i = 0; i < barriers_.size(); ++i) {
    Barrier& barrier = barriers_[i];
    if (barrier.arrived == 0 || barrier.wanted != 0) continue;
    const uint32_t live = count_live_threads();
    if (live != 0 && barrier.arrived >= live) complete(i);
  }
}

bool BlockBarriers::has_waiting_threads() const {
  return std::any_of(barriers_.begin(), barriers_.end(), [](const Barrier& barrier) {
    return std::any_of(barrier.waiting.begin(), barrier.waiting.end(),
                       [](const WaitingWarpSplit& w) { return w.waits; });
  });
}

bool BlockBarriers::force_one_barrier() {
  for (uint32_t i = 0; i < barriers_.size(); ++i) {
    const Barrier& barrier = barriers_[i];
    for (const WaitingWarpSplit& w : barrier.waiting) {
      if (!w.waits) continue;
      const uint32_t wanted = barrier.wanted ? barrier.wanted : count_live_threads();
      block_.faults().trap_or_report(
          w.inst->site, w.mask, FaultEvent::Kind::barrier, [&](int lane) {
            TrapFacts facts = warps_[w.warp]->facts(TrapReason::threads_missing, lane);
            facts.barrier = i;
            facts.value = barrier.arrived;
            facts.limit = wanted;
            const uint32_t threads = block_.info().threads;
            if (barrier.wanted == 0 && wanted < threads)
              facts.cause = fmt::format("{} of the block's {} threads have exited",
                                        threads - wanted, threads);
            return facts;
          });
      complete(i, true);
      return true;
    }
  }
  return false;
}

// With .aligned, which bar.sync implies, all threads of a warp must execute one barrier instruction
// in one activation of its function (PTX ISA 9.7.13.1).
void BlockBarriers::report_second_barrier(const Warp& warp, const WaitingWarpSplit& here) {
  const auto is_aligned = [](const Inst& in) {
    return in.ptx->op->base == "bar" || in.ptx->has(ptx::Modifier::aligned);
  };
  const auto line_of = [&](const Inst& in) {
    const auto place = block_.launch().program->position(in.site);
    return place ? place->line : 0;
  };
  for (const Barrier& barrier : barriers_)
    for (const WaitingWarpSplit& there : barrier.waiting) {
      if (there.warp != here.warp || !there.waits) continue;
      if (there.inst == here.inst && there.regs == here.regs) continue;
      if (!is_aligned(*here.inst) && !is_aligned(*there.inst)) continue;
      return block_.faults().trap_or_report(
          here.inst->site, here.mask, FaultEvent::Kind::barrier, [&](int) {
            TrapFacts facts = warp.facts(TrapReason::two_barriers);
            facts.warp->lanes = here.mask;
            facts.warp->mask = there.mask;
            const int line = line_of(*there.inst);
            if (line != line_of(*here.inst)) facts.value = static_cast<uint64_t>(line);
            return facts;
          });
    }
}

// Threads that have exited need not arrive at a barrier, and an early exit is no mistake. But a
// thread that has stored something that others may read since its last barrier did not exit early:
// it skipped this barrier. (Whether it did so by `if (…) __syncthreads();` or by a `return` cannot
// be told from the PTX.)
void BlockBarriers::report_skipped_barrier(const WaitingWarpSplit& here,
                                           const uint32_t* lane_mask_of_warp) {
  for (const auto& warp : warps_) {
    const uint32_t there = lane_mask_of_warp[warp->index()];
    uint32_t& stored = block_.reports().stored(warp->index());
    const uint32_t skipped = stored & ~there & ~warp->live();
    stored &= ~there & ~skipped;
    if (skipped == 0) continue;
    block_.faults().trap_or_report(
        here.inst->site, skipped, FaultEvent::Kind::barrier, [&](int lane) {
          TrapFacts facts = warp->facts(TrapReason::barrier_skipped, lane);
          facts.waiting = warps_[here.warp]->thread_id(__builtin_ctz(here.mask));
          return facts;
        });
  }
}

}  // namespace lab32::sim
