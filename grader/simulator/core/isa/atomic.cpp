// Executes atom and red. The lanes of a warp are served in lane order, and the blocks in the order
// of their numbers (order_guard.h).
#include <cmath>
#include <cstring>

#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/update.h"

namespace lab32::sim {

namespace {

using ptx::DataType;
using ptx::Modifier;
using namespace update;

bool operator==(const Wide& a, const Wide& b) { return a.low == b.low && a.high == b.high; }

enum class AtomicMemorySpace : uint8_t { global, shared, generic };

// PTX ISA, atom and red: on global memory add.f32 flushes subnormal inputs and results to zero of
// the same sign, whatever the compiler's -ftz; on shared memory it does not. The ISA does not
// mention the other types; no f64 instruction flushes.
template <class T, class Op>
T new_value_of_atomic(AtomicMemorySpace where, T old, T v) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Op, Add>)
    if (where == AtomicMemorySpace::global)
      return flush_subnormal(Op::apply(flush_subnormal(old), flush_subnormal(v)));
  return Op::apply(old, v);
}

AtomicMemorySpace window_of(const ptx::Instruction& in) {
  if (in.has(Modifier::global)) return AtomicMemorySpace::global;
  if (space_of(in) == ptx::Space::shared) return AtomicMemorySpace::shared;
  return AtomicMemorySpace::generic;
}

