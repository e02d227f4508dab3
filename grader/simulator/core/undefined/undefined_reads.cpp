// What a warp's accesses find undefined, and what they define.
#include "simulator/core/undefined/definedness.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

ValueTracker& Warp::track() {
  if (!track_) track_ = std::make_unique<Definedness>(*this);
  return *track_;
}

bool Warp::find_undefined(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes,
                          UndefinedRead* read) {
  read->space = space;
  read->of = read->address = address;
  if (space == AccessSpace::shared) {
    UndefinedBytes& undefined = block_.undefined_shared();
    if (undefined.none()) return false;
    read->lanes = undefined.lanes(address, 0, mask, bytes);
    if (read->lanes != 0) read->bits = undefined.data();
  } else if (space == AccessSpace::local) {
    read->stride = local_capacity_;
    read->lanes = undefined_local_.lanes(address, local_capacity_, mask, bytes);
    read->bits = undefined_local_.data();
  } else {
    read->lanes = block_.take_unwritten() & mask;
    if (read->lanes == 0) return false;
    // A bit says whether a byte was written: here a byte for each.
    static constexpr uint64_t kStart[kWarpSize] = {};
    const Memory& memory = *block_.launch().memory;
    for (uint32_t r = read->lanes; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      for (unsigned b = 0; b < bytes; ++b)
        values[l * 16 + static_cast<int>(b)] =
            memory.written(address[l] + b, 1) ? std::byte{0} : std::byte{0xff};
    }
    read->bits = values;
    read->stride = 16;
    read->address = kStart;
  }
  return read->lanes != 0;
}

UndefinedBits::OfLanes Warp::origins_of(const Inst& in, const UndefinedRead& read, unsigned bytes) {
  Origins& origins = block_.origins();
  UndefinedBits::OfLanes found{};
  for (uint32_t r = read.lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t at = read.of[l];
    std::optional<Origins::Id> id;
    for (uint64_t b = 0; read.space != AccessSpace::global && b < bytes; b += 4) {
      const auto stored = origins.of_store(read.space == AccessSpace::shared
                                               ? Origins::shared_word(at + b)
                                               : Origins::local_word(index_, l, at + b));
      if (stored) id = id ? origins.join(*id, *stored) : stored;
    }
    if (!id)
      id = origins.of_read(in.site, [&] {
        TrapFacts facts = block_.facts_of_unwritten(index_, l, read.space, at, bytes);
        if (read.space == AccessSpace::local) {
          facts.access->offset -= kLocalStart;
          facts.access->size = local_top() - kLocalStart;
        }
        return facts;
      });
    found[static_cast<size_t>(l)] = *id;
  }
  return found;
}

void Warp::update_shared(const Inst& in, const uint64_t* address, uint32_t mask, unsigned bytes) {
  UndefinedRead read;
  if (!find_undefined(AccessSpace::shared, address, mask, bytes, &read)) return;
  TrapFacts facts = block_.facts_of_unwritten(index_, __builtin_ctz(read.lanes), read.space,
                                              address[__builtin_ctz(read.lanes)], bytes);
  block_.value_matters({in.site, std::move(facts)}, ValueUse::atomic, read.lanes);
  define(AccessSpace::shared, address, mask, bytes);
}

void Warp::define(AccessSpace space, const uint64_t* address, uint32_t mask, unsigned bytes) {
  if (space == AccessSpace::shared)
    block_.undefined_shared().define(address, 0, mask, bytes);
  else
    undefined_local_.define(address, local_capacity_, mask, bytes);
}

std::byte* Warp::undefined_local(int lane, uint64_t offset, unsigned bytes) {
  return offset + bytes <= local_capacity_
             ? undefined_local_.data() + static_cast<size_t>(lane) * local_capacity_ + offset
             : nullptr;
}

}  // namespace lab32::sim
