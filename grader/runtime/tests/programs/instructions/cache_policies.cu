// L2 cache policies are hints: accesses give the same values.
//! stdout| 7 13
#include <cstdio>

__global__ void next(const int* a, int* b) {
  unsigned long long policy;
  int v;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(a + threadIdx.x));
  asm volatile("ld.global.L2::cache_hint.s32 %0, [%1], %2;"
               : "=r"(v)
               : "l"(a + threadIdx.x), "l"(policy));
  asm volatile("st.global.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(b + threadIdx.x), "r"(v + 1),
               "l"(policy)
               : "memory");
}

int main() {
  int *a, *b, h[32];
  for (int i = 0; i < 32; ++i) h[i] = 2 * i;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  next<<<1, 32>>>(a, b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", h[3], h[6]);
  return 0;
}
