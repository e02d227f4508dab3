// The five additions of the coalescing note, launched as it does: 8 Mi threads in blocks of 64.

__global__ void add1(const float* x, const float* y, float* z) {
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  z[t] = x[t] + y[t];
}

__global__ void add2(const float* x, const float* y, float* z) {
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  z[t + 1] = x[t + 1] + y[t + 1];
}

__global__ void add3(const float* x, const float* y, float* z) {
  int t = (threadIdx.x ^ 1) + blockDim.x * blockIdx.x;
  z[t] = x[t] + y[t];
}

__global__ void add4(const float* x, const float* y, float* z) {
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  z[t / 32] = x[t / 32] + y[t / 32];
}

__global__ void add5(const float* x, const float* y, float* z) {
  int t = threadIdx.x + blockDim.x * blockIdx.x;
  z[4 * t] = x[4 * t] + y[4 * t];
}