// Updates a word by an atomic operation of the host, because several host threads may update it
// concurrently. The old value is not returned.
template <class T, class Op>
void update_atomically_on_host(std::byte* at, T v) {
  auto* p = reinterpret_cast<T*>(at);
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(p, &old, Op::template apply<T>(old, v), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// Notes that a warp that reads the result of an atomic may be waiting for another lane or block.
void note_possible_polling(const ExecContext& x, const Inst& in) {
  x.warp->polling().note_potentially_polling_read();
  if (window_of(*in.ptx) != AtomicMemorySpace::shared)
    x.warp->polling().note(x.warp->address[__builtin_ctz(x.mask)]);
}

// Checks the access and reports it to the observers. Returns the host pointer to which the lanes'
// addresses are added.
std::byte* check_and_report_atomic(const ExecContext& x, const Inst& in, AtomicMemorySpace where,
                                   uint64_t* address, unsigned bytes, uint8_t operation) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const auto kind = has_used_result(in) ? AccessKind::atom : AccessKind::red;
  const bool exchanges = in.ptx->has(Modifier::exch);
  if (where == AtomicMemorySpace::global) {
    std::byte* base = block.accesses().check_global(w.index(), in, address, x.mask, bytes,
                                                    AccessUse::update, operation);
    if (exchanges && block.checks_reads())
      w.track_undefined_bits_in_atom_exch(x, in, AccessSpace::global, address, bytes);
    if (block.reports().reports_accesses())
      block.reports().access(w.index(), in, {AccessSpace::global, kind, bytes, x.mask, address});
    if (block.reports().observes_order())
      block.reports().strong_or_suspect_access(w.index(), in, kind, bytes, x.mask, address,
                                               nullptr);
    return base;
  }
  block.accesses().check_shared(w.index(), in, address, x.mask, bytes, AccessUse::update);
  if (block.checks_reads() && exchanges)
    w.track_undefined_bits_in_atom_exch(x, in, AccessSpace::shared, address, bytes);
  else if (block.checks_reads())
    w.check_shared_atomic_reads_defined(in, address, x.mask, bytes);
  if (block.reports().reports_accesses())
    block.reports().access(w.index(), in, {AccessSpace::shared, kind, bytes, x.mask, address});
  if (block.reports().observes_shared_ptx_accesses())
    block.reports().shared_ptx_access(
        w.index(), {in.site, kind, static_cast<uint8_t>(bytes), x.mask, address, nullptr});
  return block.shared().bytes();
}

using Serve = void (*)(const ExecContext& x, const Inst& in, AtomicMemorySpace where,
                       std::byte* base, const uint64_t* address);

// The loops over lanes of one operation and type. All other code is the same for every operation
// and type, and is compiled once, below.
struct AtomicUpdateLoops {
  uint8_t commuting;           // Op::kId of an integer operation, else 0
  Serve update_in_lane_order;  // serves lanes in order; stores old values to the result, if there
                               // is one
  // For blocks on several host threads; null if the result depends on their order.
  Serve update_lanes_concurrently;
};

void update_in_each_window(const ExecContext& x, const Inst& in, AtomicMemorySpace where,
                           const AtomicUpdateLoops& update, unsigned bytes) {
  uint64_t* address = x.warp->address;
  lane_addresses(x, in.mem_base, in.mem_offset, address);
  const uint8_t operation = has_used_result(in) ? 0 : update.commuting;
  auto serve = [&](const ExecContext& lanes, AtomicMemorySpace window, uint64_t* own) {
    std::byte* base = check_and_report_atomic(lanes, in, window, own, bytes, operation);
    const bool at_once = update.update_lanes_concurrently && window == AtomicMemorySpace::global &&
                         lanes.warp->block().accesses().runs_in_parallel();
    (at_once ? update.update_lanes_concurrently : update.update_in_lane_order)(lanes, in, window,
                                                                               base, own);
  };
  if (where != AtomicMemorySpace::generic) return serve(x, where, address);
  const uint32_t shared = lanes_in_window(address, x.mask, kSharedBase);
  if (x.mask & ~shared)
    serve(ExecContext{x.regs, x.mask & ~shared, x.warp}, AtomicMemorySpace::global, address);
  if (shared) {
    alignas(64) uint64_t own[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) own[l] = address[l] - kSharedBase;
    serve(ExecContext{x.regs, shared, x.warp}, AtomicMemorySpace::shared, own);
  }
}

template <class T, class Op>
struct LaneAtomicExecutor {
  static void update_in_lane_order(const ExecContext& x, const Inst& in, AtomicMemorySpace where,
                                   std::byte* base, const uint64_t* address) {
    const bool result = has_used_result(in);
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      T old;
      std::memcpy(&old, base + address[l], sizeof old);
      const T now =
          new_value_of_atomic<T, Op>(where, old, load_lane<T>(x.regs + in.src[0].offset, l));
      std::memcpy(base + address[l], &now, sizeof now);
      if (result) store_lane<T>(x.regs + in.dst[0].offset, l, old);
    }
  }
  static void update_lanes_concurrently(const ExecContext& x, const Inst& in, AtomicMemorySpace,
                                        std::byte* base, const uint64_t* address) {
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      update_atomically_on_host<T, Op>(base + address[l],
                                       load_lane<T>(x.regs + in.src[0].offset, l));
    }
  }
  static constexpr AtomicUpdateLoops atomic_update_loops() {
    if constexpr (std::is_integral_v<T> && Op::kId != 0)
      return {Op::kId, update_in_lane_order, update_lanes_concurrently};
    else
      return {0, update_in_lane_order, nullptr};
  }
  static void execute(const ExecContext& x, const Inst& in) {
    // A warp that does not read the result does not wait for it: the long loop of a histogram, for
    // example, is no spin lock.
    if (has_used_result(in)) note_possible_polling(x, in);
    static constexpr AtomicUpdateLoops kUpdate = atomic_update_loops();
    update_in_each_window(x, in, window_of(*in.ptx), kUpdate, sizeof(T));
  }
};
template <class T, class Op>
constexpr ExecFn atomic = LaneAtomicExecutor<T, Op>::execute;

template <class T>
struct CompareAndSwapExecutor {
  static void update_in_lane_order(const ExecContext& x, const Inst& in, AtomicMemorySpace,
                                   std::byte* base, const uint64_t* address) {
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      T old;
      std::memcpy(&old, base + address[l], sizeof old);
      if (old == load_lane<T>(x.regs + in.src[0].offset, l)) {
        const T now = load_lane<T>(x.regs + in.src[1].offset, l);
        std::memcpy(base + address[l], &now, sizeof now);
      }
      if (in.dst[0].bytes != 0) store_lane<T>(x.regs + in.dst[0].offset, l, old);
    }
  }
  static void execute(const ExecContext& x, const Inst& in) {
    note_possible_polling(x, in);
    static constexpr AtomicUpdateLoops kUpdate{0, update_in_lane_order, nullptr};
    update_in_each_window(x, in, window_of(*in.ptx), kUpdate, sizeof(T));
  }
};
template <class T>
constexpr ExecFn compare_and_swap = CompareAndSwapExecutor<T>::execute;

