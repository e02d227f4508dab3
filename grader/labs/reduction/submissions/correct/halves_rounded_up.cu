// Half of the remaining sums, rounded up, instead of a power of two; inverted conditions in a
// helper; v4's two loads in a loop.
__device__ bool outside(int i, int n) { return !(i >= 0 && i < n); }

__device__ void halve_rounded_up(int* sums) {
  for (unsigned left = blockDim.x; left > 1;) {
    unsigned half = (left + 1) / 2;
    if (threadIdx.x + half < left) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
    left = half;
  }
}

__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  int t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    int i = 2 * distance * t;
    if (!outside(i, blockDim.x)) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  halve_rounded_up(sums);
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, first = 2 * blockIdx.x * blockDim.x + t;
  int sum = 0;
  for (unsigned k = 0; k < 2; ++k) sum += in[first + k * blockDim.x];
  sums[t] = sum;
  __syncthreads();
  halve_rounded_up(sums);
  if (t == 0) out[blockIdx.x] = sums[0];
}
