#include "simulator/core/warp/access_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "simulator/ptx/pointer_origin.h"

namespace lab32::sim {

FaultTrapOrEventRaiser::FaultTrapOrEventRaiser(const LaunchContext& launch, const BlockInfo& info,
                                               const ObserverNotifier& reports)
    : launch_(launch), info_(info), reports_(reports) {
  if (launch_.keep_going) reported_.resize(launch_.program->sites.size());
}

BlockAndThreadIndex FaultTrapOrEventRaiser::thread_id(uint32_t warp, int lane) const {
  const Dim3& b = launch_.block;
  const uint32_t t = warp * kWarpSize + static_cast<uint32_t>(lane);
  return {{info_.x, info_.y, info_.z}, {t % b.x, t / b.x % b.y, t / b.x / b.y}};
}

TrapFacts FaultTrapOrEventRaiser::facts(TrapReason reason, uint32_t warp) const {
  TrapFacts facts;
  facts.reason = reason;
  facts.block = info_.index;
  facts.warp.emplace().warp = warp;
  return facts;
}

TrapFacts FaultTrapOrEventRaiser::facts(TrapReason reason, uint32_t warp, int lane) const {
  TrapFacts facts = this->facts(reason, warp);
  facts.thread = thread_id(warp, lane);
  return facts;
}

TrapFacts FaultTrapOrEventRaiser::facts_of_access(uint32_t warp, int lane, AccessSpace space,
                                                  AccessUse use, unsigned bytes) const {
  TrapFacts facts = this->facts(TrapReason::past_end, warp, lane);
  FaultyMemoryAccess& access = facts.access.emplace();
  access.space = space;
  access.use = use;
  access.bytes = bytes;
  return facts;
}

void FaultTrapOrEventRaiser::trap_or_report(uint32_t site, uint32_t lanes, FaultEvent::Kind kind,
                                            const std::function<TrapFacts(int)>& facts) {
  const int first = __builtin_ctz(lanes);
  if (launch_.note_uninitialised && kind == FaultEvent::Kind::uninitialised) {
    if (!first_uninitialised_) first_uninitialised_ = Trap{facts(first), site};
    return;
  }
  if (!launch_.keep_going) throw Trap{facts(first), site};
  FaultEvent fault{kind, site, static_cast<uint32_t>(__builtin_popcount(lanes)), std::nullopt};
  const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
  // Only the first fault of each site and kind gets facts: computing them costs more than the
  // access, and no more are shown.
  if ((reported_[site] & bit) == 0) {
    reported_[site] |= bit;
    fault.facts = facts(first);
    if (kind == FaultEvent::Kind::memory && !first_bad_access_)
      first_bad_access_ = Trap{*fault.facts, site};
  }
  for (Observer* o : reports_.observers()) o->fault(fault);
}

void FaultTrapOrEventRaiser::report_undefined_use(const UndefinedOrigin& origin, ValueUse use,
                                                  uint32_t lanes) {
  TrapFacts facts = origin.facts;
  if (facts.reason == TrapReason::lane_missing) {  // the value came from a shuffle
    for (Observer* o : reports_.observers())
      o->missing_lanes_used(facts.warp->warp, origin.site, facts.warp->mask,
                            static_cast<uint32_t>(facts.value));
    return;
  }
  facts.used_as = use;
  if (facts.access->space != AccessSpace::shared) {
    trap_or_report(origin.site, lanes, FaultEvent::Kind::uninitialised, [&](int) { return facts; });
    return;
  }
  // This never ends a launch: race detection also knows the read and can tell whether a race with a
  // store explains it.
  FaultEvent event{FaultEvent::Kind::shared_value, origin.site,
                   static_cast<uint32_t>(__builtin_popcount(lanes)), std::nullopt};
  event.used_as = use;
  for (Observer* o : reports_.observers()) o->fault(event);
}

AccessChecks::AccessChecks(const AccessCheckDependencies& block)
    : launch_(block.launch),
      info_(block.info),
      shared_(block.shared),
      reports_(block.reports),
      faults_(block.faults),
      tally_(block.tally),
      guard_(block.guard),
      cluster_(block.shared.cluster()),
      checks_reads_(block.launch.checks_reads()) {}

namespace {

// Whether the access does not race with other accesses of this kind, by any block.
bool is_race_free(const ptx::MemoryOrder& order, AccessUse use) {
  return order.strong && order.scope != ptx::Scope::block &&
         !(order.is_volatile && use == AccessUse::write);
}

}  // namespace

std::byte* AccessChecks::check_global(uint32_t warp, const Inst& in, uint64_t* address,
                                      uint32_t mask, unsigned bytes, Use use, uint8_t operation) {
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
  RecentAllocation& recent = recent_[in.site % recent_.size()];
  Allocation *const before = recent.site == in.site ? recent.allocation : nullptr,
                    *a = recent.allocation;
  if (!a || low < a->begin || low >= a->end) a = memory.find(low);
  // The test is not high + bytes > end, because that sum wraps for a very high wild address.
  if (!a || a->freed || !memory.can_access(*a) || low < a->begin || high > a->end - bytes ||
      (bits & (bytes - 1)) != 0 || (use != Use::read && a->read_only) ||
      !a->permits(low, high + bytes - low, use != Use::read)) {
    // The lanes access different allocations, or some access is faulty, so each lane is checked.
    // The array that the program means is that of the first valid lane, because later lanes may
    // have run into the next array.
    uint32_t wrong = 0;
    const Allocation* meant = nullptr;
    for (uint32_t r = mask; r; r &= r - 1) {
      const uint64_t at = address[__builtin_ctz(r)];
      const Allocation* own = memory.find(at);
      if (!own || own->freed || !memory.can_access(*own) || at + bytes > own->end ||
          (at & (bytes - 1)) != 0 || (use != Use::read && own->read_only) ||
          !own->permits(at, bytes, use != Use::read))
        wrong |= r & (~r + 1);
      else if (meant == nullptr)
        meant = own;
    }
    if (wrong)
      report_bad_global_access(warp, in, address, wrong, bytes, use, meant ? meant : before);
    for (uint32_t r = mask & ~wrong; r; r &= r - 1)
      check_global(warp, in, address, r & (~r + 1), bytes, use, operation);
    return memory.host(0);
  }
  recent = {in.site, a};
  if (a->reached_by != nullptr && a->device != memory.device()) ++tally_[in.site].peer;
  // The guard is told first, because the bits of written bytes may depend on the order of the
  // blocks, too.
  if (guard_) {
    const SerialEquivalenceRollback::AccessingWarp by{{info_.index, epoch_, warp},
                                                      is_race_free(in.order, use)};
    switch (use) {
      case Use::read:
        guard_->record_read(*a, address, mask, bytes, by);
        break;
      case Use::write:
        guard_->record_write(*a, address, mask, bytes, by);
        break;
      case Use::update:
        guard_->record_update(*a, operation, address, mask, bytes, by);
        break;
    }
  }
  if (use != Use::write && !a->initialised && checks_reads_) {
    uint32_t unwritten = 0;
    for (uint32_t r = mask; r; r &= r - 1)
      if (!memory.is_written(address[__builtin_ctz(r)], bytes)) unwritten |= r & (~r + 1);
    if (use == Use::read || in.ptx->has(ptx::Modifier::exch))
      unwritten_ |= unwritten;
    else if (unwritten)
      report_unwritten_global_update(warp, in, address, unwritten, bytes);
  }
  if (use == Use::write && !a->initialised) memory.mark_lanes_written(address, mask, bytes);
  if (use != Use::read && !guard_ && a->pristine) a->pristine = false;
  return memory.host(0);
}

std::byte* AccessChecks::try_check_global_strided(uint32_t warp, const Inst& in,
                                                  const StridedHalfWarpPair& row, unsigned bytes,
                                                  Use use) {
  Memory& memory = *launch_.memory;
  const uint64_t beyond_first = (kWarpSize / 2 - 1) * row.stride;
  const uint64_t low = std::min(row.first[0], row.first[1]),
                 high = std::max(row.first[0], row.first[1]) + beyond_first;
  RecentAllocation& recent = recent_[in.site % recent_.size()];
  Allocation* const a = recent.allocation;
  if (!a || low < a->begin || low > high || high >= a->end || high > a->end - bytes ||
      ((row.first[0] | row.first[1]) & (bytes - 1)) != 0 || a->freed || a->reached_by != nullptr ||
      (use == Use::read ? !a->initialised && checks_reads_ : a->read_only) ||
      !a->permits(low, high + bytes - low, use != Use::read))
    return nullptr;
  recent.site = in.site;
  if (guard_ && (use == Use::write || !guard_->may_read(*a))) {
    const SerialEquivalenceRollback::AccessingWarp by{{info_.index, epoch_, warp},
                                                      is_race_free(in.order, use)};
    if (use == Use::read)
      guard_->record_strided_read(*a, row, bytes, by);
    else
      guard_->record_strided_write(*a, row, bytes, by);
  }
  if (use == Use::write) {
    if (!a->initialised) {
      memory.mark_span_written(row.first[0], row.first[0] + beyond_first + bytes);
      memory.mark_span_written(row.first[1], row.first[1] + beyond_first + bytes);
    }
    if (!guard_ && a->pristine) a->pristine = false;
  }
  return memory.host(0);
}

void AccessChecks::check_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                                unsigned bytes, Use use) {
  if (cluster_ != nullptr) return check_cluster_shared(warp, in, offset, mask, bytes, use);
  const SharedMemory::InstructionAccessBounds range = shared_.accessible_range_of(in);
  const uint64_t size = range.end - range.begin;
  uint64_t high = 0, bits = 0;
  if (mask == kFullMask && size >= bytes) {  // the sign bit shows lanes that are out of bounds
    uint64_t beyond = 0;
    for (int l = 0; l < kWarpSize; ++l) {
      const uint64_t at = offset[l] - range.begin;
      beyond |= (size - bytes - at) | at;
      bits |= offset[l];
    }
    if (beyond >> 63 == 0 && (bits & (bytes - 1)) == 0) return;
  }
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    high = std::max(high, at - range.begin);
    bits |= at;
  }
  if (high <= size && high + bytes <= size && (bits & (bytes - 1)) == 0) return;
  report_bad_shared_access(warp, in, offset, mask, bytes, use);
}

