// The counters of one launch, in total and for each source line. The rules are DESIGN's and
// README.md's; each field says Nsight Compute's name for it where there is one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lab32::observe {

struct GlobalTraffic {
  uint64_t requests = 0;  // l1tex__t_requests_pipe_lsu_mem_global_op_*.sum
  uint64_t sectors = 0;   // l1tex__t_sectors_pipe_lsu_mem_global_op_*.sum
};

struct SharedTraffic {
  uint64_t requests = 0;    // instructions issued with at least one active lane
  uint64_t lanes = 0;       // active lanes of all requests together
  uint64_t wavefronts = 0;  // memory_l1_wavefronts_shared
  uint64_t ideal = 0;       // memory_l1_wavefronts_shared_ideal
};

struct Counters {
  // Issue counts of PTX instructions: never shown under a hardware metric's name.
  uint64_t warp_instructions = 0;
  uint64_t lane_instructions = 0;

  GlobalTraffic load, store, red, atom;
  uint64_t l2_sectors = 0;        // memory_l2_theoretical_sectors_global
  uint64_t l2_sectors_ideal = 0;  // memory_l2_theoretical_sectors_global_ideal
  uint64_t global_bytes = 0;      // bytes the active lanes asked for (ld, st, red, atom)
  // l2_sectors and its ideal by direction, so that a rubric can judge loads and stores apart.
  uint64_t load_ideal = 0, store_ideal = 0;

  SharedTraffic shared_load, shared_store, shared_atom;
  // What of these the hardware's op_{ld,st} metrics count apart. cp.async (LDGSTS): in load and
  // shared_store above; of launches only, not of lines.
  GlobalTraffic copy;
  SharedTraffic shared_copy;
  // Requests of ldmatrix and stmatrix (LDSM, STSM): in shared_load and shared_store above;
  // likewise.
  uint64_t matrix_loads = 0, matrix_stores = 0;
  uint64_t block_barriers = 0;  // block-wide barriers passed, summed over blocks
  // Some access could not be reconciled with the SASS; one of these reaches global memory.
  bool ptx_level = false, global_ptx_level = false;

  void add(const Counters& other);
  uint64_t shared_wavefronts() const;
  uint64_t shared_ideal() const;
};

struct LineCounters {
  std::string file;
  int line = 0;
  Counters counters;
};

// A hazard: a race, an uninitialised read, a warp operation on absent lanes; where a launch keeps
// going, also a bad access of memory (memory) and a barrier that threads never reach (barrier). One
// for each pair of source lines (or line), with how often it was seen and the first example.
struct Finding {
  enum class Kind : uint8_t { race, uninitialised, warp_mask, memory, barrier };
  Kind kind = Kind::race;
  bool note = false;  // harmless by the memory model's letter: same value stored twice
  std::string file;
  int line = 0;        // the later access
  int other_line = 0;  // race: the earlier one
  uint64_t count = 0;
  std::string message;  // one sentence: both threads, address, what to think of
};

}  // namespace lab32::observe
