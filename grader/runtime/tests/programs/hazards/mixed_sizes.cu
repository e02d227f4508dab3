// Atomics of 8 and of 4 bytes on one place are not atomic to each other: they do not overlap
// completely (PTX ISA, "morally strong").
//! case both_sizes
//! check: race 1
//! case both_sizes_with_results
//! check: race 1
//! case vector_and_word
//! check: race 1
//! case one_size
//! case halves
#include <cstdio>
#include <cstring>

__device__ unsigned long long sum;

__global__ void both_sizes() {
  if (blockIdx.x == 0)
    atomicAdd(&sum, 1ull);
  else
    atomicAdd(reinterpret_cast<unsigned*>(&sum), 1u);
}

__global__ void both_sizes_with_results(unsigned* out) {
  if (blockIdx.x == 0)
    out[0] = atomicExch(&sum, 1ull);
  else
    out[1] = atomicExch(reinterpret_cast<unsigned*>(&sum) + 1, 1u);
}

__global__ void vector_and_word() {
  if (blockIdx.x == 0)
    *static_cast<volatile unsigned long long*>(&sum) = 1;
  else
    while (*reinterpret_cast<volatile unsigned*>(&sum) == 0) {
    }
}

__global__ void one_size() { atomicAdd(&sum, 1ull); }

__global__ void halves() { atomicAdd(reinterpret_cast<unsigned*>(&sum) + blockIdx.x, 1u); }

int main(int, char** argv) {
  unsigned* out;
  cudaMalloc(&out, 8);
  if (!std::strcmp(argv[1], "both_sizes")) both_sizes<<<2, 1>>>();
  if (!std::strcmp(argv[1], "both_sizes_with_results")) both_sizes_with_results<<<2, 1>>>(out);
  if (!std::strcmp(argv[1], "vector_and_word")) vector_and_word<<<2, 1>>>();
  if (!std::strcmp(argv[1], "one_size")) one_size<<<2, 1>>>();
  if (!std::strcmp(argv[1], "halves")) halves<<<2, 1>>>();
  cudaDeviceSynchronize();
  return 0;
}
