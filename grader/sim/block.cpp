#include "sim/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace lab32::sim {
namespace {

// More than a whole launch may print (launch.cpp).
constexpr size_t kKeptOutput = 2 << 20;

}  // namespace

Block::Block(const LaunchContext& launch, std::vector<Observer*> observers,
             OrderGuard::Worker* guard)
    : launch_(launch),
      observers_(std::move(observers)),
      guard_(guard),
      checks_reads_(launch.trap_uninitialised || launch.keep_going) {
  for (Observer* o : observers_) {
    if (o->wants_accesses()) access_observers_.push_back(o);
    if (o->wants_raw_shared()) raw_observers_.push_back(o);
  }
  tally_.resize(launch_.program->sites.size());
  diverged_.resize(launch_.program->sites.size());
  shared_.resize(shared_sink() + kWarpSize * kSinkBytes);
  if (launch_.keep_going) told_.resize(launch_.program->sites.size());
  const auto threads = static_cast<uint32_t>(launch_.block.count());
  info_.threads = threads;
  info_.shared_bytes = launch_.shared_bytes;
  info_.dim_x = launch_.block.x;
  info_.dim_y = launch_.block.y;
  info_.dim_z = launch_.block.z;
  for (uint32_t first = 0; first < threads; first += kWarpSize) {
    const uint32_t lanes = std::min<uint32_t>(kWarpSize, threads - first);
    const uint32_t mask = lanes == kWarpSize ? kFullMask : (1u << lanes) - 1;
    warps_.push_back(std::make_unique<Warp>(*this, first / kWarpSize, mask));
  }
}

Block::~Block() = default;

void Block::begin(uint64_t index) {
  info_.index = index;
  info_.x = static_cast<uint32_t>(index % launch_.grid.x);
  info_.y = static_cast<uint32_t>(index / launch_.grid.x % launch_.grid.y);
  info_.z = static_cast<uint32_t>(index / launch_.grid.x / launch_.grid.y);
  // Poison: what a kernel reads without having written it is NaN or -1 here.
  std::memset(shared_.data(), 0xff, launch_.shared_bytes);
  for (Barrier& b : barriers_) {
    b.arrived = b.wanted = b.popc = 0;
    b.all = true, b.any = false;
    b.waiting.clear();
  }
  stored_ = {};
  output_.clear();
  for (Observer* o : observers_) o->block_begin(info_);
  for (auto& warp : warps_) warp->restart();
}

Block::State Block::go_on(uint64_t slice) {
  for (;;) {
    bool all_done = true, progress = false, polls = true;
    for (auto& warp : warps_) {
      if (warp->done()) continue;
      const uint64_t before = warp->issued();
      const Warp::Progress p = warp->run(slice);
      progress |= p != Warp::Progress::blocked || warp->issued() != before;
      all_done &= p == Warp::Progress::done;
      polls &= p == Warp::Progress::yielded ? warp->take_polled() : warp->issued() == before;
    }
    if (all_done) break;
    if (!progress) {
      standstill();
    } else if (polls) {
      return State::polls;
    }
  }
  for (auto& warp : warps_) longest_warp_ = std::max(longest_warp_, warp->issued());
  for (Observer* o : observers_) o->block_end();
  return State::done;
}

uint32_t Block::polling_site() const {
  for (const auto& warp : warps_)
    for (const Split& s : warp->splits())
      if (s.state == Split::State::ready) return s.frame->function->code[s.pc].site;
  return 0;
}

void Block::print(const std::string& text) {
  if (output_.size() < kKeptOutput) output_ += text;
}

// ---------------------------------------------------------------------------------------------
// Barriers

uint32_t Block::live_threads() const {
  uint32_t n = 0;
  for (const auto& w : warps_) n += static_cast<uint32_t>(__builtin_popcount(w->live()));
  return n;
}