// ---------------------------------------------------------------------------------------------
// Device memory

constexpr uint64_t kNullPage = 4096;  // an address below this one is computed from a null pointer

const Allocation* AccessChecks::allocation_of_pointer(uint32_t site) const {
  const Memory& memory = *launch_.memory;
  const InstructionSite& at = launch_.program->sites[site];
  const ptx::Function& function = *launch_.program->functions[at.function].ptx;
  const Allocation* found = nullptr;
  for (const uint32_t offset : ptx::address_origin_param_offsets(function, *at.ptx)) {
    uint64_t value = 0;
    if (offset + sizeof value > launch_.program->param_bytes) continue;
    std::memcpy(&value, memory.host(launch_.param_address + offset), sizeof value);
    const Allocation* array = memory.find_touching(value);
    if (found && array && array != found) return nullptr;
    if (array) found = array;
  }
  return found;
}

TrapFacts AccessChecks::facts_of_global_access(uint32_t site, uint32_t warp, int lane, uint64_t at,
                                               unsigned bytes, Use use,
                                               const Allocation* meant) const {
  const Memory& memory = *launch_.memory;
  TrapFacts facts = faults_.facts_of_access(warp, lane, AccessSpace::global, use, bytes);
  FaultyMemoryAccess& access = *facts.access;
  access.address = at;
  const auto lies_in = [&](const Allocation& a, TrapReason reason) {
    access.object = a.name;
    access.offset = static_cast<int64_t>(at - a.begin);
    access.size = a.end - a.begin;
    facts.reason = reason;
    return facts;
  };
  const auto outside = [&](const Allocation& array) {
    return lies_in(array, at >= array.begin ? TrapReason::past_end : TrapReason::before_start);
  };
  const Allocation* a = memory.find(at);
  const Allocation* array = at < kNullPage ? nullptr : allocation_of_pointer(site);
  if (array && array != a)
    return array->freed ? lies_in(*array, TrapReason::freed) : outside(*array);
  if (a && !a->freed && !memory.can_access(*a)) return lies_in(*a, TrapReason::not_enabled);
  if (a && !a->freed && at + bytes <= a->end) {
    if (!a->permits(at, bytes, use != Use::read)) return lies_in(*a, TrapReason::not_mapped);
    if (at % bytes != 0) return lies_in(*a, TrapReason::misaligned);
    return lies_in(
        *a, use != Use::read && a->read_only ? TrapReason::read_only : TrapReason::unwritten);
  }
  if (a && a->freed) return lies_in(*a, TrapReason::freed);
  facts.reason = at < kNullPage ? TrapReason::null_pointer : TrapReason::no_such_memory;
  if (at < kGlobalBase || at >= kGlobalBase + memory.used() + (64u << 20)) return facts;
  const Allocation* near = meant && !meant->freed ? meant : memory.nearest_allocation(at);
  return near ? outside(*near) : facts;
}

