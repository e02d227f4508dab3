// What is wrong with an access, and what then: a trap, or, in a launch that keeps going,
// word to the observers and another place for the access.
#include <cstring>

#include "simulator/core/warp/block_context.h"

namespace lab32::sim {
TrapFacts BlockContext::facts_of_access(uint32_t warp, int lane, AccessSpace space, Use use,
                                        unsigned bytes) const {
  TrapFacts facts = this->facts(TrapReason::past_end, warp, lane);
  MemoryAccess& access = facts.access.emplace();
  access.space = space;
  access.use = use;
  access.bytes = bytes;
  return facts;
}

void BlockContext::raise(uint32_t site, uint32_t lanes, FaultEvent::Kind kind,
                         const std::function<TrapFacts(int)>& facts) {
  const int first = __builtin_ctz(lanes);
  if (!launch_.keep_going) throw Trap{facts(first), site};
  FaultEvent fault{kind, site, static_cast<uint32_t>(__builtin_popcount(lanes)), std::nullopt};
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
  // Facts cost more than the access, and only the first are shown.
  if ((told_[site] & bit) == 0) {
    told_[site] |= bit;
    fault.facts = facts(first);
    if (kind == FaultEvent::Kind::memory && !first_bad_access_)
      first_bad_access_ = Trap{*fault.facts, site};
  }
  for (Observer* o : observers_) o->fault(fault);
}

// ---------------------------------------------------------------------------------------------
// Device memory

TrapFacts BlockContext::facts_of_global(uint32_t warp, int lane, uint64_t at, unsigned bytes,
                                        Use use, const Allocation* meant) const {
  const Memory& memory = *launch_.memory;
  TrapFacts facts = facts_of_access(warp, lane, AccessSpace::global, use, bytes);
  MemoryAccess& access = *facts.access;
  access.address = at;
  const auto lies_in = [&](const Allocation& a, TrapReason reason) {
    access.object = a.name;
    access.offset = static_cast<int64_t>(at - a.begin);
    access.size = a.end - a.begin;
    facts.reason = reason;
    return facts;
  };
  const Allocation* a = memory.find(at);
  if (a && !a->freed && !memory.reaches(*a)) return lies_in(*a, TrapReason::not_enabled);
  if (a && !a->freed && at + bytes <= a->end) {
    if (!a->lets(at, bytes, use != Use::read)) return lies_in(*a, TrapReason::not_mapped);
    if (at % bytes != 0) return lies_in(*a, TrapReason::misaligned);
    return lies_in(
        *a, use != Use::read && a->read_only ? TrapReason::read_only : TrapReason::unwritten);
  }
  if (a && a->freed) return lies_in(*a, TrapReason::freed);
  facts.reason = at < 4096 ? TrapReason::null_pointer : TrapReason::no_such_memory;
  if (at < kGlobalBase || at >= kGlobalBase + memory.used() + (64u << 20)) return facts;
  const Allocation* near = meant && !meant->freed ? meant : memory.nearest(at);
  if (near)
    return lies_in(*near, at >= near->begin ? TrapReason::past_end : TrapReason::before_start);
  return facts;
}

void BlockContext::bad_global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t lanes,
                              unsigned bytes, Use use, const Allocation* meant) {
  // What lies in a lane's sink, and which fault is the first, must not depend on host threads.
  if (launch_.keep_going && parallel()) throw OrderMatters{};
  raise(in.site, lanes, FaultEvent::Kind::memory,
        [&](int l) { return facts_of_global(warp, l, address[l], bytes, use, meant); });
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    address[l] = kGlobalBase + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(launch_.memory->host(address[l]), 0xff, kSinkBytes);
  }
}
static_assert(kWarpSize * 16 <= kMemoryStart, "the sinks lie before the first allocation");

// An atomic reads what it updates.
void BlockContext::unwritten_global(uint32_t warp, const Inst& in, const uint64_t* address,
                                    uint32_t lanes, unsigned bytes) {
  raise(in.site, lanes, FaultEvent::Kind::uninitialised,
        [&](int l) { return facts_of_global(warp, l, address[l], bytes, Use::update, nullptr); });
  // It has written by now; the next one shall not be told again.
  launch_.memory->mark_lanes(address, lanes, bytes);
}

// ---------------------------------------------------------------------------------------------
// Values that nobody has defined

TrapFacts BlockContext::facts_of_unwritten(uint32_t warp, int lane, AccessSpace space, uint64_t at,
                                           unsigned bytes) const {
  if (space == AccessSpace::global)
    return facts_of_global(warp, lane, at, bytes, Use::read, nullptr);
  TrapFacts facts = facts_of_access(warp, lane, space, Use::read, bytes);
  facts.reason = TrapReason::unwritten;
  facts.access->offset = static_cast<int64_t>(at);
  if (space == AccessSpace::shared) {
    facts.access->size = launch_.shared_bytes;
    if (cluster_ != nullptr && rank_of(at) != info_.rank)
      facts.access->rank = static_cast<uint32_t>(rank_of(at));
    if (cluster_ != nullptr) facts.access->offset = static_cast<int64_t>(offset_in_block(at));
  }
  return facts;
}