void Block::arrive(Warp& warp, uint32_t mask, std::byte* regs, const Arrival& arrival) {
  Barrier& barrier = barriers_[arrival.barrier];
  const bool counted = arrival.threads != 0;
  barrier.arrived += static_cast<uint32_t>(__builtin_popcount(mask));
  if (counted) {
    if (barrier.wanted != 0 && barrier.wanted != arrival.threads)
      warp.trap(*arrival.inst, "barrier",
                fmt::format("{} waits for {} threads at barrier {}, where others wait for {}",
                            warp.thread_name(__builtin_ctz(mask)), arrival.threads, arrival.barrier,
                            barrier.wanted));
    barrier.wanted = arrival.threads;
    // The count is in whole warps (PTX ISA): a warp of fewer threads counts as 32 when all of them
    // have come.
    uint32_t before = 0;
    for (const Waiting& w : barrier.waiting)
      if (w.warp == warp.index()) before |= w.mask;
    if ((before & warp.live()) != warp.live() && ((before | mask) & warp.live()) == warp.live())
      barrier.arrived += kWarpSize - static_cast<uint32_t>(__builtin_popcount(before | mask));
  }
  if (arrival.reduce != Arrival::Reduce::none) {
    const uint32_t votes = arrival.predicate & mask;
    barrier.popc += static_cast<uint32_t>(__builtin_popcount(votes));
    barrier.all &= votes == mask;
    barrier.any |= votes != 0;
  }
  Split& split = warp.current();
  barrier.waiting.push_back({warp.index(), split.id, mask, regs, arrival.inst, arrival.wait});
  if (arrival.wait) {
    split.state = Split::State::block_barrier;
  } else {
    ++split.pc;
  }
  const uint32_t wanted = barrier.wanted ? barrier.wanted : live_threads();
  if (barrier.arrived >= wanted) complete(arrival.barrier);
}

void Block::complete(uint32_t index, bool forced) {
  Barrier& barrier = barriers_[index];
  std::array<uint32_t, 32> lanes{};
  for (const Waiting& w : barrier.waiting) lanes[w.warp] |= w.mask;
  // A forced one counts as one of the whole block: it has been told, and what would come of it is
  // not worth telling.
  bool whole = true;
  for (const auto& w : warps_) whole &= (w->live() & ~lanes[w->index()]) == 0;
  for (Observer* o : observers_)
    o->block_barrier(lanes.data(), static_cast<uint32_t>(warps_.size()), whole || forced);
  if (launch_.keep_going && whole) find_skipped_barrier(barrier.waiting.front(), lanes.data());

  const Barrier done = barrier;  // released splits may come back to this barrier at once
  barrier.arrived = barrier.wanted = barrier.popc = 0;
  barrier.all = true, barrier.any = false;
  barrier.waiting.clear();
  for (const Waiting& w : done.waiting) {
    if (!w.waits) continue;
    if (w.inst->dst_count > 0 && w.inst->dst[0].bytes != 0) {
      const Slot& slot = w.inst->dst[0];
      auto* at = reinterpret_cast<uint32_t*>(w.regs + slot.offset);
      if (slot.is_predicate) {
        const bool value = w.inst->ptx->has(ptx::Mod::op_and) ? done.all : done.any;
        *at = value ? *at | w.mask : *at & ~w.mask;
      } else {
        for (uint32_t r = w.mask; r; r &= r - 1) at[__builtin_ctz(r)] = done.popc;
      }
    }
    warps_[w.warp]->release_barrier(w.split);
  }
}

// __syncthreads() waits for the threads that have not exited, so an exit can complete it.
void Block::threads_exited() {
  for (uint32_t i = 0; i < barriers_.size(); ++i) {
    Barrier& barrier = barriers_[i];
    if (barrier.arrived == 0 || barrier.wanted != 0) continue;
    const uint32_t live = live_threads();
    if (live != 0 && barrier.arrived >= live) complete(i);
  }
}

void Block::standstill() {
  // A warp operation that waits for lanes which are elsewhere is the more specific reason.
  for (const auto& warp : warps_) {
    const Split* s = warp->stuck_in_warp_sync();
    if (!s) continue;
    const Inst& in = s->frame->function->code[s->pc];
    const uint32_t missing = s->wanted & warp->live() & ~s->op_mask;
    raise(*warp, in, s->op_mask, Mistake::Kind::barrier, [&](int) {
      return Complaint{
          "shuffle",
          fmt::format("warp {} of block {}: the mask {:#010x} names lane {}, which never comes "
                      "here; lanes {:#010x} wait for it",
                      warp->index(), info_.index, s->wanted, __builtin_ctz(missing), s->op_mask)};
    });
    return warp->force_warp_sync();
  }
  for (uint32_t i = 0; i < barriers_.size(); ++i) {
    const Barrier& barrier = barriers_[i];
    for (const Waiting& w : barrier.waiting) {
      if (!w.waits) continue;
      const uint32_t wanted = barrier.wanted ? barrier.wanted : live_threads();
      raise(*warps_[w.warp], *w.inst, w.mask, Mistake::Kind::barrier, [&](int lane) {
        return Complaint{
            "barrier",
            fmt::format("block {}: {} of {} threads wait at this barrier ({} first), the others "
                        "can never reach it",
                        info_.index, barrier.arrived, wanted, warps_[w.warp]->thread_name(lane))};
      });
      return complete(i, true);
    }
  }
  throw Trap{"barrier", fmt::format("block {} stands still", info_.index), 0, false, info_.index};
}

