__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = t * 2 * distance;
    if (i < blockDim.x) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  unsigned first = 2 * blockIdx.x * blockDim.x;
  sums[t] = in[first + t] + in[first + t + blockDim.x];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  unsigned first = 2 * blockIdx.x * blockDim.x;
  sums[t] = in[first + t] + in[first + t + blockDim.x];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 32; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < 32) {
    int sum = sums[t] + sums[t + 32];
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  unsigned t = threadIdx.x;
  unsigned first = 2 * blockIdx.x * kThreads;
  sums[t] = in[first + t] + in[first + t + kThreads];
  __syncthreads();
#pragma unroll
  for (unsigned distance = kThreads / 2; distance > 32; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < 32) {
    int sum = sums[t] + sums[t + 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 8, .blocks_per_sm = 8);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  __shared__ T sums[kThreads];
  unsigned t = threadIdx.x;
  T sum = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) sum += in[i];
  sums[t] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned distance = kThreads / 2; distance > 32; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < 32) {
    sum = sums[t] + sums[t + 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (t == 0) atomicAdd(out, sum);
  }
}
