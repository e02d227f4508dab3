// mbarrier: barriers that are objects in shared memory (PTX ISA, "mbarrier"). Threads arrive, which
// never blocks, and test whether a phase is complete.
//
// The object is opaque to programs. Here it consists of the pending arrivals of this phase (20
// bits), the expected arrivals of a phase (20 bits), the pending bytes (21 bits, signed), and the
// lowest bits of the phase's number. An arrival returns the previous value of the object.
#include <cstdlib>
#include <cstring>

#include "simulator/core/isa/bulk_copy.h"
#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {
namespace {

using ptx::Modifier;

constexpr uint64_t kCount = (1u << 20) - 1;  // the ISA's limit of a count, too
constexpr int kExpected = 20, kBytes = 40, kPhase = 61;
constexpr int64_t kMostBytes = (1 << 20) - 1;  // the ISA's range
constexpr uint64_t kBytesMask = (1u << 21) - 1;

uint64_t pending(uint64_t mbarrier_word) { return mbarrier_word & kCount; }
uint64_t expected(uint64_t mbarrier_word) { return mbarrier_word >> kExpected & kCount; }
uint64_t phase(uint64_t mbarrier_word) { return mbarrier_word >> kPhase; }
int64_t pending_bytes(uint64_t mbarrier_word) {
  const auto bits = static_cast<int64_t>(mbarrier_word >> kBytes & kBytesMask);
  return bits > kMostBytes ? bits - (int64_t{1} << 21) : bits;
}
uint64_t pack_mbarrier_state(uint64_t phase, uint64_t expected, uint64_t pending,
                             int64_t bytes = 0) {
  return phase << kPhase | (static_cast<uint64_t>(bytes) & kBytesMask) << kBytes |
         expected << kExpected | pending;
}

// Fills x.warp->address with checked offsets in shared memory.
void compute_checked_mbarrier_addresses(const ExecContext& x, const Inst& in, AccessUse use) {
  Warp& w = *x.warp;
  lane_addresses(x, in.mem_base, in.mem_offset, w.address);
  if (space_of(*in.ptx) != ptx::Space::shared)
    for (int l = 0; l < kWarpSize; ++l) w.address[l] -= kSharedBase;
  w.block().accesses().check_shared(w.index(), in, w.address, x.mask, 8, use);
}

template <class F>
void for_each_mbarrier(const ExecContext& x, F f) {
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    f(l, x.warp->block().shared().bytes() + x.warp->address[l]);
  }
}

[[noreturn]] void trap_barrier(const ExecContext& x, const Inst& in, int lane, TrapReason reason,
                               uint64_t count, uint64_t limit) {
  TrapFacts facts = x.warp->facts(reason, lane);
  facts.value = count;
  facts.limit = limit;
  x.warp->trap(in, std::move(facts));
}

void initialise_mbarrier(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::write);
  if (x.warp->block().checks_reads())
    x.warp->mark_defined(AccessSpace::shared, x.warp->address, x.mask, 8);
  for_each_mbarrier(x, [&](int l, std::byte* at) {
    const uint64_t count = load_lane<uint32_t>(x.regs + in.src[0].offset, l);
    if (count == 0 || count > kCount)
      trap_barrier(x, in, l, TrapReason::mbarrier_count, count, kCount);
    store_lane<uint64_t>(at, 0, pack_mbarrier_state(0, count, count));
  });
}

void invalidate_mbarrier(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::write);
  for_each_mbarrier(x, [](int, std::byte* at) { store_lane(at, 0, ~uint64_t{0}); });
}

// Completes the phase if no arrivals and no bytes are pending.
bool try_complete_phase(std::byte* at) {
  const uint64_t object = load_lane<uint64_t>(at, 0);
  if (pending(object) != 0 || pending_bytes(object) != 0) return false;
  store_lane(at, 0, pack_mbarrier_state(phase(object) + 1, expected(object), expected(object)));
  return true;
}

// Arrives `count` times. arrive_drop also removes the arrivals from the expected count of later
// phases.
void apply_mbarrier_arrivals(const ExecContext& x, const Inst& in, int l, std::byte* at,
                             uint64_t count) {
  uint64_t object = load_lane<uint64_t>(at, 0);
  if (count > pending(object))
    trap_barrier(x, in, l, TrapReason::mbarrier_arrivals, count, pending(object));
  if (in.ptx->has(Modifier::arrive_drop)) object -= count << kExpected;
  if (in.ptx->has(Modifier::no_complete) && count == pending(object) && pending_bytes(object) == 0)
    trap_barrier(x, in, l, TrapReason::mbarrier_completed, count, 0);
  store_lane(at, 0, object - count);
  const bool completes = try_complete_phase(at);
  x.warp->block().reports().mbarrier_arrive(x.warp->index(), 1u << l, x.warp->address[l],
                                            completes);
}

void expect_bytes(const ExecContext& x, const Inst& in, int l, std::byte* at, int64_t more) {
  const uint64_t object = load_lane<uint64_t>(at, 0);
  const int64_t bytes = pending_bytes(object) + more;
  if (bytes > kMostBytes || bytes < -kMostBytes)
    trap_barrier(x, in, l, TrapReason::mbarrier_bytes, static_cast<uint64_t>(std::abs(bytes)),
                 kMostBytes);
  store_lane(at, 0, pack_mbarrier_state(phase(object), expected(object), pending(object), bytes));
}

