// Objects of the program's that graphs hold references to: with the last of these they are
// destroyed, by a function of the program's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/cudart/api.h"

struct CUuserObject_st {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  uint64_t references = 0;  // the program's, and those of graphs
};

namespace lab32::cudart {

// How many references a graph holds.
using OwnedObjects = std::map<cudaUserObject_t, uint64_t>;

class UserObjects {
 public:
  using Dead = std::vector<std::pair<cudaHostFn_t, void*>>;

  cudaUserObject_t make(void* pointer, cudaHostFn_t destroy, uint64_t references);
  bool knows(cudaUserObject_t object) const { return objects_.count(object) != 0; }
  void retain(cudaUserObject_t object, uint64_t count) { object->references += count; }
  // False: there are not so many.
  bool release(cudaUserObject_t object, uint64_t count);
  // Those that a graph holds: another's as well, or no longer.
  void retain(const OwnedObjects& owned);
  void release(const OwnedObjects& owned);
  // Whose last reference is gone: to be destroyed by whoever asks, outside the runtime's lock.
  Dead take_dead() { return std::exchange(dead_, {}); }

 private:
  std::map<cudaUserObject_t, std::unique_ptr<CUuserObject_st>> objects_;
  Dead dead_;
};

}  // namespace lab32::cudart
