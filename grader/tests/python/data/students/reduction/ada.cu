__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sdata[kMostThreads];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) {
      sdata[index] += sdata[index + s];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sdata[kMostThreads];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = in[i];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sdata[kMostThreads];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  sdata[tid] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sdata[kMostThreads];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  sdata[tid] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid < 32) {
    int v = sdata[tid] + sdata[tid + 32];
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    if (tid == 0) out[blockIdx.x] = v;
  }
}

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sdata[kThreads];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (kThreads * 2) + threadIdx.x;
  sdata[tid] = in[i] + in[i + kThreads];
  __syncthreads();
  if (kThreads >= 1024) {
    if (tid < 512) sdata[tid] += sdata[tid + 512];
    __syncthreads();
  }
  if (kThreads >= 512) {
    if (tid < 256) sdata[tid] += sdata[tid + 256];
    __syncthreads();
  }
  if (kThreads >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (kThreads >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid < 32) {
    int v = sdata[tid] + sdata[tid + 32];
    v += __shfl_down_sync(0xffffffff, v, 16);
    v += __shfl_down_sync(0xffffffff, v, 8);
    v += __shfl_down_sync(0xffffffff, v, 4);
    v += __shfl_down_sync(0xffffffff, v, 2);
    v += __shfl_down_sync(0xffffffff, v, 1);
    if (tid == 0) out[blockIdx.x] = v;
  }
}

LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 16, .blocks_per_sm = 8);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  __shared__ T sdata[kThreads];
  unsigned int tid = threadIdx.x;
  int i = blockIdx.x * kThreads + tid;
  int gridSize = kThreads * gridDim.x;
  T sum = 0;
  while (i < n) {
    sum += in[i];
    i += gridSize;
  }
  sdata[tid] = sum;
  __syncthreads();
  for (unsigned int s = kThreads / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid < 32) {
    T v = sdata[tid] + sdata[tid + 32];
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    if (tid == 0) atomicAdd(out, v);
  }
}
