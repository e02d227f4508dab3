// Tracks undefined bytes of memory: a warp's reads find them, and its writes define them.
#include <algorithm>
#include <cstring>

#include "simulator/core/memory/access.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/undefined/definedness.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

namespace {

constexpr uint32_t kWholeWarp = 0xffffffffu;

bool any_bit_set(const std::byte* bits, size_t bytes) {
  uint64_t all = 0;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, bits + i, 8);
    all |= word;
  }
  for (; i < bytes; ++i) all |= static_cast<uint64_t>(bits[i]);
  return all != 0;
}

// Whether the bytes of any lane have a bit set. The answer is nearly always no, and must be found
// fast.
template <class Word>
bool any_lane_set(const std::byte* bits, const uint64_t* address, size_t lane_stride,
                  uint32_t mask) {
  Word all = 0;
  if (mask == kWholeWarp) {
    for (size_t l = 0; l < 32; ++l) {
      Word word;
      std::memcpy(&word, bits + address[l] + l * lane_stride, sizeof word);
      all |= word;
    }
    return all != 0;
  }
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    Word word;
    std::memcpy(&word, bits + address[l] + l * lane_stride, sizeof word);
    all |= word;
  }
  return all != 0;
}

}  // namespace

void UndefinedBitsOfMemory::mark_first_undefined(size_t bytes, size_t size) {
  bits_.resize(size);
  left_ = bytes;
  std::memset(bits_.data(), 0xff, bytes);
  std::memset(bits_.data() + bytes, 0, size - bytes);
}

bool UndefinedBitsOfMemory::any_undefined(uint64_t first, size_t bytes) const {
  return any_bit_set(storage() + first, bytes);
}

uint32_t UndefinedBitsOfMemory::lanes_with_undefined_bytes(const uint64_t* address, size_t stride,
                                                           uint32_t mask, unsigned bytes) const {
  if (mask == kWholeWarp && stride == 0 && are_contiguous(address, bytes) &&
      !any_bit_set(storage() + address[0], size_t{bytes} * 32))
    return 0;
  const uint64_t first = address[__builtin_ctz(mask)];
  if (stride == 0 && !any_bit_set(storage() + first, bytes)) {  // one word for all lanes
    uint64_t others = 0;
    for (uint32_t r = mask; r; r &= r - 1) others |= address[__builtin_ctz(r)] ^ first;
    if (others == 0) return 0;
  }
  if (bytes == 4 && !any_lane_set<uint32_t>(storage(), address, stride, mask)) return 0;
  if (bytes == 8 && !any_lane_set<uint64_t>(storage(), address, stride, mask)) return 0;
  uint32_t found = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    if (any_bit_set(storage() + address[l] + l * stride, bytes)) found |= 1u << l;
  }
  return found;
}

void UndefinedBitsOfMemory::mark_defined(uint64_t first, size_t bytes) {
  if (left_ == 0) return;
  std::byte* const at = storage() + first;
  if (left_ != kNotCounted) {
    if (!any_bit_set(at, bytes)) return;
    left_ -= bytes - static_cast<size_t>(std::count(at, at + bytes, std::byte{0}));
  }
  std::memset(at, 0, bytes);
}

void UndefinedBitsOfMemory::mark_defined(const uint64_t* address, size_t stride, uint32_t mask,
                                         unsigned bytes) {
  if (left_ == 0) return;
  if (mask == kWholeWarp && stride == 0 && are_contiguous(address, bytes))
    return mark_defined(address[0], size_t{bytes} * 32);
  if (mask == kWholeWarp && bytes == 4 && left_ != kNotCounted &&
      !any_lane_set<uint32_t>(storage(), address, stride, mask))
    return;
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    mark_defined(address[l] + l * stride, bytes);
  }
}

// ---------------------------------------------------------------------------------------------

UndefinedValueTracker& Warp::value_tracker() {
  if (!track_) track_ = std::make_unique<UndefinedBitTracker>(*this);
  return *track_;
}