void Block::own_lane_not_named(const Warp& warp, const Inst& in, uint32_t lanes,
                               uint32_t member_mask) {
  raise(warp, in, lanes, Mistake::Kind::barrier, [&](int lane) {
    return Complaint{
        "shuffle",
        fmt::format("{} executes a warp operation whose mask {:#010x} does not name its own lane "
                    "{}",
                    warp.thread_name(lane), member_mask, lane)};
  });
}

// Threads that have exited need not come to a barrier, and an early exit is no mistake. But one
// that stored something since its last barrier did not leave early: it went round this one.
// (Whether it did so by `if (…) __syncthreads();` or by a `return` cannot be told from the PTX.)
void Block::find_skipped_barrier(const Waiting& here, const uint32_t* lane_mask_of_warp) {
  for (const auto& warp : warps_) {
    const uint32_t there = lane_mask_of_warp[warp->index()];
    const uint32_t skipped = stored_[warp->index()] & ~there & ~warp->live();
    stored_[warp->index()] &= ~there & ~skipped;
    if (skipped == 0) continue;
    raise(*warp, *here.inst, skipped, Mistake::Kind::barrier, [&](int lane) {
      return Complaint{
          "barrier", fmt::format("{} has left the kernel without coming to this barrier, where {} "
                                 "waits",
                                 warp->thread_name(lane),
                                 warps_[here.warp]->thread_name(__builtin_ctz(here.mask)))};
    });
  }
}

// ---------------------------------------------------------------------------------------------
// Memory

std::byte* Block::global(const Warp& warp, const Inst& in, uint64_t* address, uint32_t mask,
                         unsigned bytes, Use use, uint8_t operation) {
  Memory& memory = *launch_.memory;
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
  if (mask == kFullMask) {
    for (int l = 0; l < kWarpSize; ++l) {
      low = std::min(low, address[l]);
      high = std::max(high, address[l]);
      bits |= address[l];
    }
  } else {
    for (uint32_t r = mask; r; r &= r - 1) {
      const uint64_t a = address[__builtin_ctz(r)];
      low = std::min(low, a);
      high = std::max(high, a);
      bits |= a;
    }
  }
  Allocation*& recent = recent_[in.site % recent_.size()];
  Allocation* a = recent;
  if (!a || low < a->begin || low >= a->end) recent = a = memory.find(low);
  // Not high + bytes > end: a wild address may lie so high that the sum wraps.
  if (!a || a->freed || low < a->begin || high > a->end - bytes || (bits & (bytes - 1)) != 0 ||
      (use != Use::read && a->read_only)) {
    // Lanes may lie in different allocations, or one is wrong: look at each.
    uint32_t wrong = 0;
    for (uint32_t r = mask; r; r &= r - 1) {
      const uint64_t at = address[__builtin_ctz(r)];
      const Allocation* own = memory.find(at);
      if (!own || own->freed || at + bytes > own->end || (at & (bytes - 1)) != 0 ||
          (use != Use::read && own->read_only))
        wrong |= r & (~r + 1);
    }
    if (wrong) bad_global(warp, in, address, wrong, bytes, use);
    for (uint32_t r = mask & ~wrong; r; r &= r - 1)
      global(warp, in, address, r & (~r + 1), bytes, use, operation);
    return memory.host(0);
  }
  // The guard first: whether something was written may depend on the order of the blocks too.
  if (guard_) {
    switch (use) {
      case Use::read:
        guard_->read(*a, address, mask, bytes);
        break;
      case Use::write:
        guard_->write(*a, address, mask, bytes);
        break;
      case Use::update:
        if (operation == 0) throw OrderMatters{};
        guard_->update(*a, operation, address, mask, bytes);
        break;
    }
  }
  if (use != Use::write && !a->initialised && checks_reads_) {
    uint32_t unwritten = 0;
    for (uint32_t r = mask; r; r &= r - 1)
      if (!memory.written(address[__builtin_ctz(r)], bytes)) unwritten |= r & (~r + 1);
    if (unwritten) unwritten_global(warp, in, address, unwritten, bytes, use);
  }
  if (use == Use::write && !a->initialised) memory.mark_lanes(address, mask, bytes);
  if (use != Use::read && !guard_) a->pristine = false;
  return memory.host(0);
}

