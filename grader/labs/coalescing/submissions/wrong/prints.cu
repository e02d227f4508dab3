// verdict: B1 scale: result | passed | "The kernel printed, n = "
// verdict: C1 one element off the line | failed | "It is not 4"
// The output of a correct kernel is shown, too.
#include <cstdio>

__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 4096 * blockIdx.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    int i = first + k * 256;
    if (i < n) out[i] = factor * in[i];
  }
  if (first == 0) printf("%d elements\n", n);
}

LAB32_ANSWER(add2_sectors, 4);
