// The counters of one launch, in total and for each source line. The rules are DESIGN's and
// README.md's; each field says Nsight Compute's name for it where there is one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/trap.h"

namespace lab32::counters {

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

// Ways to memory other than a lane's loads and stores: each has counters of its own.
struct OtherWays {
  // What the copy engine moves. Nsight Compute: smsp__inst_executed_op_tma_{ld,st} (one for each
  // lane that copies),
  // l1tex__m_{xbar2l1tex_read,l1tex2xbar_write}_sectors_mem_global_op_tma_{ld,st}.
  struct Bulk {
    uint64_t instructions = 0;
    uint64_t sectors = 0;  // of a multicast, in each block that gets them
    uint64_t ideal = 0;    // sectors that its bytes would fill
    uint64_t lines = 0;    // pieces of at most 128 bytes: what a request of a warp would move
  };

  GlobalTraffic texture, surface_load, surface_store;  // l1tex__t_*_pipe_tex_mem_*
  Bulk bulk_load, bulk_store;
  GlobalTraffic remote_load, remote_store, remote_atom;  // l1tex__t_*_pipe_lsu_mem_dshared_op_*
  // Atomics of which no lane reaches its own block's memory take wavefronts there, and no request.
  uint64_t remote_atom_wavefronts = 0;
  // What keeps the banks busy of the blocks that are reached; no counter tells it.
  SharedTraffic remote_banks;
  // Instructions of warps whose traffic no rule is known for: in none of the figures.
  uint64_t texture_unknown = 0, bulk_unknown = 0;

  void add(const OtherWays& from);
  // Both directions together.
  GlobalTraffic texels() const {
    return {texture.requests + surface_load.requests + surface_store.requests,
            texture.sectors + surface_load.sectors + surface_store.sectors};
  }
  Bulk bulk() const {
    return {bulk_load.instructions + bulk_store.instructions,
            bulk_load.sectors + bulk_store.sectors, bulk_load.ideal + bulk_store.ideal,
            bulk_load.lines + bulk_store.lines};
  }
  GlobalTraffic remote() const {
    return {remote_load.requests + remote_store.requests + remote_atom.requests,
            remote_load.sectors + remote_store.sectors + remote_atom.sectors};
  }
  bool unknown() const { return texture_unknown + bulk_unknown > 0; }
  bool any() const {
    return texture.requests + surface_load.requests + surface_store.requests +
               bulk_load.instructions + bulk_store.instructions + remote_load.requests +
               remote_store.requests + remote_atom.requests + texture_unknown + bulk_unknown >
           0;
  }
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
  OtherWays other;              // in none of those above
  uint64_t block_barriers = 0;  // block-wide barriers passed, summed over blocks
  // Some access could not be reconciled with the SASS; one of these reaches global, shared memory.
  bool ptx_level = false, global_ptx_level = false, shared_ptx_level = false;

  void add(const Counters& other);
  // Of loads, stores and atomics.
  uint64_t global_requests() const {
    return load.requests + store.requests + red.requests + atom.requests;
  }
  uint64_t global_sectors() const {
    return load.sectors + store.sectors + red.sectors + atom.sectors;
  }
  uint64_t shared_requests() const {
    return shared_load.requests + shared_store.requests + shared_atom.requests;
  }
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
// for each pair of source lines (or line), with how often it was seen and, as facts, the first time
// it was. hazard_text.h has the words.
struct Finding {
  enum class Kind : uint8_t { race, uninitialised, warp_mask, memory, barrier };
  Kind kind = Kind::race;
  bool note = false;  // harmless by the memory model's letter: same value stored twice
  std::string file;
  int line = 0;  // the later access; 0: not known
  uint64_t count = 0;

  using Index3 = std::array<uint32_t, 3>;  // x, y, z
  Index3 block{}, block_size{1, 1, 1};
  struct Party {
    Index3 thread{};
    uint32_t warp = 0;  // in the block
    sim::AccessUse use = sim::AccessUse::read;
    uint8_t bytes = 0;
  } party;
  // race: the earlier access
  std::string other_file;
  int other_line = 0;
  Party other;
  // race in device memory (`object` is an array): the earlier access' block, and what is missing
  bool global = false;
  Index3 other_block{};
  // race, uninitialised, in a cluster: `other_block` as above, and whose shared memory it is
  bool cluster = false;
  Index3 owner{};
  bool update = false;           // both belong to one `x = f(x)`
  bool scope = false;            // both are atomics, but one for its own block only
  bool one_instruction = false;  // race: lanes of one warp instruction
  // race, uninitialised: the variable in shared memory, the element of it unless it is one; without
  // a name, offset in the block's shared memory
  std::string object;
  std::string place;  // "s[1].mass", where the variable's type is known
  std::optional<uint64_t> element;
  uint64_t offset = 0;
  sim::ValueUse used_as = sim::ValueUse::none;  // uninitialised: what the value was used as
  uint32_t mask = 0, absent = 0;  // warp_mask: lanes named, those of them that are absent
  // memory, barrier; uninitialised, in global or local memory
  std::optional<sim::TrapFacts> fault;
};

}  // namespace lab32::counters
