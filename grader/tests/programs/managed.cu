// Managed memory: the same pointer on both sides; a __managed__ variable.
//! stdout| 0 1 4 9 16 25 36 49
//! stdout| calls 3
#include <cstdio>

__managed__ int calls = 1;

__global__ void square(int* v) {
  v[threadIdx.x] *= v[threadIdx.x];
  if (threadIdx.x == 0) ++calls;
}

int main() {
  int* v;
  cudaMallocManaged(&v, 8 * sizeof(int));
  for (int i = 0; i < 8; ++i) v[i] = i;
  square<<<1, 8>>>(v);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) std::printf(i < 7 ? "%d " : "%d\n", v[i]);
  ++calls;
  std::printf("calls %d\n", calls);
  cudaFree(v);
  return 0;
}
