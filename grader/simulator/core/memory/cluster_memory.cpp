#include "simulator/core/memory/cluster_memory.h"

#include <sys/mman.h>

#include "base/error.h"

namespace lab32::sim {

ClusterMemory::ClusterMemory(uint32_t blocks, bool undefined)
    : size_(base_of_rank(blocks) * (undefined ? 2 : 1)) {
  void* const at = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw MachineError("no address space for the shared memory of a cluster");
  bytes_ = static_cast<std::byte*>(at);
  if (undefined) undefined_ = bytes_ + base_of_rank(blocks);
}

ClusterMemory::~ClusterMemory() { munmap(bytes_, size_); }

}  // namespace lab32::sim
