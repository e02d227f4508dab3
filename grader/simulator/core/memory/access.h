// Basic vocabulary of memory accesses: state space, kind (load, store, reduction, atomic), the
// regular address patterns of a warp (StridedHalfWarpPair), and the layout of addresses in a
// cluster's shared memory.
#pragma once

#include <cstdint>
#include <string>

namespace lab32::sim {

enum class AccessSpace : uint8_t { global, shared, local, constant };
enum class AccessKind : uint8_t { load, store, red, atom };
enum class AccessUse : uint8_t { read, write, update };  // update: an atomic

constexpr AccessUse access_use_of(AccessKind kind) {
  return kind == AccessKind::load    ? AccessUse::read
         : kind == AccessKind::store ? AccessUse::write
                                     : AccessUse::update;
}

// ---------------------------------------------------------------------------------------------
// Whether the lanes of a full warp access contiguous memory, the common case.

inline bool are_contiguous(const uint64_t* address, unsigned bytes) {
  uint64_t off = 0;
  for (uint64_t l = 0; l < 32; ++l) off |= address[l] ^ (address[0] + l * bytes);
  return off == 0;
}

// ---------------------------------------------------------------------------------------------

// The addresses of all 32 lanes as two arithmetic sequences, one for each half-warp: lane l of a
// half is at first + l * stride. (In a block of 16 x 16 threads the halves are in different rows.)
struct StridedHalfWarpPair {
  uint64_t first[2] = {0, 0};
  uint64_t stride = kIrregular;
  static constexpr uint64_t kIrregular = uint64_t{1} << 63, kHalf = 16;

  bool is_one_sequence() const { return first[1] == first[0] + kHalf * stride; }
  void expand_to_addresses(uint64_t* address) const {
    for (uint64_t half = 0; half < 2; ++half)
      for (uint64_t l = 0; l < kHalf; ++l) address[half * (kHalf) + l] = first[half] + l * stride;
  }
};

// ---------------------------------------------------------------------------------------------
// A variable in shared memory and its offset in the block's window.

struct SharedVariable {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;  // 0: a dynamic array, which extends to the end of the launch's shared memory
};

// ---------------------------------------------------------------------------------------------
// Addresses in the shared memory of a cluster, where each block can access every block's memory. An
// address has the format of a Hopper GPU (SR_CgaCtaId and PRMT in the machine code): the block's
// rank in the upper eight bits, the offset in its memory below. The blocks' memories are spaced
// accordingly, so an address is an offset in one array (ClusterSharedMemory in shared_memory.h).

constexpr uint32_t kRankShift = 24;
constexpr uint64_t kBlockWindow = uint64_t{1} << kRankShift;
constexpr uint64_t rank_of(uint64_t address) { return address >> kRankShift; }
constexpr uint64_t offset_in_block(uint64_t address) { return address & (kBlockWindow - 1); }
constexpr uint64_t base_of_rank(uint32_t rank) { return uint64_t{rank} << kRankShift; }

}  // namespace lab32::sim
