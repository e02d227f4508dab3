// The seven reductions of the classic ladder, each with one new idea, as a benchmark of the simulator.
// v5 to v7 end without barriers on purpose, as they were once taught: with `volatile`, and assuming that the
// lanes of a warp run in lockstep. Every access of that part is a race that the simulator reports.
extern __shared__ int box[];

// v1: adds neighbours first; the active threads are scattered over the warps.
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

// v2: the active threads are the first ones; there are bank conflicts.
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

// v3: adds the halves instead of neighbours, without bank conflicts.
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

// v4: the first addition happens while loading, with half as many blocks.
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

// v5: the last warp has no barriers.
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

// v6: all loops are unrolled, because the block size is known.
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

// v7: each thread first adds many elements; there are few blocks.
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
