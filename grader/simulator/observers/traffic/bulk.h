// How the copy engine's copies are counted: the rules behind Nsight Compute's
// l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld and
// l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.
//
// A copy goes in pieces that lie in one line of 128 bytes of shared memory; each moves the sectors
// of device memory that it touches. A multicast's pieces lie in one line of device memory, too, and
// move two sectors at least. What a load finds outside the tensor comes as sectors of zeros, of
// shared memory.
#pragma once

#include <cstdint>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

struct BulkSectors {
  bool known = true;     // false: no rule is known
  uint32_t sectors = 0;  // in each block that gets them
  uint32_t lines = 0;    // pieces
};
BulkSectors bulk_sectors(const sim::BulkMove& move);

}  // namespace lab32::counters
