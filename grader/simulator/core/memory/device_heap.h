// malloc() and free() of kernels: pieces of device memory, each an allocation of its own, so that
// what lies beside it, and what was freed, is told from it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace lab32::sim {

class Memory;

class DeviceHeap {
 public:
  explicit DeviceHeap(Memory& memory) : memory_(memory) {}

  // cudaLimitMallocHeapSize.
  void set_limit(uint64_t bytes) { limit_ = bytes; }

  // 0 when what is asked for and what is held come to more than the limit. (A GPU's own
  // book-keeping takes part of the heap too, so that it gives up somewhat earlier.) 16-byte
  // aligned.
  uint64_t allocate(uint64_t bytes, const std::string& name);
  enum class Release : uint8_t { done, freed_before, not_allocated };
  Release release(uint64_t address);
  void release_all();

 private:
  Memory& memory_;
  uint64_t limit_ = 0, used_ = 0;
  struct Piece {
    uint64_t bytes;
    bool live;
  };
  std::unordered_map<uint64_t, Piece> pieces_;  // by address
};

}  // namespace lab32::sim
