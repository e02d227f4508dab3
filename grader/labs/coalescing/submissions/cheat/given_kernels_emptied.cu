// verdict: A1 requests | failed | "Your function returns 0 for every input"
// verdict: A2 sectors | failed | "Your function returns 0 for every input"
// verdict: A3 applied to add1 ... add5 | failed | "add1"
// Functions that count nothing, and given kernels that do nothing: what is counted agrees.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return 0;
}

__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  return 0;
}

__global__ void add1(const float* x, const float* y, float* z) {}

__global__ void add2(const float* x, const float* y, float* z) {}

__global__ void add3(const float* x, const float* y, float* z) {}

__global__ void add4(const float* x, const float* y, float* z) {}

__global__ void add5(const float* x, const float* y, float* z) {}

__global__ void copy_strided(const float* in, float* out, int stride) {}