void AccessChecks::report_bad_global_access(uint32_t warp, const Inst& in, uint64_t* address,
                                            uint32_t lanes, unsigned bytes, Use use,
                                            const Allocation* meant) {
  // In a launch that keeps going, the contents of a lane's sink and the first fault must not depend
  // on the number of host threads.
  if (launch_.keep_going && runs_in_parallel()) throw OrderMatters{};
  faults_.trap_or_report(in.site, lanes, FaultEvent::Kind::memory, [&](int l) {
    return facts_of_global_access(in.site, warp, l, address[l], bytes, use, meant);
  });
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    address[l] = kGlobalBase + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(launch_.memory->host(address[l]), 0xff, kSinkBytes);
  }
}
static_assert(kWarpSize * 16 <= kMemoryStart, "the sinks lie before the first allocation");

// Reports atomics on memory that was never written. An atomic reads the value that it updates.
void AccessChecks::report_unwritten_global_update(uint32_t warp, const Inst& in,
                                                  const uint64_t* address, uint32_t lanes,
                                                  unsigned bytes) {
  faults_.trap_or_report(in.site, lanes, FaultEvent::Kind::uninitialised, [&](int l) {
    return facts_of_global_access(in.site, warp, l, address[l], bytes, Use::update, nullptr);
  });
  // The atomic has written the bytes, so the next read is not reported again.
  launch_.memory->mark_lanes_written(address, lanes, bytes);
}

