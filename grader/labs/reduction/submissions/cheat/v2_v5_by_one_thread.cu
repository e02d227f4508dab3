// verdict: v2: divergence | failed | "this is another step"
// verdict: v5: barriers | failed | "this is another step"
// One thread adds; stores to shared memory that nobody reads make up the accesses and the conflicts
// that the step should have, and barriers that order nothing its barriers.
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int idle[32 * 32];
  volatile int* own = idle + 32 * (threadIdx.x % 32);
  if (threadIdx.x < 32) {
    *own = 1;
    *own = 2;
  }
  for (int k = 0; k < 8; ++k) __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
  out[blockIdx.x] = sum;
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int idle[kMostThreads];
  volatile int* own = idle + threadIdx.x;
  *own = 1;
  *own = 2;
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < 2 * blockDim.x; ++i) sum += in[2 * blockIdx.x * blockDim.x + i];
  out[blockIdx.x] = sum;
}