bool Warp::find_undefined_bytes(AccessSpace space, const uint64_t* address, uint32_t mask,
                                unsigned bytes, UndefinedBitsOfWarpRead* read) {
  read->space = space;
  read->of = read->address = address;
  if (space == AccessSpace::shared) {
    UndefinedBitsOfMemory& undefined = block_.shared().undefined();
    if (undefined.none()) return false;
    read->lanes = undefined.lanes_with_undefined_bytes(address, 0, mask, bytes);
    if (read->lanes != 0) read->bits = undefined.data();
  } else if (space == AccessSpace::local) {
    if (local_.undefined().none()) return false;
    read->stride = local_.capacity();
    read->lanes =
        local_.undefined().lanes_with_undefined_bytes(address, local_.capacity(), mask, bytes);
    read->bits = local_.undefined().data();
  } else {
    read->lanes = block_.accesses().take_unwritten() & mask;
    if (read->lanes == 0) return false;
    // Expands the written bits of device memory to one byte for each byte.
    static constexpr uint64_t kStart[kWarpSize] = {};
    const Memory& memory = *block_.launch().memory;
    for (uint32_t r = read->lanes; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      for (unsigned b = 0; b < bytes; ++b)
        values[l * 16 + static_cast<int>(b)] =
            memory.is_written(address[l] + b, 1) ? std::byte{0} : std::byte{0xff};
    }
    read->bits = values;
    read->stride = 16;
    read->address = kStart;
  }
  return read->lanes != 0;
}

bool Warp::is_other_4_bytes_of_8_written(AccessSpace space, uint64_t at, unsigned bytes) {
  constexpr uint64_t kHalf = 4;
  if (bytes != kHalf) return false;
  if (space == AccessSpace::global) return block_.launch().memory->is_written(at ^ kHalf, kHalf);
  return space == AccessSpace::shared && (at ^ kHalf) + kHalf <= block_.shared().size() &&
         !block_.shared().undefined().any_undefined(at ^ kHalf, kHalf);
}

FrameUndefinedBits::OfLanes Warp::origins_of_undefined_read(const Inst& in,
                                                            const UndefinedBitsOfWarpRead& read,
                                                            unsigned bytes) {
  UndefinedOrigins& origins = block_.undefined_origins();
  FrameUndefinedBits::OfLanes found{};
  for (uint32_t r = read.lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t at = read.of[l];
    std::optional<UndefinedOrigins::Id> id;
    for (uint64_t b = 0; read.space != AccessSpace::global && b < bytes; b += 4) {
      const auto stored = origins.origin_id_of_store(
          read.space == AccessSpace::shared ? UndefinedOrigins::shared_word(at + b)
                                            : UndefinedOrigins::local_word_key(index_, l, at + b));
      if (stored) id = id ? origins.join_origins(*id, *stored) : stored;
    }
    if (!id)
      id = origins.origin_id_of_read(in.site, is_other_4_bytes_of_8_written(read.space, at, bytes),
                                     [&] {
                                       TrapFacts facts = block_.accesses().facts_of_unwritten_read(
                                           in.site, index_, l, read.space, at, bytes);
                                       if (read.space == AccessSpace::local) {
                                         facts.access->offset -= kLocalStart;
                                         facts.access->size = local_.top() - kLocalStart;
                                       }
                                       return facts;
                                     });
    found[static_cast<size_t>(l)] = *id;
  }
  return found;
}

void Warp::track_undefined_bits_in_atom_exch(const ExecContext& x, const Inst& in,
                                             AccessSpace space, const uint64_t* address,
                                             unsigned bytes) {
  UndefinedBitsOfWarpRead read;
  if (!find_undefined_bytes(space, address, x.mask, bytes, &read)) return;
  // If several lanes exchange one word, the first gets the undefined value.
  for (uint32_t r = read.lanes; r; r &= r - 1) {
    const int first = __builtin_ctz(r);
    for (uint32_t q = r & (r - 1); q; q &= q - 1)
      if (address[__builtin_ctz(q)] == address[first]) read.lanes &= ~(q & (~q + 1));
    r &= read.lanes;
  }
  if (has_used_result(in)) {
    const ExecContext bits = value_tracker().shadow_context_of_undefined_load(
        x, in, read.lanes, origins_of_undefined_read(in, read, bytes));
    for (uint32_t r = read.lanes; r; r &= r - 1)
      set_register_bits(bits.regs, in.dst[0], __builtin_ctz(r), all_bits_of_slot(in.dst[0]));
  }
  if (space == AccessSpace::shared)
    mark_defined(space, address, read.lanes, bytes);
  else
    block_.launch().memory->mark_lanes_written(address, read.lanes, bytes);
}

