// The words, scopes and waits of scoped_races.cu and scoped_locks.cu, and their main function.
#pragma once

#include <cstdio>
#include <cstring>

enum Scope { kNone, kBlock, kDevice };
enum Place { kBlocks, kWarps, kLanes };

struct Words {
  int data = 0, flag = 0, lock = 0, second_flag = 0;
  int seen[4] = {};
};

template <Scope scope>
__device__ void fence() {
  if (scope == kBlock) __threadfence_block();
  if (scope == kDevice) __threadfence();
}

template <Scope scope>
__device__ int exchange(int* word, int value) {
  return scope == kBlock ? atomicExch_block(word, value) : atomicExch(word, value);
}

// Which of the two this thread is; 2: neither.
template <Place place>
__device__ int who() {
  if (place == kBlocks) return threadIdx.x == 0 ? blockIdx.x : 2;
  if (place == kWarps) return threadIdx.x % 32 == 0 ? threadIdx.x / 32 : 2;
  return threadIdx.x < 2 ? threadIdx.x : 2;
}

__device__ void wait_for(int* flag, int value) {
  while (atomicAdd(flag, 0) != value) {
  }
}

using Volatile = volatile int;
struct Case {
  const char* name;
  void (*kernel)(Words*);
  Place place;
  int Words::*result = nullptr;  // printed
  bool seen = false;             // printed: what was read
};

// Runs the case that the first argument names.
template <size_t n>
int run_case(const Case (&cases)[n], int argc, char** argv) {
  for (const Case& c : cases) {
    if (argc < 2 || std::strcmp(argv[1], c.name) != 0) continue;
    Words words, *w;
    cudaMalloc(&w, sizeof words);
    cudaMemcpy(w, &words, sizeof words, cudaMemcpyHostToDevice);
    c.kernel<<<c.place == kBlocks ? 2 : 1, c.place == kLanes ? 32 : 64>>>(w);
    const cudaError_t error = cudaMemcpy(&words, w, sizeof words, cudaMemcpyDeviceToHost);
    if (c.result != nullptr) std::printf("%d\n", words.*c.result);
    if (c.seen) std::printf("%d\n", words.seen[0]);
    return error != cudaSuccess;
  }
  return 2;
}
