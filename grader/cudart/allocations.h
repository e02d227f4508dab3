// What the program has allocated, and where pointers lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "cudart/api.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

enum class Home : uint8_t { device, pinned, managed };

struct Held {
  uint64_t begin = 0, bytes = 0;
  Home home = Home::device;
  unsigned flags = 0;            // of cudaHostAlloc or cudaMallocManaged
  cudaMemPool_t pool = nullptr;  // stream-ordered allocations
};

// Memory of the program's own that it registered (cudaHostRegister).
struct Registered {
  uint64_t bytes = 0;
  unsigned flags = 0;
  uint64_t device_address = 0;  // of the same pages
};

class Allocations {
 public:
  Allocations(sim::Memory& memory, uint64_t capacity) : memory_(memory), capacity_(capacity) {}

  // nullptr: out of memory. `what`: the function, for messages.
  const Held* allocate(uint64_t bytes, Home home, const char* what);
  void release(uint64_t begin);
  void release_all();
  // Its allocations live on.
  void forget_pool(cudaMemPool_t pool);
  // The one that holds the address (an empty one: that begins there); nullptr: none.
  Held* find(const void* pointer);

  uint64_t used() const { return used_; }
  uint64_t capacity() const { return capacity_; }
  std::map<uint64_t, Registered>& registered() { return registered_; }
  const std::map<uint64_t, Registered>::value_type* find_registered(const void* pointer) const;

 private:
  sim::Memory& memory_;
  uint64_t capacity_, used_ = 0, serial_ = 0;
  std::map<uint64_t, Held> held_;
  std::map<uint64_t, Registered> registered_;
};

}  // namespace lab32::cudart
