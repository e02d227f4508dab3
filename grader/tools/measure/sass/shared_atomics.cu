// One warp, one shared atomic, many address patterns: measures the wavefronts of each form.
// Lane l of launch p takes part if active(p, l) and uses word index(p, l); both are formulas, so
// that a test can repeat them.
#include <cstdio>
#include <cstdlib>

__host__ __device__ inline unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
__host__ __device__ inline unsigned range(unsigned p) { return 1u << (p % 11); }
__host__ __device__ inline unsigned index(unsigned p, unsigned l) {
  unsigned random = mix(p * 32 + l) % range(p);
  return p % 3 == 2 ? (random * 32) % 1024 : random;  // every third pattern: all in one bank
}
__host__ __device__ inline bool active(unsigned p, unsigned l) {
  return p % 2 == 0 || mix(7777 + p * 32 + l) % 3 != 0;
}

#define PATTERN_KERNEL(name, type, statement)                \
  __global__ void name(unsigned p) {                         \
    __shared__ type s[1024];                                 \
    if (active(p, threadIdx.x)) {                            \
      type* word = &s[index(p, threadIdx.x)];                \
      statement;                                             \
    }                                                        \
  }

PATTERN_KERNEL(increment, unsigned, atomicAdd(word, 1u))
PATTERN_KERNEL(add, unsigned, atomicAdd(word, p + threadIdx.x))
PATTERN_KERNEL(maximum, int, atomicMax(word, int(p + threadIdx.x)))
PATTERN_KERNEL(exchange, unsigned, atomicExch(word, threadIdx.x))
PATTERN_KERNEL(compare_swap, unsigned, atomicCAS(word, p, threadIdx.x))
PATTERN_KERNEL(compare_swap_long, unsigned long long,
               atomicCAS(word, (unsigned long long)p, (unsigned long long)threadIdx.x))
PATTERN_KERNEL(add_float, float, atomicAdd(word, float(threadIdx.x + 1)))
PATTERN_KERNEL(add_double, double, atomicAdd(word, double(threadIdx.x + 1)))
PATTERN_KERNEL(add_long, unsigned long long, atomicAdd(word, (unsigned long long)(threadIdx.x + 1)))

int main() {
  for (unsigned p = 0; p < 44; ++p) {
    increment<<<1, 32>>>(p);
    add<<<1, 32>>>(p);
    maximum<<<1, 32>>>(p);
    exchange<<<1, 32>>>(p);
    compare_swap<<<1, 32>>>(p);
    compare_swap_long<<<1, 32>>>(p);
    add_float<<<1, 32>>>(p);
    add_double<<<1, 32>>>(p);
    add_long<<<1, 32>>>(p);
  }
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::fprintf(stderr, "shared_atomics: %s\n", cudaGetErrorString(status));
    return 2;
  }
  return 0;
}
