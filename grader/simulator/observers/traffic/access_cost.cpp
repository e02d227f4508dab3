#include "simulator/observers/traffic/access_cost.h"

#include "simulator/observers/traffic/banks.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {

AccessCost cost_of(const sim::Access& access) {
  using sim::AccessKind;
  if (access.space != sim::AccessSpace::global) {
    const Wavefronts wavefronts = shared_wavefronts(access);
    return {wavefronts.actual, wavefronts.ideal, 0, wavefronts.estimated};
  }
  if (access.bypass_l1) {
    const CopySectors copy = copy_sectors(access.address, access.peer, access.bytes, access.mask);
    return {copy.moved, copy.ideal, copy.theoretical};
  }
  const uint32_t distinct = distinct_sectors(access.address, access.bytes, access.mask);
  const bool atomic = access.kind == AccessKind::red || access.kind == AccessKind::atom;
  const uint32_t cost = atomic ? atomic_sectors(access.address, access.bytes, access.mask,
                                                access.form == sim::AtomicForm::compare_swap)
                               : distinct;
  return {cost, ideal_sectors(distinct, access.bytes, access.mask), distinct};
}

}  // namespace lab32::counters
