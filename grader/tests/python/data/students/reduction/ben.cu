__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int s[kMostThreads];
  const unsigned t = threadIdx.x;
  s[t] = in[blockDim.x * blockIdx.x + t];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d <<= 1) {
    const unsigned k = t * d * 2;
    if (k + d < blockDim.x) s[k] += s[k + d];
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int s[kMostThreads];
  const unsigned t = threadIdx.x;
  s[t] = in[blockDim.x * blockIdx.x + t];
  __syncthreads();
  for (unsigned d = blockDim.x >> 1; d; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int s[kMostThreads];
  const unsigned t = threadIdx.x;
  const int* part = in + 2 * blockDim.x * blockIdx.x;
  s[t] = part[t] + part[t + blockDim.x];
  __syncthreads();
  for (unsigned d = blockDim.x >> 1; d; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (!t) out[blockIdx.x] = s[0];
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int s[kMostThreads];
  const unsigned t = threadIdx.x;
  const int* part = in + 2 * blockDim.x * blockIdx.x;
  s[t] = part[t] + part[t + blockDim.x];
  __syncthreads();
  for (unsigned d = blockDim.x >> 1; d > 32; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t >= 32) return;
  int mine = s[t] + s[t + 32];
  __syncwarp();
  for (unsigned d = 16; d; d >>= 1) {
    s[t] = mine;
    __syncwarp();
    mine += s[t + d];
    __syncwarp();
  }
  if (!t) out[blockIdx.x] = mine;
}

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int s[kThreads];
  const unsigned t = threadIdx.x;
  const int* part = in + 2 * kThreads * blockIdx.x;
  s[t] = part[t] + part[t + kThreads];
  __syncthreads();
#pragma unroll
  for (unsigned d = kThreads / 2; d > 32; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t >= 32) return;
  int mine = s[t] + s[t + 32];
#pragma unroll
  for (unsigned d = 16; d; d /= 2) mine += __shfl_xor_sync(~0u, mine, d);
  if (!t) out[blockIdx.x] = mine;
}

LAB32_LAUNCH(reduce_v7, .block = 128, .items_per_thread = 32, .blocks_per_sm = 16);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  __shared__ T warps[32];
  const unsigned t = threadIdx.x;
  T mine = 0;
  for (int i = kThreads * blockIdx.x + t; i < n; i += kThreads * gridDim.x) mine += in[i];
#pragma unroll
  for (unsigned d = 16; d; d /= 2) mine += __shfl_xor_sync(~0u, mine, d);
  if (t % 32 == 0) warps[t / 32] = mine;
  __syncthreads();
  if (t >= 32) return;
  mine = t < kThreads / 32 ? warps[t] : 0;
#pragma unroll
  for (unsigned d = 16; d; d /= 2) mine += __shfl_xor_sync(~0u, mine, d);
  if (!t) atomicAdd(out, mine);
}
