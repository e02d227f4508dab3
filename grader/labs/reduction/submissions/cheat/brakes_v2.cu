// verdict: v3: wavefronts | failed | "wavefronts"
// verdict on a GPU: v1 to v2: time | failed | "reduce_v2"
// verdict on a GPU: v2 to v3: time | failed | "so the check compares with"
// verdict on a GPU: v3 to v4: time | passed | "reduce_v4"
// A large v2 waits, and v3, which is v2 without the wait, looks like a step.
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = 2 * distance * t;
    if (i < blockDim.x) sums[i] += sums[i + distance];
    if (gridDim.x > 100000) __nanosleep(1000);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = 2 * distance * t;
    if (i < blockDim.x) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
