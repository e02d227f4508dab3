// verdict: B1 scale: sectors | failed | "neighbouring lanes access neighbouring elements"
// verdict: B5 axpy: requests | failed | "requests"
// The given kernels, under the name of a header of CUDA's: what is counted has no line to be told
// of, and is counted.
#line 1 "/usr/local/cuda/include/cuda_runtime.h"
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 16; ++k) {
    int i = first + k;
    if (i < n) out[i] = factor * in[i];
  }
}

#line 4000000 "lab32.cuh"
__global__ void axpy(float a, const float* x, float* y, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) y[i] = a * x[i] + y[i];
}