// atom.v2/.v4: each element is updated separately.
template <class T, class Op>
struct VectorAtomicExecutor {
  static void update_in_lane_order(const ExecContext& x, const Inst& in, AtomicMemorySpace where,
                                   std::byte* base, const uint64_t* address) {
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      for (unsigned e = 0; e < in.src_count; ++e) {
        std::byte* at = base + address[l] + e * sizeof(T);
        T old;
        std::memcpy(&old, at, sizeof old);
        const T now =
            new_value_of_atomic<T, Op>(where, old, load_lane<T>(x.regs + in.src[e].offset, l));
        std::memcpy(at, &now, sizeof now);
        if (e < in.dst_count && in.dst[e].bytes != 0)
          store_lane<T>(x.regs + in.dst[e].offset, l, old);
      }
    }
  }
  static void execute(const ExecContext& x, const Inst& in) {
    static constexpr AtomicUpdateLoops kUpdate{0, update_in_lane_order, nullptr};
    update_in_each_window(x, in, AtomicMemorySpace::global, kUpdate, sizeof(T) * in.src_count);
  }
};
template <class T, class Op>
constexpr ExecFn atomic_vector = VectorAtomicExecutor<T, Op>::execute;

template <class Op>
ExecFn pick_integer_atomic(const ptx::Instruction& in) {
  switch (in.type()) {
    case DataType::u32:
    case DataType::b32:
      return atomic<uint32_t, Op>;
    case DataType::s32:
      return atomic<int32_t, Op>;
    case DataType::u64:
    case DataType::b64:
      return atomic<uint64_t, Op>;
    case DataType::s64:
      return atomic<int64_t, Op>;
    default:
      refuse(in);
  }
}

ExecFn pick_atomic_add(const ptx::Instruction& in) {
  switch (in.type()) {
    case DataType::f32:
      return atomic<float, Add>;
    case DataType::f64:
      return atomic<double, Add>;
    case DataType::f16:
      return atomic<uint16_t, AddHalfOrHalf2<F16>>;
    case DataType::f16x2:
      return atomic<uint32_t, AddHalfOrHalf2<F16>>;
    case DataType::bf16:
      return atomic<uint16_t, AddHalfOrHalf2<BF16>>;
    case DataType::bf16x2:
      return atomic<uint32_t, AddHalfOrHalf2<BF16>>;
    default:
      return pick_integer_atomic<Add>(in);
  }
}

}  // namespace

ExecFn pick_atom(const ptx::Instruction& in) {
  if (in.has(Modifier::add)) return pick_atomic_add(in);
  if (in.has(Modifier::min)) return pick_integer_atomic<Min>(in);
  if (in.has(Modifier::max)) return pick_integer_atomic<Max>(in);
  if (in.has(Modifier::op_and)) return pick_integer_atomic<And>(in);
  if (in.has(Modifier::op_or)) return pick_integer_atomic<Or>(in);
  if (in.has(Modifier::op_xor)) return pick_integer_atomic<Xor>(in);
  if (in.has(Modifier::exch)) return pick_integer_atomic<Exch>(in);
  const bool unsigned_word = in.type() == DataType::u32;
  if (in.has(Modifier::inc) && unsigned_word) return atomic<uint32_t, Inc>;
  if (in.has(Modifier::dec) && unsigned_word) return atomic<uint32_t, Dec>;
  refuse(in);
}

ExecFn pick_red(const ptx::Instruction& in) { return pick_atom(in); }

ExecFn pick_atom_vector(const ptx::Instruction& in) {
  switch (in.type()) {
    case DataType::f32:
      return atomic_vector<float, Add>;
    case DataType::f16:
      return atomic_vector<uint16_t, AddHalfOrHalf2<F16>>;
    case DataType::f16x2:
      return atomic_vector<uint32_t, AddHalfOrHalf2<F16>>;
    case DataType::bf16:
      return atomic_vector<uint16_t, AddHalfOrHalf2<BF16>>;
    case DataType::bf16x2:
      return atomic_vector<uint32_t, AddHalfOrHalf2<BF16>>;
    default:
      refuse(in);
  }
}
ExecFn pick_red_vector(const ptx::Instruction& in) { return pick_atom_vector(in); }

ExecFn pick_atom_cas(const ptx::Instruction& in) {
  switch (in.type()) {
    case DataType::b16:
      return compare_and_swap<uint16_t>;
    case DataType::b32:
      return compare_and_swap<uint32_t>;
    case DataType::b64:
      return compare_and_swap<uint64_t>;
    default:
      refuse(in);
  }
}