// ---------------------------------------------------------------------------------------------
// Undefined values

TrapFacts AccessChecks::facts_of_unwritten_read(uint32_t site, uint32_t warp, int lane,
                                                AccessSpace space, uint64_t at,
                                                unsigned bytes) const {
  if (space == AccessSpace::global)
    return facts_of_global_access(site, warp, lane, at, bytes, Use::read, nullptr);
  TrapFacts facts = faults_.facts_of_access(warp, lane, space, Use::read, bytes);
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

// ---------------------------------------------------------------------------------------------
// Shared memory

bool AccessChecks::is_in_accessible_shared(const Inst& in, uint64_t offset, unsigned bytes) const {
  const SharedMemory::InstructionAccessBounds range = shared_.accessible_range_of(in);
  if (range.begin <= offset && offset <= range.end && offset + bytes <= range.end) return true;
  if (range.end != launch_.own_shared_bytes) return false;
  const bool reserved = launch_.reserves_shared() && offset >= launch_.reserved_at() &&
                        offset + bytes <= launch_.shared_bytes;
  if (reserved && launch_.looks_for_races)
    throw Error(fmt::format(
        "`{}` has tiles of more than 32 threads: their barriers lie in reserved shared memory, and "
        "what they order is not known to the race check; without it, they run",
        demangle(launch_.program->functions[0].ptx->name)));
  return reserved;
}

// The variable from which the instruction's address is computed; null: unknown.
const SharedVariable* AccessChecks::shared_variable_of(const Inst& in) const {
  if (in.shared_end == Inst::kAllShared) return nullptr;
  for (const SharedVariable& v : launch_.program->shared)
    if (v.offset == in.shared_begin && v.offset + v.bytes == in.shared_end) return &v;
  return nullptr;
}

TrapFacts AccessChecks::facts_of_shared_access(uint32_t warp, int lane, uint64_t offset,
                                               unsigned bytes, Use use, const Inst& in) const {
  TrapFacts facts = faults_.facts_of_access(warp, lane, AccessSpace::shared, use, bytes);
  FaultyMemoryAccess& access = *facts.access;
  access.size = launch_.own_shared_bytes;
  if (cluster_ != nullptr) {
    // An address before the start of a block's memory is close to the end of the preceding window.
    const uint64_t nearest = (offset + kBlockWindow / 2) >> kRankShift;
    access.offset = static_cast<int64_t>(offset - (nearest << kRankShift));
    facts.limit = cluster_->blocks();
    facts.value = nearest & 0xff;
    access.rank = static_cast<uint32_t>(facts.value);
    if (access.rank == info_.rank) access.rank = FaultyMemoryAccess::kOwnBlock;
  } else {
    // Addresses of 32 bits wrap: an address before the start is close to 2^32.
    access.offset = offset >> 32 == 0 ? static_cast<int32_t>(static_cast<uint32_t>(offset))
                                      : static_cast<int64_t>(offset);
  }
  if (const SharedVariable* variable = shared_variable_of(in);
      variable != nullptr && !is_in_accessible_shared(in, offset_in_block(offset), bytes)) {
    access.object = variable->name;
    access.offset -= variable->offset;
    access.size = variable->bytes;
  }
  const bool inside =
      access.offset >= 0 && static_cast<uint64_t>(access.offset) + bytes <= access.size;
  facts.reason = inside              ? TrapReason::misaligned
                 : access.size == 0  ? TrapReason::no_such_memory
                 : access.offset < 0 ? TrapReason::before_start
                                     : TrapReason::past_end;
  return facts;
}

std::optional<TrapReason> AccessChecks::cluster_access_fault(const Inst& in, uint64_t address,
                                                             unsigned bytes) const {
  const uint64_t rank = rank_of(address), at = offset_in_block(address);
  const bool own = rank == info_.rank;
  // The offset is bad, in the block's own memory or in that of another existing block.
  if (!is_in_accessible_shared(in, at, bytes) || at % bytes != 0) {
    const uint64_t nearest = (address + kBlockWindow / 2) >> kRankShift & 0xff;
    return nearest < cluster_->blocks() ? TrapReason::past_end : TrapReason::no_such_block;
  }
  if (own) return std::nullopt;
  if (rank >= cluster_->blocks()) return TrapReason::no_such_block;
  const bool of_own = in.ptx->has(ptx::Modifier::shared) || in.ptx->has(ptx::Modifier::shared_cta);
  if (of_own && !in.ptx->has(ptx::Modifier::shared_cluster)) return TrapReason::not_own_block;
  if ((cluster_->exited() >> rank & 1) != 0) return TrapReason::block_exited;
  return std::nullopt;
}

void AccessChecks::check_cluster_shared(uint32_t warp, const Inst& in, uint64_t* offset,
                                        uint32_t mask, unsigned bytes, Use use) {
  uint32_t wrong = 0, remote = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    if (cluster_access_fault(in, at, bytes)) wrong |= r & (~r + 1);
    if (rank_of(at) != info_.rank) remote |= r & (~r + 1);
  }
  reports_.set_remote(remote & ~wrong);
  if (wrong != 0) report_bad_shared_access(warp, in, offset, wrong, bytes, use);
}

void AccessChecks::report_bad_shared_access(uint32_t warp, const Inst& in, uint64_t* offset,
                                            uint32_t mask, unsigned bytes, Use use) {
  uint32_t wrong = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t at = offset[__builtin_ctz(r)];
    const bool is_wrong = cluster_ != nullptr
                              ? cluster_access_fault(in, at, bytes).has_value()
                              : !is_in_accessible_shared(in, at, bytes) || at % bytes != 0;
    if (is_wrong) wrong |= r & (~r + 1);
  }
  if (wrong == 0) return;
  faults_.trap_or_report(in.site, wrong, FaultEvent::Kind::memory, [&](int l) {
    TrapFacts facts = facts_of_shared_access(warp, l, offset[l], bytes, use, in);
    if (cluster_ != nullptr) {
      const TrapReason reason = *cluster_access_fault(in, offset[l], bytes);
      if (reason != TrapReason::past_end) facts.reason = reason;
    }
    return facts;
  });
  for (uint32_t r = wrong; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    offset[l] = shared_.fault_sink_offset() + static_cast<uint64_t>(l) * kSinkBytes;
    std::memset(shared_.bytes() + offset[l], 0xff, kSinkBytes);
  }
}

}  // namespace lab32::sim
