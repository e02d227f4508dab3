__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int cache[kMostThreads];
  int tid = threadIdx.x;
  cache[tid] = in[tid + blockIdx.x * blockDim.x];
  __syncthreads();
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int pos = tid * 2 * stride;
    if (pos < blockDim.x) cache[pos] = cache[pos] + cache[pos + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = cache[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int cache[kMostThreads];
  int tid = threadIdx.x;
  cache[tid] = in[tid + blockIdx.x * blockDim.x];
  __syncthreads();
  int stride = blockDim.x / 2;
  while (stride != 0) {
    if (tid < stride) cache[tid] += cache[tid + stride];
    __syncthreads();
    stride /= 2;
  }
  if (tid == 0) out[blockIdx.x] = cache[0];
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int cache[kMostThreads];
  int tid = threadIdx.x;
  int first = tid + blockIdx.x * blockDim.x * 2;
  cache[tid] = in[first] + in[first + blockDim.x];
  __syncthreads();
  int stride = blockDim.x / 2;
  while (stride != 0) {
    if (tid < stride) cache[tid] += cache[tid + stride];
    __syncthreads();
    stride /= 2;
  }
  if (tid == 0) out[blockIdx.x] = cache[0];
}

__device__ int sum_of_warp(int value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int cache[kMostThreads];
  int tid = threadIdx.x;
  int first = tid + blockIdx.x * blockDim.x * 2;
  cache[tid] = in[first] + in[first + blockDim.x];
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 32; stride /= 2) {
    if (tid < stride) cache[tid] += cache[tid + stride];
    __syncthreads();
  }
  if (tid < 32) {
    int value = sum_of_warp(cache[tid]);
    if (tid == 0) out[blockIdx.x] = value;
  }
}

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int cache[kThreads];
  int tid = threadIdx.x;
  int first = tid + blockIdx.x * kThreads * 2;
  cache[tid] = in[first] + in[first + kThreads];
  __syncthreads();
  if constexpr (kThreads >= 1024) {
    if (tid < 512) cache[tid] += cache[tid + 512];
    __syncthreads();
  }
  if constexpr (kThreads >= 512) {
    if (tid < 256) cache[tid] += cache[tid + 256];
    __syncthreads();
  }
  if constexpr (kThreads >= 256) {
    if (tid < 128) cache[tid] += cache[tid + 128];
    __syncthreads();
  }
  if constexpr (kThreads >= 128) {
    if (tid < 64) cache[tid] += cache[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    int value = sum_of_warp(cache[tid] + cache[tid + 32]);
    if (tid == 0) out[blockIdx.x] = value;
  }
}

LAB32_LAUNCH(reduce_v7, .block = 512, .items_per_thread = 8, .blocks_per_sm = 4);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  __shared__ T cache[kThreads];
  int tid = threadIdx.x;
  T value = 0;
  for (int i = tid + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) value += in[i];
  cache[tid] = value;
  __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (tid < stride) cache[tid] += cache[tid + stride];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(out, cache[0]);
}
