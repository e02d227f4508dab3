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

// Distinct sectors of the active lanes: what a load or a store moves.
uint32_t distinct_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask);

// Sectors of a reduction or atomic, which L1 passes on line by line. Lanes that hit one word are
// served one after the other, each turn moving the sector again; so, in nearly every case, the sum
// over the sectors of the most lanes on one word of it. The exact rule, of which this follows, is
// told at its definition. compare_swap: the lanes carry two operands, so a line is two halves.
// in_cluster: to other blocks' shared memory; known for the first four of a cluster.
uint32_t atomic_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask,
                        bool compare_swap = false, bool in_cluster = false);

// An asynchronous copy past L1 (LDGSTS.BYPASS, 16 bytes per lane) moves its data sector by sector
// of shared memory (`to`): each fetches the lines that it needs, whatever the sectors in them, and
// so a sector of global memory that goes to several places is moved several times. `theoretical` is
// Nsight Compute's estimate, which lets two lanes share a transfer only where both lie in one
// sector at either end and in the same order.
struct CopySectors {
  uint32_t moved = 0, theoretical = 0, ideal = 0;
};
CopySectors copy_sectors(const uint64_t* from, const uint64_t* to, uint32_t bytes, uint32_t mask);

// The fewest sectors that could hold what the active lanes ask for, never more than they touch
// (lanes that share an address ask for less than lanes * bytes).
uint32_t ideal_sectors(uint32_t distinct, uint32_t bytes, uint32_t mask);

// How accesses through texture and surface objects are counted: the rules behind Nsight Compute's
// l1tex__t_{requests,sectors}_pipe_tex_mem_{texture,surface_op_ld,surface_op_st}.
//
// A warp's lanes go four or eight at a time, one request each; a request moves the distinct sectors
// that its lanes touch. Arrays lie in blocks of 64 bytes by 8 rows: a sector is 16 bytes of two
// rows, a line 32 bytes of four. Memory that the program laid out itself has the usual sectors.
struct TexelRequests {
  bool known = true;              // false: no rule is known, and this is the least it can be
  std::vector<uint64_t> sectors;  // addresses, request by request; each one's are distinct
  std::vector<uint32_t> ends;     // of each request, in `sectors`
};

// Where the sectors of an array lie that a GPU keeps in its own order is made up, but no two of
// them lie in one place, and four make a line where they do on a GPU.
TexelRequests texel_requests(const sim::TexelAccess& access);

// How the copy engine's copies are counted: the rules behind Nsight Compute's
// l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld and
// l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.
//
// A copy goes in pieces that lie in one line of 128 bytes of shared memory; each moves the sectors
// of device memory that it touches. A multicast's pieces lie in one line of device memory, too, and
// move two sectors at least. What a load finds outside the tensor comes as sectors of zeros, of
// shared memory.
struct BulkSectors {
  bool known = true;     // false: no rule is known
  uint32_t sectors = 0;  // in each block that gets them
  uint32_t lines = 0;    // pieces
};
BulkSectors bulk_sectors(const sim::BulkMove& move);

}  // namespace lab32::counters
