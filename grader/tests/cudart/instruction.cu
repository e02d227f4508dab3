// A kernel with an instruction that the simulator does not have, beside one without.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void unknown(unsigned* out) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  *out = 1;
}
__global__ void plain(unsigned* out) { *out = 2; }

int main() {
  unsigned* out;
  cudaMallocManaged(&out, 4);
  plain<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  std::printf("%u\n", *out);
  unknown<<<1, 1>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  cudaDeviceSynchronize();
  std::printf("%u\n", *out);
  return 0;
}