ExecFn pick_atom_cas_wide(const ptx::Instruction&) { return compare_and_swap<Wide>; }
ExecFn pick_atom_exch_wide(const ptx::Instruction&) { return atomic<Wide, Exch>; }

// Whether the final values could depend on the order of the blocks (order_guard.h).
bool is_order_sensitive(const ptx::Instruction& in, bool result_used) {
  if (in.has(Modifier::cas)) return true;
  const bool integer = !ptx::is_float(in.type());
  const bool commutes =
      integer && !in.has(Modifier::exch) && !in.has(Modifier::inc) && !in.has(Modifier::dec);
  return result_used || !commutes;
}

// ---------------------------------------------------------------------------------------------

namespace {

using ptx::DataType;
using ptx::Modifier;

template <class T, class Op>
ReductionOp make_reduction() {
  const auto apply = [](std::byte* at, const std::byte* value) {
    T old, v;
    std::memcpy(&old, at, sizeof old);
    std::memcpy(&v, value, sizeof v);
    const T now = Op::apply(old, v);
    std::memcpy(at, &now, sizeof now);
  };
  return {apply, sizeof(T)};
}

// The PTX ISA has add.f32 flush_subnormal subnormal numbers to zero; an H100 keeps them
// (2026-11-26). The result for NaN is the same as in other additions.
struct AddFloats {
  static float apply(float old, float v) {
    const float sum = update::Add::apply(old, v);
    return std::isnan(sum) ? bit_copy<float>(0x7fffffffu) : sum;
  }
};

// Minimum or maximum of halves. With a number and a NaN, the result is the number.
template <class H, bool most>
struct HalfMinMax {
  static uint16_t apply(uint16_t old, uint16_t v) {
    return MinMaxHalf<most>::apply(FloatModifiers{}, H{old}, H{v}).bits;
  }
};

template <class T>
ReductionOp add_or_minmax_reduction(const ptx::Instruction& in) {
  if (in.has(Modifier::add)) return make_reduction<T, update::Add>();
  if (in.has(Modifier::min)) return make_reduction<T, update::Min>();
  if (in.has(Modifier::max)) return make_reduction<T, update::Max>();
  return {};
}

template <class T>
ReductionOp bitwise_reduction(const ptx::Instruction& in) {
  if (in.has(Modifier::op_and)) return make_reduction<T, update::And>();
  if (in.has(Modifier::op_or)) return make_reduction<T, update::Or>();
  if (in.has(Modifier::op_xor)) return make_reduction<T, update::Xor>();
  return {};
}

template <class H>
ReductionOp half_reduction(const ptx::Instruction& in) {
  if (in.has(Modifier::add)) return make_reduction<uint16_t, update::AddHalfOrHalf2<H>>();
  if (in.has(Modifier::min)) return make_reduction<uint16_t, HalfMinMax<H, false>>();
  if (in.has(Modifier::max)) return make_reduction<uint16_t, HalfMinMax<H, true>>();
  return {};
}

}  // namespace

ReductionOp reduction_of(const ptx::Instruction& in, DataType type) {
  switch (type) {
    case DataType::u32:
      if (in.has(Modifier::inc)) return make_reduction<uint32_t, update::Inc>();
      if (in.has(Modifier::dec)) return make_reduction<uint32_t, update::Dec>();
      return add_or_minmax_reduction<uint32_t>(in);
    case DataType::s32:
      return add_or_minmax_reduction<int32_t>(in);
    case DataType::u64:
      return add_or_minmax_reduction<uint64_t>(in);
    case DataType::s64:
      return add_or_minmax_reduction<int64_t>(in);
    case DataType::b32:
      return bitwise_reduction<uint32_t>(in);
    case DataType::b64:
      return bitwise_reduction<uint64_t>(in);
    case DataType::f16:
      return half_reduction<F16>(in);
    case DataType::bf16:
      return half_reduction<BF16>(in);
    case DataType::f32:
      return in.has(Modifier::add) ? make_reduction<float, AddFloats>() : ReductionOp{};
    case DataType::f64:
      return in.has(Modifier::add) ? make_reduction<double, update::Add>() : ReductionOp{};
    default:
      return {};
  }
}

}  // namespace lab32::sim
