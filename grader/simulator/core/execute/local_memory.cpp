// Checks of accesses to local memory.
#include <cstring>

#include "simulator/core/execute/warp.h"

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
      block_.raise(in, 1u << l, FaultEvent::Kind::memory, [&](int) {
        return facts(outside ? TrapReason::outside_local : TrapReason::misaligned);
      });
      offset[l] = 0;  // before the first variable: a null pointer's place
      std::memset(local(l), 0xff, BlockContext::kSinkBytes);
      continue;
    }
  }
}

}  // namespace lab32::sim
