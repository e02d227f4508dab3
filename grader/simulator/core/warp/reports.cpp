#include "simulator/core/warp/reports.h"

#include <algorithm>
#include <utility>

namespace lab32::sim {

ObserverNotifier::ObserverNotifier(const LaunchContext& launch, std::vector<Observer*> observers,
                                   const PossibleRaceDetector* suspects)
    : launch_(launch), observers_(std::move(observers)), suspects_(suspects) {
  for (Observer* o : observers_) {
    if (o->wants_accesses()) access_observers_.push_back(o);
    if (o->wants_shared_ptx_accesses()) raw_observers_.push_back(o);
    if (o->wants_shuffles()) shuffle_observers_.push_back(o);
    if (o->replaces_loaded_values()) chooser_ = o;
  }
}

// The lanes whose compare-and-swap of shared memory succeeds: the lowest lane of each bank,
// whichever words the other lanes access. 8-byte words occupy a pair of banks and are served
// half-warp by half-warp; in the upper half a lane fails if the lower half has just changed its
// word.
static uint32_t winning_cas_lane_of_each_bank(const uint64_t* address, unsigned bytes,
                                              uint32_t mask) {
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

// For each word, the lowest lane that accesses it.
static uint32_t first_lane_of_each_word(const uint64_t* address, uint32_t mask) {
  uint32_t first = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    bool seen = false;
    for (uint32_t f = first; f; f &= f - 1) seen |= address[__builtin_ctz(f)] == address[l];
    if (!seen) first |= 1u << l;
  }
  return first;
}

// The bytes of one element of an access of `bytes` bytes. A reduction of the copy engine is
// reported in pieces of several elements, so its element size is that of the instruction's type; 0:
// the instruction names no type.
static unsigned element_bytes_of(const ptx::Instruction& in, unsigned bytes) {
  if (in.op->traits.bulk && in.has(ptx::Modifier::reduce)) return ptx::bytes_of(in.type());
  return bytes / (in.has(ptx::Modifier::v4) ? 4 : in.has(ptx::Modifier::v2) ? 2 : 1);
}

void ObserverNotifier::access(uint32_t warp, const Inst& in, const WarpAccess& access) {
  if (access.kind != AccessKind::load && access.space != AccessSpace::local)
    stored_[warp] |= access.mask;
  if (access_observers_.empty()) return;
  // A GPU counts accesses to another block's memory separately (mem_dshared).
  const uint32_t remote = access.space == AccessSpace::shared ? access.mask & remote_ : 0;
  const uint32_t own = access.mask & ~remote;
  if (own != 0) report_lane_subset(warp, in, access, {own, remote, false});
  if (remote != 0) report_lane_subset(warp, in, access, {remote, own, true});
}

void ObserverNotifier::report_lane_subset(uint32_t warp, const Inst& in, const WarpAccess& whole,
                                          const AccessLaneSubset& part) {
  const uint32_t mask = part.mask;
  const uint64_t* const address = whole.address;
  IssuedWarpAccess access;
  access.site = in.site;
  access.space = whole.space;
  access.kind = whole.kind;
  access.bytes = static_cast<uint8_t>(whole.bytes);
  access.matrix = whole.matrix;
  access.mask = mask;
  access.address = address;
  access.peer = whole.peer;
  access.remote_lanes = part.remote ? 0 : part.others;
  access.bypass_l1 = whole.peer != nullptr && in.ptx->has(ptx::Modifier::cg);
  const AccessPlan& plan = launch_.program->plans[in.site];
  access.ptx_level = plan.unmatched.has_value();
  if (plan.unmatched) access.widest = static_cast<uint8_t>(plan.unmatched->widest);
  auto emit = [&] {
    for (Observer* o : access_observers_) {
      if (part.remote)
        o->remote_shared_access(warp, access, part.others == 0);
      else
        o->access(warp, access);
    }
  };
  if (plan.unmatched || whole.matrix || in.ptx->op->traits.fragments) return emit();
  alignas(64) uint64_t shifted[kWarpSize];
  for (const SassAccessOfPtxInstruction& issue : plan.issues) {
    if (issue.only && *issue.only != whole.space) continue;
    access.bytes = issue.bytes;
    // The access plan of a copy to shared memory describes the load from device memory. The other
    // side is a store.
    const bool stores_shared =
        whole.space == AccessSpace::shared && whole.kind == AccessKind::store;
    access.kind = stores_shared ? whole.kind : issue.kind;
    access.mask = mask;
    access.address = address;
    if (issue.offset != 0) {
      for (int l = 0; l < kWarpSize; ++l)
        shifted[l] = address[l] + static_cast<uint64_t>(static_cast<int64_t>(issue.offset));
      access.address = shifted;
    }
    access.form = issue.form;
    switch (issue.lanes) {
      case SassAccessOfPtxInstruction::Lanes::all:
        emit();
        break;
      case SassAccessOfPtxInstruction::Lanes::full_leader:
        if (mask != kFullMask) {
          emit();
          break;
        }
        [[fallthrough]];
      case SassAccessOfPtxInstruction::Lanes::leader:
        access.mask = mask & (~mask + 1);
        emit();
        break;
      case SassAccessOfPtxInstruction::Lanes::spin: {
        // In each round all lanes that have not succeeded load and try to swap.
        uint32_t rest = mask;
        while (rest) {
          access.mask = rest;
          access.kind = AccessKind::load;
          emit();
          access.kind = AccessKind::atom;
          emit();
          access.again = true;
          rest &= ~winning_cas_lane_of_each_bank(access.address, issue.bytes, rest);
        }
        access.again = false;
        break;
      }
      case SassAccessOfPtxInstruction::Lanes::narrow_cas_loop: {
        for (int l = 0; l < kWarpSize; ++l) shifted[l] = address[l] / issue.bytes * issue.bytes;
        access.address = shifted;
        access.kind = AccessKind::load;
        emit();
        access.kind = AccessKind::atom;
        for (uint32_t rest = mask; rest != 0; access.again = true) {
          access.mask = rest;
          emit();
          rest &= ~first_lane_of_each_word(shifted, rest);
        }
        access.again = false;
        break;
      }
    }
  }
}

void ObserverNotifier::texel_access(uint32_t warp, WarpTexelAccess access) {
  const AccessPlan& plan = launch_.program->plans[access.site];
  access.ptx_level = plan.unmatched.has_value();
  if (!plan.unmatched && plan.issues.empty()) return;  // ptxas removed the access
  for (Observer* o : access_observers_) o->texel_access(warp, access);
}

void ObserverNotifier::bulk_move(uint32_t warp, const ContiguousBulkMove& move) {
  for (Observer* o : access_observers_) o->bulk_move(warp, move);
}

void ObserverNotifier::strong_or_suspect_access(uint32_t warp, const Inst& in, AccessKind kind,
                                                unsigned bytes, uint32_t mask,
                                                const uint64_t* address, const std::byte* values) {
  StrongOrSuspectAccess access;
  access.suspect = suspects_ == nullptr && kind != AccessKind::load ? mask : 0;
  for (uint32_t r = suspects_ != nullptr ? mask : 0; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    bool suspect = false;
    for (unsigned at = 0; at < bytes; at += 4)
      suspect |=
          launch_.memory->is_in_used_range(address[l]) && suspects_->is_suspect(address[l] + at);
    access.suspect |= static_cast<uint32_t>(suspect) << l;
  }
  access.mask = in.order.strong ? mask : access.suspect;
  if (access.mask == 0) return;
  access.site = in.site;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.element = static_cast<uint8_t>(element_bytes_of(*in.ptx, bytes));
  access.order = in.order;
  access.address = address;
  access.values = values;
  for (Observer* o : observers_) o->strong_or_suspect_access(warp, access);
}

void ObserverNotifier::replace_loaded_values(uint32_t warp, const Inst& in, unsigned bytes,
                                             uint32_t mask, const uint64_t* address,
                                             std::byte* values) {
  StrongOrSuspectAccess access;
  access.site = in.site;
  access.kind = AccessKind::load;
  access.bytes = static_cast<uint8_t>(bytes);
  access.element = static_cast<uint8_t>(element_bytes_of(*in.ptx, bytes));
  access.order = in.order;
  access.mask = mask;
  access.suspect = 0;
  access.address = address;
  access.values = values;
  chooser_->replace_loaded_values(warp, access, values);
}

void ObserverNotifier::fence(uint32_t warp, const Inst& in, uint32_t mask) {
  for (Observer* o : observers_) o->fence(warp, mask, in.site, in.order);
}

void ObserverNotifier::shuffle(uint32_t warp, const ShuffleEvent& shuffle) {
  for (Observer* o : shuffle_observers_) o->shuffle(warp, shuffle);
}

void ObserverNotifier::copy_engine_event(uint32_t warp, const CopyEngineEvent& event) {
  for (Observer* o : raw_observers_) o->copy_engine_event(warp, event);
}

void ObserverNotifier::warp_barrier(uint32_t warp, uint32_t mask) {
  for (Observer* o : observers_) o->warp_barrier(warp, mask);
}

void ObserverNotifier::mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) {
  for (Observer* o : observers_) o->mbarrier_arrive(warp, mask, key, completes);
}

void ObserverNotifier::mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) {
  for (Observer* o : observers_) o->mbarrier_wait(warp, mask, key);
}

void ObserverNotifier::cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                                      bool completes) {
  for (Observer* o : observers_) o->cluster_arrive(warp, mask, phase, releases, completes);
}

void ObserverNotifier::cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) {
  for (Observer* o : observers_) o->cluster_wait(warp, mask, phase);
}

}  // namespace lab32::sim
