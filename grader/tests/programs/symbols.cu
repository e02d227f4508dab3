// __constant__ and __device__ variables: copied to and from, looked up, initialised.
//! stdout| 5 7 9 11
//! stdout| counter 34
//! stdout| table 16 bytes, found: 1
//! stdout| through the address 100
#include <cstdio>

__constant__ int factors[4];
__constant__ int offset = 3;
__device__ int counter = 30;
__device__ int table[4] = {1, 2, 3, 4};

__global__ void apply(int* out) {
  out[threadIdx.x] = table[threadIdx.x] * factors[threadIdx.x] + offset;
  atomicAdd(&counter, 1);
}

__global__ void overwrite(int* p) { *p = 100; }

int main() {
  const int twos[4] = {2, 2, 2, 2};
  int result[4], count = 0, *out;
  cudaMalloc(&out, sizeof result);
  cudaMemcpyToSymbol(factors, twos, sizeof twos);
  apply<<<1, 4>>>(out);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", result[0], result[1], result[2], result[3]);
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  std::printf("counter %d\n", count);
  size_t size = 0;
  void* address = nullptr;
  cudaGetSymbolSize(&size, table);
  const bool found = cudaGetSymbolAddress(&address, table) == cudaSuccess && address != nullptr;
  std::printf("table %zu bytes, found: %d\n", size, found);
  overwrite<<<1, 1>>>(static_cast<int*>(address) + 1);
  int second;
  cudaMemcpyFromSymbol(&second, table, sizeof second, sizeof(int));
  std::printf("through the address %d\n", second);
  cudaFree(out);
  return 0;
}
