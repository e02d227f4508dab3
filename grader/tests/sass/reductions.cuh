// Block reductions from the naive one to shuffles, softmax, and a scan: the reduction and shuffle labs' shapes.
#pragma once

extern "C" {

__global__ void reduce_modulo(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    if (t % (2 * step) == 0) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_interleaved(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int i = 2 * step * t;
    if (i < 256) s[i] += s[i + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_sequential(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_first_add(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + t;
  s[t] = in[i] + in[i + 256];
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__device__ inline void last_warp(volatile int* s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__global__ void reduce_volatile_warp(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 512 + t;
  s[t] = in[i] + in[i + 256];
  __syncthreads();
  for (int step = 128; step > 32; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

}  // extern "C"

__device__ inline void synced_warp(int* s, int t) {
  int v = s[t];
  for (int step = 32; step > 0; step >>= 1) {
    v += s[t + step];
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
}

template <unsigned kBlock>
__global__ void reduce_unrolled(const int* in, int* out) {
  __shared__ int s[kBlock];
  unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * kBlock * 2 + t;
  s[t] = in[i] + in[i + kBlock];
  __syncthreads();
  if (kBlock >= 512) {
    if (t < 256) s[t] += s[t + 256];
    __syncthreads();
  }
  if (kBlock >= 256) {
    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
  }
  if (kBlock >= 128) {
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
  }
  if (t < 32) synced_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
template __global__ void reduce_unrolled<128>(const int*, int*);
template __global__ void reduce_unrolled<512>(const int*, int*);

template <unsigned kBlock>
__global__ void reduce_grid_stride(const int* in, int* out, unsigned n) {
  __shared__ int s[kBlock];
  unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * kBlock * 2 + t; i < n; i += kBlock * 2 * gridDim.x) {
    sum += in[i];
    if (i + kBlock < n) sum += in[i + kBlock];
  }
  s[t] = sum;
  __syncthreads();
  if (t < 128) s[t] += s[t + 128];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) synced_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
template __global__ void reduce_grid_stride<256>(const int*, int*, unsigned);

extern "C" {

__device__ inline float warp_sum(float v) {
  for (int step = 16; step > 0; step >>= 1) v += __shfl_down_sync(0xffffffffu, v, step);
  return v;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float parts[32];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = warp_sum(sum);
  if (t % 32 == 0) parts[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = t < blockDim.x / 32 ? parts[t] : 0.0f;
    sum = warp_sum(sum);
    if (t == 0) atomicAdd(out, sum);
  }
}

__global__ void reduce_vectorized(const int4* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int i = blockIdx.x * 256 + t;
  int4 v = i < n ? in[i] : make_int4(0, 0, 0, 0);
  s[t] = v.x + v.y + v.z + v.w;
  __syncthreads();
#pragma unroll
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void softmax_row(const float* in, float* out, int columns) {
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  int lane = threadIdx.x;
  float top = -3.4e38f;
  for (int c = lane; c < columns; c += 32) top = fmaxf(top, row[c]);
  for (int step = 16; step > 0; step >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  float sum = 0;
  for (int c = lane; c < columns; c += 32) sum += __expf(row[c] - top);
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = lane; c < columns; c += 32) result[c] = __expf(row[c] - top) / sum;
}

__global__ void scan_block(const int* in, int* out) {
  __shared__ int s[2][256];
  int t = threadIdx.x;
  int from = 0;
  s[0][t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int v = s[from][t];
    if (t >= step) v += s[from][t - step];
    s[from ^ 1][t] = v;
    from ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = s[from][t];
}

}  // extern "C"
