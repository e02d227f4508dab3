// Locks and flags in shared memory order accesses as those in device memory do. Beside each fault is
// the correct version. A volatile store is no atomic: without an order it races with all but polls.
//! case lock
//! stdout| 12
//! case lock_unfenced
//! check: race 1
//! case flag
//! stdout| 7
//! case flag_unfenced
//! check: race 1
//! case flag_of_leader_unfenced
//! check: race 1
//! case flag_block_fence
//! stdout| 7
//! case flag_then_barrier
//! stdout| 7
//! case flag_of_leader
//! stdout| 7
//! case volatile_sum
//! check: race 1
//! case volatile_by_turns
//! stdout| 12
//! case volatile_and_atomic
//! check: race 1
#include <cstdio>
#include <cstring>

__device__ int result;

// The first lanes of four warps add 3 each.
template <bool fenced>
__global__ void lock(int) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += 3;
    if (fenced) __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) result = sum;
}

enum Reader { kFence, kBarrier, kUnfenced };

// Warp 1 hands a value to warp 0.
template <Reader reader, bool narrow>
__global__ void flag(int given) {
  __shared__ int value;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    value = given;
    if (narrow)
      __threadfence_block();
    else
      __threadfence();
    ready = 1;
  }
  if (threadIdx.x == 0) {
    while (ready == 0) {
    }
    if (reader == kFence) __threadfence_block();
    if (reader != kBarrier) result = value;
  }
  if (reader == kBarrier) {
    __syncwarp();
    if (threadIdx.x == 5) result = value;
  }
}

// All lanes of warp 1 write and fence, and its first lane sets the flag.
template <bool fenced>
__global__ void flag_of_leader(int given) {
  __shared__ int value[32], ready;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x / 32 == 1) {
    value[threadIdx.x - 32] = threadIdx.x == 37 ? given : 1;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 32) atomicExch(&ready, 1);
  }
  if (threadIdx.x < 32) {
    while (atomicAdd(&ready, 0) == 0) {
    }
    if (fenced) __threadfence_block();
    if (threadIdx.x == 0) result = value[5];
  }
}

// Each warp adds 3 to a volatile word; by turns, or at any time.
template <bool turns>
__global__ void add_to_volatile(int) {
  __shared__ volatile int sum, turn;
  if (threadIdx.x == 0) sum = 0, turn = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    if (turns)
      while (turn != threadIdx.x / 32) {
      }
    __threadfence_block();
    sum = sum + 3;
    __threadfence_block();
    if (turns) turn = threadIdx.x / 32 + 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) result = sum;
}

__global__ void volatile_and_atomic(int) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&word, 1);
  if (threadIdx.x == 32) *static_cast<volatile int*>(&word) = 2;
  __syncthreads();
  if (threadIdx.x == 0) result = word;
}

struct Case {
  const char* name;
  void (*kernel)(int);
  bool defined;
};

const Case kCases[] = {
    {"lock", lock<true>, true},
    {"lock_unfenced", lock<false>, false},
    {"flag", flag<kFence, false>, true},
    {"flag_block_fence", flag<kFence, true>, true},
    {"flag_then_barrier", flag<kBarrier, false>, true},
    {"flag_unfenced", flag<kUnfenced, false>, false},
    {"flag_of_leader", flag_of_leader<true>, true},
    {"flag_of_leader_unfenced", flag_of_leader<false>, false},
    {"volatile_sum", add_to_volatile<false>, false},
    {"volatile_by_turns", add_to_volatile<true>, true},
    {"volatile_and_atomic", volatile_and_atomic, false},
};

int main(int, char** argv) {
  for (const Case& one : kCases) {
    if (std::strcmp(one.name, argv[1]) != 0) continue;
    one.kernel<<<1, 128>>>(7);
    int found = 0;
    cudaMemcpyFromSymbol(&found, result, sizeof found);
    if (one.defined) std::printf("%d\n", found);
  }
  return 0;
}
