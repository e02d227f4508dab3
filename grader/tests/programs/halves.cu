// Half precision: __half, __half2 and __nv_bfloat16 arithmetic and conversions.
//! stdout| half 3.5 0.75 7.125, overflow inf
//! stdout| half2 (4.0, 6.0) fma (5.0, 10.0)
//! stdout| bfloat16 of 1.00390625 rounds to 1.0000 and 1.01171875 to 1.0156
//! stdout| atomics 96.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

__global__ void compute(float* out, __half2* sum) {
  const __half a = __float2half(2.0f), b = __float2half(1.5f);
  if (threadIdx.x == 0) {
    out[0] = __half2float(a + b);
    out[1] = __half2float(b / a);
    out[2] = __half2float(__hfma(a, b, __float2half(4.125f)));
    out[3] = __half2float(__float2half(60000.0f) * a);
    const __half2 u = __floats2half2_rn(1, 2), v = __floats2half2_rn(3, 4);
    const __half2 w = __hadd2(u, v), f = __hfma2(u, w, __floats2half2_rn(1, -2));
    out[4] = __low2float(w);
    out[5] = __high2float(w);
    out[6] = __low2float(f);
    out[7] = __high2float(f);
    out[8] = __bfloat162float(__float2bfloat16(1.00390625f));
    out[9] = __bfloat162float(__float2bfloat16(1.01171875f));
  }
  atomicAdd(sum, __floats2half2_rn(1, 2));
}

int main() {
  float *out, v[10];
  __half2 *sum, zero = __floats2half2_rn(0, 0), s;
  cudaMalloc(&out, sizeof v);
  cudaMalloc(&sum, sizeof zero);
  cudaMemcpy(sum, &zero, sizeof zero, cudaMemcpyHostToDevice);
  compute<<<1, 32>>>(out, sum);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  cudaMemcpy(&s, sum, sizeof s, cudaMemcpyDeviceToHost);
  std::printf("half %g %g %g, overflow %g\n", v[0], v[1], v[2], v[3]);
  std::printf("half2 (%.1f, %.1f) fma (%.1f, %.1f)\n", v[4], v[5], v[6], v[7]);
  std::printf("bfloat16 of 1.00390625 rounds to %.4f and 1.01171875 to %.4f\n", v[8], v[9]);
  std::printf("atomics %.1f\n", __low2float(s) + __high2float(s));
  return 0;
}
