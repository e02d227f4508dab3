// How many 32-byte sectors a warp-wide access to global memory touches: the rules behind Nsight
// Compute's l1tex__t_sectors_pipe_lsu_mem_global_op_* and memory_l2_theoretical_sectors_global.
// Pure functions of 32 addresses, the bytes a lane accesses and the mask of active lanes. Addresses
// are multiples of `bytes` (the simulator traps others), so that no lane touches two sectors.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

constexpr uint32_t kLineBytes = 128, kSectorBytes = 32, kSectorsPerLine = 4;

// Distinct sectors of the active lanes. A load or a store moves these.
uint32_t distinct_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask);
// Distinct bytes of the active lanes. `bytes`: of a lane, whose address is a multiple of it.
uint32_t distinct_bytes(const uint64_t* address, uint32_t bytes, uint32_t mask);

// Sectors of a reduction or atomic. L1 passes them on line by line and serves lanes on one word one
// after the other, moving the sector again each time. In nearly every case the result is the sum
// over sectors of the most lanes on one word of the sector; the definition has the exact rule.
// compare_swap: lanes carry two operands, so a line counts as two halves. in_cluster: the access is
// to other blocks' shared memory; the rule is known for ranks 0 to 3.
uint32_t atomic_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask,
                        bool compare_swap = false, bool in_cluster = false);

// An asynchronous copy that bypasses L1 (LDGSTS.BYPASS, 16 bytes per lane) moves its data by
// sectors of shared memory (`to`). Each such sector fetches the lines that it needs, so a sector of
// global memory that goes to several places is moved several times. `theoretical` is Nsight
// Compute's estimate, in which two lanes share a transfer only if both lie in one sector at both
// ends and in the same order.
struct L1BypassCopySectors {
  uint32_t moved = 0, theoretical = 0, ideal = 0;
};
L1BypassCopySectors l1_bypass_copy_sectors(const uint64_t* from, const uint64_t* to, uint32_t bytes,
                                           uint32_t mask);

// The fewest sectors that could hold the bytes that active lanes request, but at most the sectors
// that they touch (lanes that share an address request less than lanes * bytes).
uint32_t ideal_sectors(uint32_t touched_sector_count, uint32_t bytes, uint32_t mask);

// Sectors of accesses through texture and surface objects: the rules behind Nsight Compute's
// l1tex__t_{requests,sectors}_pipe_tex_mem_{texture,surface_op_ld,surface_op_st}.
//
// Four or eight lanes of a warp form one request, and a request moves the distinct sectors that its
// lanes touch. Arrays are stored in blocks of 64 bytes by 8 rows: a sector is 16 bytes of two rows,
// and a line is 32 bytes of four rows. Linear and pitched memory has the usual sectors.
struct TexelSectorAddresses {
  bool known = true;  // false: no rule is known, and the counts are lower bounds
  // addresses of sectors, request by request; distinct within a request
  std::vector<uint64_t> sectors;
  std::vector<uint32_t> ends;  // end of each request in `sectors`
};

// The addresses of sectors of arrays in the GPU's own layout are artificial. They are distinct, and
// four sectors share a line if they do on a GPU.
TexelSectorAddresses texel_sector_addresses(const sim::WarpTexelAccess& access);

// Sectors of the copy engine's copies: the rules behind Nsight Compute's
// l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld and
// l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.
//
// A copy is split into pieces within one 128-byte line of shared memory. Each piece moves the
// sectors of device memory that it touches. Pieces of a multicast also lie within one line of
// device memory and move at least two sectors. Elements outside the tensor are loaded as zeros and
// count as sectors of shared memory.
struct BulkSectors {
  bool known = true;     // false: no rule is known
  uint32_t sectors = 0;  // in each receiving block
  uint32_t lines = 0;    // pieces
};
BulkSectors bulk_sectors(const sim::ContiguousBulkMove& move);

}  // namespace lab32::counters