void Block::check_shared(const Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask,
                         unsigned bytes, Use use) {
  const uint64_t size = launch_.shared_bytes;
  uint64_t high = 0, bits = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t a = offset[__builtin_ctz(r)];
    high = std::max(high, a);
    bits |= a;
  }
  if (high <= size && high + bytes <= size && (bits & (bytes - 1)) == 0) return;
  bad_shared(warp, in, offset, mask, bytes, use);
}

// ---------------------------------------------------------------------------------------------
// Observers

// The lanes whose compare-and-swap of shared memory takes: the lowest one of each bank, whatever
// words the others wanted. 8-byte words lie in a pair of banks and are served half-warp by
// half-warp; in the upper one a lane fails whose word the lower one has just changed.
static uint32_t swap_winners(const uint64_t* address, unsigned bytes, uint32_t mask) {
  const uint64_t banks = 128 / bytes;
  const uint32_t halves[2] = {bytes == 8 ? mask & 0xffffu : mask, bytes == 8 ? mask & ~0xffffu : 0};
  uint32_t winners = 0;
  for (const uint32_t half : halves) {
    const uint32_t before = winners;
    uint32_t taken = 0;  // banks that have served a lane
    for (uint32_t rest = half; rest; rest &= rest - 1) {
      const int l = __builtin_ctz(rest);
      const uint32_t bank = 1u << (address[l] / bytes % banks);
      if (taken & bank) continue;
      taken |= bank;
      bool changed = false;
      for (uint32_t w = before; w; w &= w - 1) changed |= address[__builtin_ctz(w)] == address[l];
      if (!changed) winners |= 1u << l;
    }
  }
  return winners;
}

void Block::report(const Warp& warp, const Inst& in, AccessSpace space, AccessKind kind,
                   unsigned bytes, uint32_t mask, const uint64_t* address, bool matrix,
                   const uint64_t* other_side) {
  if (access_observers_.empty()) return;
  if (kind != AccessKind::load) stored_[warp.index()] |= mask;
  Access access;
  access.site = in.site;
  access.space = space;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.matrix = matrix;
  access.mask = mask;
  access.address = address;
  access.other_side = other_side;
  access.past_l1 = other_side != nullptr && in.ptx->has(ptx::Mod::cg);
  const AccessPlan& plan = launch_.program->plans[in.site];
  access.ptx_level = plan.ptx_level;
  auto emit = [&] {
    for (Observer* o : access_observers_) o->access(warp.index(), access);
  };
  if (plan.ptx_level || matrix) return emit();
  alignas(64) uint64_t shifted[kWarpSize];
  for (const Issue& issue : plan.issues) {
    access.bytes = issue.bytes;
    // A copy to shared memory is planned once, as the load that it is; its other side is a store.
    access.kind = space == AccessSpace::shared && kind == AccessKind::store ? kind : issue.kind;
    access.mask = mask;
    access.address = address;
    if (issue.offset != 0) {
      for (int l = 0; l < kWarpSize; ++l)
        shifted[l] = address[l] + static_cast<uint64_t>(static_cast<int64_t>(issue.offset));
      access.address = shifted;
    }
    access.form = issue.form;
    switch (issue.lanes) {
      case Issue::Lanes::all:
        emit();
        break;
      case Issue::Lanes::full_leader:
        if (mask != kFullMask) {
          emit();
          break;
        }
        [[fallthrough]];
      case Issue::Lanes::leader:
        access.mask = mask & (~mask + 1);
        emit();
        break;
      case Issue::Lanes::spin: {
        // Each round all lanes that have not won load and try to swap.
        uint32_t rest = mask;
        while (rest) {
          access.mask = rest;
          access.kind = AccessKind::load;
          emit();
          access.kind = AccessKind::atom;
          emit();
          rest &= ~swap_winners(access.address, issue.bytes, rest);
        }
        break;
      }
    }
  }
}

void Block::report_raw_shared(const Warp& warp, const Inst& in, AccessKind kind, unsigned bytes,
                              uint32_t mask, const uint64_t* offset, const std::byte* values) {
  RawAccess access;
  access.site = in.site;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.mask = mask;
  access.address = offset;
  access.values = values;
  for (Observer* o : raw_observers_) o->raw_shared(warp.index(), access);
}

void Block::report_bad_warp_op(const Warp& warp, const Inst& in, uint32_t mask, uint32_t bad) {
  for (Observer* o : observers_) o->bad_warp_op(warp.index(), in.site, mask, bad);
}

void Block::report_warp_barrier(const Warp& warp, uint32_t mask) {
  for (Observer* o : observers_) o->warp_barrier(warp.index(), mask);
}

}  // namespace lab32::sim
