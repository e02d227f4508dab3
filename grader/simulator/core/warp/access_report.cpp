// What a block tells its observers.
#include "simulator/core/warp/block_context.h"

namespace lab32::sim {

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

void BlockContext::report(uint32_t warp, const Inst& in, AccessSpace space, AccessKind kind,
                          unsigned bytes, uint32_t mask, const uint64_t* address, bool matrix,
                          const uint64_t* peer) {
  if (kind != AccessKind::load) stored_[warp] |= mask;
  if (access_observers_.empty()) return;
  // What a GPU counts of accesses to another block's memory it counts apart (mem_dshared).
  const uint32_t remote = space == AccessSpace::shared ? mask & remote_ : 0;
  const uint32_t own = mask & ~remote;
  if (own != 0)
    report_lanes(warp, in, space, kind, bytes, own, address, matrix, peer, remote, false);
  if (remote != 0)
    report_lanes(warp, in, space, kind, bytes, remote, address, matrix, peer, own, true);
}

// `others`: lanes that are told apart from these. `remote`: these reach another block's memory.
void BlockContext::report_lanes(uint32_t warp, const Inst& in, AccessSpace space, AccessKind kind,
                                unsigned bytes, uint32_t mask, const uint64_t* address, bool matrix,
                                const uint64_t* peer, uint32_t others, bool remote) {
  Access access;
  access.site = in.site;
  access.space = space;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.matrix = matrix;
  access.mask = mask;
  access.address = address;
  access.peer = peer;
  access.elsewhere = remote ? 0 : others;
  access.bypass_l1 = peer != nullptr && in.ptx->has(ptx::Mod::cg);
  const AccessPlan& plan = launch_.program->plans[in.site];
  access.ptx_level = plan.unmatched.has_value();
  auto emit = [&] {
    for (Observer* o : access_observers_) {
      if (remote)
        o->remote_access(warp, access, others == 0);
      else
        o->access(warp, access);
    }
  };
  if (plan.unmatched || matrix) return emit();
  alignas(64) uint64_t shifted[kWarpSize];
  for (const IssuedAccess& issue : plan.issues) {
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
      case IssuedAccess::Lanes::all:
        emit();
        break;
      case IssuedAccess::Lanes::full_leader:
        if (mask != kFullMask) {
          emit();
          break;
        }
        [[fallthrough]];
      case IssuedAccess::Lanes::leader:
        access.mask = mask & (~mask + 1);
        emit();
        break;
      case IssuedAccess::Lanes::spin: {
        // Each round all lanes that have not won load and try to swap.
        uint32_t rest = mask;
        while (rest) {
          access.mask = rest;
          access.kind = AccessKind::load;
          emit();
          access.kind = AccessKind::atom;
          emit();
          access.again = true;
          rest &= ~swap_winners(access.address, issue.bytes, rest);
        }
        access.again = false;
        break;
      }
    }
  }
}

void BlockContext::report_texels(uint32_t warp, TexelAccess access) {
  const AccessPlan& plan = launch_.program->plans[access.site];
  access.ptx_level = plan.unmatched.has_value();
  if (!plan.unmatched && plan.issues.empty()) return;  // ptxas left it out
  for (Observer* o : access_observers_) o->texels(warp, access);
}

void BlockContext::report_bulk(uint32_t warp, const BulkMove& move) {
  for (Observer* o : access_observers_) o->bulk(warp, move);
}

void BlockContext::report_raw_shared(uint32_t warp, const Inst& in, AccessKind kind, unsigned bytes,
                                     uint32_t mask, const uint64_t* offset, const std::byte* values,
                                     const WarpRow* row) {
  RawAccess access;
  access.site = in.site;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.mask = mask;
  access.address = offset;
  access.values = values;
  access.row = row;
  for (Observer* o : raw_observers_) o->raw_shared(warp, access);
}

void BlockContext::report_ordered(uint32_t warp, const Inst& in, AccessKind kind, unsigned bytes,
                                  uint32_t mask, const uint64_t* address, const std::byte* values) {
  OrderedAccess access;
  access.suspect = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    bool suspect = false;
    for (unsigned at = 0; at < bytes; at += 4)
      suspect |= launch_.memory->holds(address[l]) && suspects_->suspect(address[l] + at);
    access.suspect |= static_cast<uint32_t>(suspect) << l;
  }
  access.mask = in.order.strong ? mask : access.suspect;
  if (access.mask == 0) return;
  access.site = in.site;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.order = in.order;
  access.address = address;
  access.values = values;
  for (Observer* o : observers_) o->ordered(warp, access);
}

void BlockContext::report_fence(uint32_t warp, const Inst& in, uint32_t mask) {
  for (Observer* o : observers_) o->fence(warp, mask, in.order);
}

void BlockContext::report_bad_warp_op(uint32_t warp, const Inst& in, uint32_t mask, uint32_t bad) {
  for (Observer* o : observers_) o->bad_warp_op(warp, in.site, mask, bad);
}

void BlockContext::report_shuffle(uint32_t warp, const ShuffleEvent& shuffle) {
  for (Observer* o : shuffle_observers_) o->shuffle(warp, shuffle);
}

void BlockContext::report_engine(uint32_t warp, const EngineEvent& event) {
  for (Observer* o : raw_observers_) o->engine(warp, event);
}

void BlockContext::report_warp_barrier(uint32_t warp, uint32_t mask) {
  for (Observer* o : observers_) o->warp_barrier(warp, mask);
}

void BlockContext::report_mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key,
                                          bool completes) {
  for (Observer* o : observers_) o->mbarrier_arrive(warp, mask, key, completes);
}

void BlockContext::report_mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  for (Observer* o : observers_) o->mbarrier_wait(warp, mask, key);
}

void BlockContext::report_cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase,
                                         bool releases, bool completes) {
  for (Observer* o : observers_) o->cluster_arrive(warp, mask, phase, releases, completes);
}

void BlockContext::report_cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  for (Observer* o : observers_) o->cluster_wait(warp, mask, phase);
}

void BlockContext::own_lane_not_named(uint32_t warp, const Inst& in, uint32_t lanes,
                                      uint32_t member_mask) {
  // An H100 has all lanes that come together take part, whatever the mask says.
  if (as_on_a_gpu()) return;
  raise(in.site, lanes, FaultEvent::Kind::barrier, [&](int lane) {
    TrapFacts facts = this->facts(TrapReason::lane_not_named, warp, lane);
    facts.warp->lanes = lanes;
    facts.warp->mask = member_mask;
    facts.warp->lane = static_cast<uint32_t>(lane);
    return facts;
  });
}

}  // namespace lab32::sim