void Warp::check_shared_atomic_reads_defined(const Inst& in, const uint64_t* address, uint32_t mask,
                                             unsigned bytes) {
  UndefinedBitsOfWarpRead read;
  if (!find_undefined_bytes(AccessSpace::shared, address, mask, bytes, &read)) return;
  TrapFacts facts = block_.accesses().facts_of_unwritten_read(
      in.site, index_, __builtin_ctz(read.lanes), read.space, address[__builtin_ctz(read.lanes)],
      bytes);
  block_.faults().report_undefined_use({in.site, std::move(facts)}, ValueUse::atomic, read.lanes);
  mark_defined(AccessSpace::shared, address, mask, bytes);
}

void Warp::mark_absent_reads_undefined(const ExecContext& x, const Inst& in, uint32_t readers,
                                       uint32_t absent) {
  if (in.dst[0].bytes == 0) return;
  FrameUndefinedBits::OfLanes origin{};
  origin.fill(block_.undefined_origins().origin_id_of_read(in.site, false, [&] {
    TrapFacts facts = this->facts(TrapReason::lane_missing);
    facts.warp->lanes = x.mask;
    facts.warp->mask = load_lane<uint32_t>(x.regs + in.src[3].offset, __builtin_ctz(x.mask));
    facts.warp->lane = static_cast<uint32_t>(__builtin_ctz(absent));
    facts.value = absent;
    return facts;
  }));
  const ExecContext bits = value_tracker().shadow_context_of_undefined_load(x, in, readers, origin);
  for (uint32_t r = readers; r; r &= r - 1)
    store_lane<uint32_t>(bits.regs + in.dst[0].offset, __builtin_ctz(r), ~0u);
}

void Warp::mark_defined(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes) {
  if (space == AccessSpace::shared)
    block_.shared().undefined().mark_defined(address, 0, mask, bytes);
  else
    local_.undefined().mark_defined(address, local_.capacity(), mask, bytes);
}

// ---------------------------------------------------------------------------------------------
// st.async passes undefined bits on with its values; in red.async an undefined value is a fault.

void UndefinedBitTracker::execute_bulk_op(FrameUndefinedBits& u, const ExecContext& x,
                                          const Inst& in, const BulkOp& op) {
  if (op.reduction)
    for (const RegisterSlot& slot : op.value) require_defined(u, slot, x.mask, ValueUse::atomic);
  PendingBulkCopies& copies = warp_.block().bulk_copies();
  const size_t before = copies.size();
  in.exec(x, in);
  if (op.values == 0 || op.reduction) return;
  for (size_t i = before; i < copies.size(); ++i) {
    PendingBulkCopy& sent = copies[i];
    if (sent.data.empty()) continue;
    for (unsigned v = 0; v < op.values; ++v) {
      const RegisterSlot& slot = op.value[v];
      const RegisterBits128 bits = get_register_bits(u.registers.data(), slot, sent.lane);
      if (!bits.any()) continue;
      const UndefinedOrigins::Id from = u.origin.at(slot.offset)[static_cast<size_t>(sent.lane)];
      sent.origin = sent.undefined.empty()
                        ? from
                        : warp_.block().undefined_origins().join_origins(sent.origin, from);
      sent.undefined.resize(sent.data.size());
      std::memcpy(sent.undefined.data() + size_t{v} * slot.bytes, &bits, slot.bytes);
    }
  }
}

}  // namespace lab32::sim
