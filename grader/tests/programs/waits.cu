// Spin locks, clocks and sleeping: threads that wait for each other inside a warp and across blocks.
//! stdout| lock 640 of 640, slept at least 0: 1, clock moved: 1
#include <cstdio>

__device__ int lock = 0;
__device__ int counter = 0;

__global__ void with_lock() {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      counter = *reinterpret_cast<volatile int*>(&counter) + 1;
      __threadfence();
      atomicExch(&lock, 0);
      done = true;
    } else {
      __nanosleep(20);
    }
  }
}

__global__ void clocks(long long* out) {
  const long long start = clock64();
  __nanosleep(1000);
  long long now = start;
  for (int i = 0; i < 100 && now == start; ++i) now = clock64();
  out[0] = now - start;
}

int main() {
  long long *out, v = -1;
  int count = 0;
  cudaMalloc(&out, sizeof v);
  with_lock<<<10, 64>>>();
  clocks<<<1, 1>>>(out);
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  std::printf("lock %d of 640, slept at least 0: %d, clock moved: %d\n", count, v >= 0, v > 0);
  return 0;
}