void BlockContext::value_matters(const Origin& origin, ValueUse use, uint32_t lanes) {
  TrapFacts facts = origin.facts;
  facts.used_as = use;
  if (facts.access->space != AccessSpace::shared) {
    raise(origin.site, lanes, FaultEvent::Kind::uninitialised, [&](int) { return facts; });
    return;
  }
  // Never the end of a launch: those who look for races know the read, and whether a race with a
  // store is the whole story.
  FaultEvent event{FaultEvent::Kind::shared_value, origin.site,
                   static_cast<uint32_t>(__builtin_popcount(lanes)), std::nullopt};
  event.used_as = use;
  for (Observer* o : observers_) o->fault(event);
}

// ---------------------------------------------------------------------------------------------
// Shared memory

TrapFacts BlockContext::facts_of_shared(uint32_t warp, int lane, uint64_t offset, unsigned bytes,
                                        Use use) const {
  TrapFacts facts = facts_of_access(warp, lane, AccessSpace::shared, use, bytes);
  MemoryAccess& access = *facts.access;
  access.size = launch_.shared_bytes;
  if (cluster_ != nullptr) {
    // What lies before the start of a block's memory comes out close to the end of the window
    // before it.
    const uint64_t nearest = (offset + kBlockWindow / 2) >> kRankShift;
    access.offset = static_cast<int64_t>(offset - (nearest << kRankShift));
    facts.limit = cluster_->blocks();
    facts.value = nearest & 0xff;
    access.rank = static_cast<uint32_t>(facts.value);
    if (access.rank == info_.rank) access.rank = MemoryAccess::kOwn;
  } else {
    // Addresses of 32 bits wrap: what lies before the start comes out close to 2^32.
    access.offset = offset >> 32 == 0 ? static_cast<int32_t>(static_cast<uint32_t>(offset))
                                      : static_cast<int64_t>(offset);
  }
  const bool inside =
      access.offset >= 0 && static_cast<uint64_t>(access.offset) + bytes <= access.size;
  facts.reason = inside              ? TrapReason::misaligned
                 : access.size == 0  ? TrapReason::no_such_memory
                 : access.offset < 0 ? TrapReason::before_start
                                     : TrapReason::past_end;
  return facts;
}

std::optional<TrapReason> BlockContext::wrong_in_cluster(const Inst& in, uint64_t address,
                                                         unsigned bytes) const {
  const uint64_t rank = rank_of(address), at = offset_in_block(address);
  const bool own = rank == info_.rank;
  // A bad offset of one's own, or of a block's that is there.
  if (at + bytes > launch_.shared_bytes || at % bytes != 0) {
    const uint64_t nearest = (address + kBlockWindow / 2) >> kRankShift & 0xff;
    return nearest < cluster_->blocks() ? TrapReason::past_end : TrapReason::no_such_block;
  }
  if (own) return std::nullopt;
  if (rank >= cluster_->blocks()) return TrapReason::no_such_block;
  const bool of_own = in.ptx->has(ptx::Mod::shared) || in.ptx->has(ptx::Mod::shared_cta);
  if (of_own && !in.ptx->has(ptx::Mod::shared_cluster)) return TrapReason::not_own_block;
  if ((cluster_->exited() >> rank & 1) != 0) return TrapReason::block_exited;
  return std::nullopt;
}

void BlockContext::check_cluster_shared(uint32_t warp, const Inst& in, uint64_t* offset,
                                        uint32_t mask, unsigned bytes, Use use) {
  uint32_t wrong = 0;
  remote_ = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    if (wrong_in_cluster(in, at, bytes)) wrong |= r & (~r + 1);
    if (rank_of(at) != info_.rank) remote_ |= r & (~r + 1);
  }
  remote_ &= ~wrong;
  if (wrong != 0) bad_shared(warp, in, offset, wrong, bytes, use);
}

void BlockContext::bad_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                              unsigned bytes, Use use) {
  const uint64_t size = launch_.shared_bytes;
  uint32_t wrong = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    const bool is_wrong = cluster_ != nullptr ? wrong_in_cluster(in, at, bytes).has_value()
                                              : at > size || at + bytes > size || at % bytes != 0;
    if (is_wrong) wrong |= r & (~r + 1);
  }
  raise(in.site, wrong, FaultEvent::Kind::memory, [&](int l) {
    TrapFacts facts = facts_of_shared(warp, l, offset[l], bytes, use);
    if (cluster_ != nullptr) {
      const TrapReason reason = *wrong_in_cluster(in, offset[l], bytes);
      if (reason != TrapReason::past_end) facts.reason = reason;
    }
    return facts;
  });
  for (uint32_t r = wrong; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    offset[l] = shared_sink() + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(shared() + offset[l], 0xff, kSinkBytes);
  }
}

}  // namespace lab32::sim
