// Shared code of the timing programs of data/measured: checked calls, inputs that are not zero, and
// medians of times with a cold L2.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error = (call);                                                                 \
    if (error != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

namespace timing {

constexpr size_t kFlush = size_t{512} << 20;  // bytes: several times the L2 of any GPU today

// All values differ: zeros would be faster and would hide mistakes.
static __global__ void fill(unsigned* to, size_t words, unsigned seed) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    unsigned h = unsigned(i) * 2654435761u ^ seed;
    h = (h ^ h >> 15) * 2246822519u;
    to[i] = (h ^ h >> 13) * 3266489917u;
  }
}

static __global__ void read_all(const uint4* from, size_t n, unsigned* sink) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  unsigned sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) sum += from[i].x;
  if (sum == 1) *sink = sum;  // keeps the compiler from removing the loads; rarely true, and harmless then
}

// Device memory with values in it.
inline void* allocate(size_t bytes, unsigned seed) {
  void* p;
  CHECK(cudaMalloc(&p, bytes));
  fill<<<1024, 256>>>(static_cast<unsigned*>(p), bytes / 4, seed);
  CHECK(cudaGetLastError());
  return p;
}

struct Time {
  double median_ms, min_ms;
};

// A read of other memory evicts the data from L2 before each repeat.
inline Time measure(int repeats, const std::function<void()>& work) {
  static void* const flush = allocate(kFlush + 4, 4);
  unsigned* const sink = static_cast<unsigned*>(flush) + kFlush / 4;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int k = 0; k < repeats + 2; ++k) {
    read_all<<<1024, 256>>>(static_cast<const uint4*>(flush), kFlush / 16, sink);
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k >= 2) times.push_back(ms);  // the first two warm up
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

}  // namespace timing
