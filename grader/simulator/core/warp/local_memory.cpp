// Local memory: checks of accesses to it, and its growth.
#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

void Warp::check_local(const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                       bool store) {
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint64_t a = offset[l], top = local_top();
    const bool outside = a < kLocalStart || a > top || a + bytes > top;
    const auto facts = [&](TrapReason reason) {
      TrapFacts f = block_.facts_of_access(index_, l, AccessSpace::local,
                                           store ? AccessUse::write : AccessUse::read, bytes);
      f.reason = reason;
      f.access->offset = static_cast<int64_t>(a) - kLocalStart;
      f.access->size = top - kLocalStart;
      return f;
    };
    if (outside || a % bytes != 0) {
      block_.raise(in.site, 1u << l, FaultEvent::Kind::memory, [&](int) {
        return facts(outside ? TrapReason::outside_local : TrapReason::misaligned);
      });
      offset[l] = 0;  // before the first variable: a null pointer's place
      std::memset(local(l), 0xff, BlockContext::kSinkBytes);
      continue;
    }
  }
}

void Warp::forget_local(uint32_t lanes, uint32_t from, uint32_t bytes) {
  for (uint32_t r = lanes; bytes != 0 && r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memset(local(l) + from, 0xff, bytes);
    if (undefined_local_.kept()) std::memset(undefined_local(l, from, bytes), 0xff, bytes);
  }
}

// One piece for all lanes of the split, as large as the largest of them asks for.
uint32_t Warp::extend_frame(const Inst& in, uint32_t mask, uint64_t bytes, uint32_t align) {
  Frame& frame = *current().frame;
  const uint32_t begin = align_up(frame.local_base + frame.local_bytes, std::max(align, 1u));
  if (bytes > kLocalLimit || begin + bytes > kLocalLimit) {
    TrapFacts full = facts(TrapReason::local_memory);
    full.value = (begin + bytes) >> 10;
    full.limit = kLocalLimit >> 10;
    trap(in, std::move(full));
  }
  const auto top = static_cast<uint32_t>(begin + bytes);
  if (top > local_capacity_) grow_local(top, true);
  frame.local_bytes = top - frame.local_base;
  current_local_top_ = top;
  forget_local(mask, begin, static_cast<uint32_t>(bytes));
  return begin;
}

// Lanes' stacks lie side by side; growing moves each to its new place.
void Warp::grow_local(uint32_t least, bool in_call) {
  const uint32_t before = local_capacity_;
  local_capacity_ = std::max(least, std::min(before * 2, kLocalLimit));
  block_.take_local(index_, uint64_t{local_capacity_ - before} * kWarpSize, in_call);
  std::vector<std::byte> old(static_cast<size_t>(local_capacity_) * kWarpSize);
  old.swap(local_);
  UndefinedBytes old_undefined = std::move(undefined_local_);
  undefined_local_ = {};
  if (block_.checks_reads()) undefined_local_.reset(0, local_.size());
  for (int l = 0; l < kWarpSize; ++l) {
    const size_t at = static_cast<size_t>(l) * before;
    std::copy_n(old.data() + at, before, local(l));  // none at first, of no vector
    if (old_undefined.kept())
      std::copy_n(old_undefined.data() + at, before, undefined_local(l, 0, before));
  }
  // What lies before the first variable is nobody's.
  forget_local(kFullMask, std::max(before, kLocalStart),
               local_capacity_ - std::max(before, kLocalStart));
}

}  // namespace lab32::sim
