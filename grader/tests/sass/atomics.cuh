// Atomics: what ptxas makes of them differs by type, space, result and address.
#pragma once

extern "C" {

// One address for the whole warp: integers are summed in the warp first, one lane issues.
__global__ void count_uniform(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

__global__ void count_ones(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(total, 1);
}

__global__ void max_uniform(const int* in, int* top, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(top, in[i]);
}

__global__ void or_uniform(const unsigned* in, unsigned* bits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicOr(bits, in[i]);
}

// The result is used: each lane's own ticket.
__global__ void tickets(const int* in, int* next, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    int at = atomicAdd(next, 1);
    out[at] = i;
  }
}

__global__ void add_float_uniform(const float* in, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

__global__ void add_double_uniform(const double* in, double* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

__global__ void histogram_global(const unsigned char* in, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], 1u);
}

__global__ void histogram_weights(const unsigned char* in, const unsigned* weight, unsigned* bins,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i]], weight[i]);
}

__global__ void histogram_shared(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&s[in[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void shared_count(const int* in, int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (in[blockIdx.x * blockDim.x + threadIdx.x] > 0) atomicAdd(&s, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void shared_sum(const int* in, int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void shared_bins(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 64) s[t] = 0;
  __syncthreads();
  int v = in[blockIdx.x * blockDim.x + t];
  atomicAdd(&s[v & 63], v);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = s[t];
}

__global__ void shared_tickets(const int* in, int* out) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (v > 0) out[blockIdx.x * blockDim.x + atomicAdd(&next, 1)] = v;
}

__global__ void shared_max(const int* in, int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = -1;
  __syncthreads();
  int v = in[blockIdx.x * blockDim.x + t];
  atomicMax(&s[v & 31], v);
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = s[t];
}

// Shared memory has no float adder: a compare-and-swap loop.
__global__ void shared_float_add(const float* in, float* out) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  float v = in[blockIdx.x * blockDim.x + t];
  atomicAdd(&s[t & 7], v);
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = s[t];
}

__global__ void shared_float_total(const float* in, float* out) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void shared_double_add(const double* in, double* out) {
  __shared__ double s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t & 7], in[blockIdx.x * blockDim.x + t]);
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = s[t];
}

__global__ void shared_long_add(const unsigned long long* in, unsigned long long* out) {
  __shared__ unsigned long long s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t & 7], in[blockIdx.x * blockDim.x + t]);
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = s[t];
}

__global__ void exchange(int* slots, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicExch(&slots[i], i);
}

__global__ void exchange_unused(int* slots) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicExch(&slots[i], i);
}

__global__ void compare_swap(int* slots, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = atomicCAS(&slots[i & 63], 0, i);
}

__global__ void shared_compare_swap(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  out[t] = atomicCAS(&s[t & 31], 0, t);
}

// One lane of each warp adds the warp's sum: no aggregation left to do.
__global__ void leader_adds(const int* in, int* total) {
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_down_sync(0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

__global__ void block_adds(const int* in, int* total) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, s[0]);
}

}  // extern "C"
