// The seven reductions of the classic ladder, each with its one new idea, to time the simulator by.
// v5 to v7 end without barriers on purpose, as they were once taught: `volatile` and a warp whose
// lanes are believed to be in step. Every access of that part is a race to report.
extern __shared__ int box[];

// v1: neighbours first; the active threads lie scattered over the warps.
__global__ void reduce_v1(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x;
  box[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) box[t] += box[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = box[0];
}

// v2: the active threads are the first ones; banks conflict.
__global__ void reduce_v2(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x;
  box[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned i = 2 * s * t;
    if (i < blockDim.x) box[i] += box[i + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = box[0];
}

// v3: halves instead of neighbours: no conflicts.
__global__ void reduce_v3(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x;
  box[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) box[t] += box[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = box[0];
}

// v4: the first addition while loading: half as many blocks.
__global__ void reduce_v4(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  box[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) box[t] += box[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = box[0];
}

__device__ void last_warp(volatile int* own, unsigned t) {
  own[t] += own[t + 32];
  own[t] += own[t + 16];
  own[t] += own[t + 8];
  own[t] += own[t + 4];
  own[t] += own[t + 2];
  own[t] += own[t + 1];
}

// v5: the last warp without barriers.
__global__ void reduce_v5(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  box[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) box[t] += box[t + s];
    __syncthreads();
  }
  if (t < 32) last_warp(box, t);
  if (t == 0) out[blockIdx.x] = box[0];
}

// v6: all loops unrolled, the size of the block being known.
template <unsigned threads>
__global__ void reduce_v6(const int* in, int* out, unsigned) {
  const unsigned t = threadIdx.x, i = blockIdx.x * threads * 2 + t;
  box[t] = in[i] + in[i + threads];
  __syncthreads();
  if (threads >= 512) {
    if (t < 256) box[t] += box[t + 256];
    __syncthreads();
  }
  if (threads >= 256) {
    if (t < 128) box[t] += box[t + 128];
    __syncthreads();
  }
  if (threads >= 128) {
    if (t < 64) box[t] += box[t + 64];
    __syncthreads();
  }
  if (t < 32) last_warp(box, t);
  if (t == 0) out[blockIdx.x] = box[0];
}
template __global__ void reduce_v6<128>(const int*, int*, unsigned);

// v7: each thread adds many elements first; few blocks.
template <unsigned threads>
__global__ void reduce_v7(const int* in, int* out, unsigned n) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * threads * 2 + t; i < n; i += threads * 2 * gridDim.x)
    sum += in[i] + in[i + threads];
  box[t] = sum;
  __syncthreads();
  if (threads >= 128) {
    if (t < 64) box[t] += box[t + 64];
    __syncthreads();
  }
  if (t < 32) last_warp(box, t);
  if (t == 0) out[blockIdx.x] = box[0];
}
template __global__ void reduce_v7<128>(const int*, int*, unsigned);
