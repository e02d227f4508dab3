// What memory an access goes to and what it does there, how the addresses of a warp lie, and what
// an address in shared memory says.
#pragma once

#include <cstdint>
#include <string>

namespace lab32::sim {

enum class AccessSpace : uint8_t { global, shared, local, constant };
enum class AccessKind : uint8_t { load, store, red, atom };
enum class AccessUse : uint8_t { read, write, update };  // update: an atomic

constexpr AccessUse use_of(AccessKind kind) {
  return kind == AccessKind::load    ? AccessUse::read
         : kind == AccessKind::store ? AccessUse::write
                                     : AccessUse::update;
}

// ---------------------------------------------------------------------------------------------
// Whether the lanes of a full warp touch neighbouring pieces of memory, the common case.

inline bool contiguous(const uint64_t* address, unsigned bytes) {
  uint64_t off = 0;
  for (uint64_t l = 0; l < 32; ++l) off |= address[l] ^ (address[0] + l * bytes);
  return off == 0;
}

// ---------------------------------------------------------------------------------------------
// The addresses of a whole warp where they need no list.

// How the addresses of all 32 lanes lie, each half-warp's by itself (a block of 16 x 16 threads):
// lane l's of a half at first + l * stride.
struct WarpRow {
  uint64_t first[2] = {0, 0};
  uint64_t stride = kIrregular;
  static constexpr uint64_t kIrregular = uint64_t{1} << 63, kHalf = 16;

  bool is_one_row() const { return first[1] == first[0] + kHalf * stride; }
  void write_to(uint64_t* address) const {
    for (uint64_t half = 0; half < 2; ++half)
      for (uint64_t l = 0; l < kHalf; ++l) address[half * (kHalf) + l] = first[half] + l * stride;
  }
};

// ---------------------------------------------------------------------------------------------
// A variable in shared memory: where it lies in the block's window.

struct SharedVariable {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;  // 0: dynamic, to the end of what the launch has
};

// ---------------------------------------------------------------------------------------------
// The shared memories of the blocks of a cluster, as each of them reaches all. An address in them
// is that of a Hopper GPU, which has it in the machine code (SR_CgaCtaId, PRMT): a block's rank in
// the upper eight bits, its own offset below. The memories lie as far apart here, so that an
// address is an offset in one array (ClusterMemory in shared_memory.h).

constexpr uint32_t kRankShift = 24;
constexpr uint64_t kBlockWindow = uint64_t{1} << kRankShift;
constexpr uint64_t rank_of(uint64_t address) { return address >> kRankShift; }
constexpr uint64_t offset_in_block(uint64_t address) { return address & (kBlockWindow - 1); }
constexpr uint64_t base_of_rank(uint32_t rank) { return uint64_t{rank} << kRankShift; }

}  // namespace lab32::sim