// arrive.expect_tx: first expects bytes, then arrives.
void arrive_and_expect_bytes(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::update);
  for_each_mbarrier(x, [&](int l, std::byte* at) {
    if (in.dst[0].bytes != 0) store_lane(x.regs + in.dst[0].offset, l, load_lane<uint64_t>(at, 0));
    expect_bytes(x, in, l, at, load_lane<uint32_t>(x.regs + in.src[0].offset, l));
    apply_mbarrier_arrivals(x, in, l, at, 1);
  });
}

void change_pending_bytes(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::update);
  for_each_mbarrier(x, [&](int l, std::byte* at) {
    const int64_t bytes = load_lane<uint32_t>(x.regs + in.src[0].offset, l);
    if (in.ptx->has(Modifier::expect_tx)) return expect_bytes(x, in, l, at, bytes);
    expect_bytes(x, in, l, at, -bytes);
    x.warp->block().reports().mbarrier_arrive(x.warp->index(), 1u << l, x.warp->address[l],
                                              try_complete_phase(at));
  });
}

void arrive_at_mbarrier(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::update);
  for_each_mbarrier(x, [&](int l, std::byte* at) {
    if (in.dst[0].bytes != 0) store_lane(x.regs + in.dst[0].offset, l, load_lane<uint64_t>(at, 0));
    apply_mbarrier_arrivals(
        x, in, l, at, in.src_count > 0 ? load_lane<uint32_t>(x.regs + in.src[0].offset, l) : 1);
  });
}

// pending_count: the pending arrivals in a value that an arrival returned.
void read_pending_count(const ExecContext& x, const Inst& in) {
  for (uint32_t r = x.mask; r != 0; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const auto object = load_lane<uint64_t>(x.regs + in.src[0].offset, l);
    store_lane(x.regs + in.dst[0].offset, l, static_cast<uint32_t>(pending(object)));
  }
}

// try_wait may wait before it returns false; here it returns at once.
template <bool by_parity>
void test_mbarrier_phase(const ExecContext& x, const Inst& in) {
  x.warp->polling().note_potentially_polling_read();
  compute_checked_mbarrier_addresses(x, in, AccessUse::read);
  if (!x.warp->block().bulk_copies().empty())
    for_each_mbarrier(
        x, [&](int l, std::byte*) { deliver_copies_of_mbarrier(*x.warp, x.warp->address[l]); });
  uint32_t over = 0;
  for_each_mbarrier(x, [&](int l, const std::byte* at) {
    const uint64_t now = phase(load_lane<uint64_t>(at, 0));
    const std::byte* asked = x.regs + in.src[0].offset;
    const bool is_over = by_parity ? (now & 1) != (load_lane<uint32_t>(asked, l) & 1)
                                   : now != phase(load_lane<uint64_t>(asked, l));
    if (!is_over) return;
    over |= 1u << l;
    x.warp->block().reports().mbarrier_wait(x.warp->index(), 1u << l, x.warp->address[l]);
  });
  if (over != x.mask) x.warp->polling().end_slice_soon(x.warp->issued());
  write_predicate(x, in.dst[0], over);
}

// cp.async.mbarrier.arrive: the mbarrier also waits for this thread's copies. Their completion is
// an arrival; without .noinc the mbarrier first expects one more. Here the copies complete at once,
// and the race check looks for threads that use the bytes without a wait.
void arrive_after_copies(const ExecContext& x, const Inst& in) {
  compute_checked_mbarrier_addresses(x, in, AccessUse::update);
  uint64_t object[kWarpSize];
  std::memcpy(object, x.warp->address, sizeof object);
  for (uint32_t left = x.mask, lanes = 0; left != 0; left &= ~lanes) {
    const uint64_t first = object[__builtin_ctz(left)];
    lanes = 0;
    for (uint32_t r = left; r != 0; r &= r - 1)
      if (object[__builtin_ctz(r)] == first) lanes |= r & -r;
    finish_all_async_copies({x.regs, lanes, x.warp}, in, static_cast<uint32_t>(first) + 1);
  }
  if (!in.ptx->has(Modifier::noinc)) return;
  compute_checked_mbarrier_addresses(x, in, AccessUse::update);
  for_each_mbarrier(x, [&](int l, std::byte* at) { apply_mbarrier_arrivals(x, in, l, at, 1); });
}

}  // namespace

bool complete_mbarrier_bytes(std::byte* object, uint32_t bytes) {
  const uint64_t before = load_lane<uint64_t>(object, 0);
  store_lane(object, 0,
             pack_mbarrier_state(phase(before), expected(before), pending(before),
                                 pending_bytes(before) - int64_t{bytes}));
  return try_complete_phase(object);
}

ExecFn pick_mbarrier_init(const ptx::Instruction&) { return initialise_mbarrier; }
ExecFn pick_mbarrier_inval(const ptx::Instruction&) { return invalidate_mbarrier; }
ExecFn pick_mbarrier_arrive(const ptx::Instruction&) { return arrive_at_mbarrier; }
ExecFn pick_mbarrier_arrive_early(const ptx::Instruction&) { return arrive_at_mbarrier; }
ExecFn pick_mbarrier_pending(const ptx::Instruction&) { return read_pending_count; }
ExecFn pick_mbarrier_arrive_tx(const ptx::Instruction&) { return arrive_and_expect_bytes; }
ExecFn pick_mbarrier_expect_tx(const ptx::Instruction&) { return change_pending_bytes; }
ExecFn pick_mbarrier_wait(const ptx::Instruction&) { return test_mbarrier_phase<false>; }
ExecFn pick_mbarrier_wait_parity(const ptx::Instruction&) { return test_mbarrier_phase<true>; }
ExecFn pick_cp_async_mbarrier(const ptx::Instruction&) { return arrive_after_copies; }

}  // namespace lab32::sim
