// The shared memories of the blocks of a cluster, as each of them reaches all. An address in them
// is that of a Hopper GPU, which has it in the machine code (SR_CgaCtaId, PRMT): a block's rank in
// the upper eight bits, its own offset below. The memories lie as far apart here, so that an
// address is an offset in one array.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lab32::sim {

// What an address in the cluster's window says.
constexpr uint32_t kRankShift = 24;
constexpr uint64_t kBlockWindow = uint64_t{1} << kRankShift;
constexpr uint64_t rank_of(uint64_t address) { return address >> kRankShift; }
constexpr uint64_t offset_in_block(uint64_t address) { return address & (kBlockWindow - 1); }
constexpr uint64_t base_of_rank(uint32_t rank) { return uint64_t{rank} << kRankShift; }

class ClusterMemory {
 public:
  // Address space of `blocks` windows; pages come when touched. Twice with `undefined`, a byte for
  // each byte (undefined_bytes.h).
  ClusterMemory(uint32_t blocks, bool undefined);
  ~ClusterMemory();
  ClusterMemory(const ClusterMemory&) = delete;
  ClusterMemory& operator=(const ClusterMemory&) = delete;

  std::byte* bytes() { return bytes_; }
  std::byte* undefined() { return undefined_; }  // null: they are not kept

 private:
  uint64_t size_;
  std::byte *bytes_ = nullptr, *undefined_ = nullptr;
};

}  // namespace lab32::sim
