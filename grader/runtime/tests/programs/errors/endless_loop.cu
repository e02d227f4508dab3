// A thread waits for a flag that is no atomic and not volatile. The compiler reads it once, so the
// loop never ends.
//! stdout| the launch timed out and was terminated
//! stderr~ endless_loop.cu:12
//! stderr~ repeats this loop for ever
//! check: stopped
//! gpu: faulty
#include <cstdio>

__global__ void wait_for(const int* in, int* out, int n) {
  // Nothing in the loop can change what it tests.
  while (in[threadIdx.x] != n) {
  }
  out[threadIdx.x] = 1;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 128);
  cudaMalloc(&out, 128);
  cudaMemset(in, 0, 128);
  wait_for<<<1, 32>>>(in, out, 5);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
