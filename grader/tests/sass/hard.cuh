// What ptxas does beyond the ordinary: here a plan must say so, or say that it cannot be made.
#pragma once

extern "C" {

// ptxas unrolls the loop (the barrier keeps the front end from it) and may merge neighbouring turns.
__global__ void merged_turns(int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 64; ++k) sum = sum * 3 + s[k];
  out[t] = sum;
}

__global__ void merged_turns_unknown(int* out, int length) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < length; ++k) {
    __threadfence_block();
    sum = sum * 3 + s[k];
  }
  out[t] = sum;
}

// The load at k + 1 is the load at k of the next turn.
__global__ void sliding(const int* __restrict__ in, int* out, int n) {
  int t = threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[k] * in[k + 1];
    __syncwarp();
  }
  out[t] = sum;
}

// The shuffle keeps the front end from unrolling; ptxas unrolls, and loads each word once.
__global__ void sliding_shared(int* out, int n) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k)
    sum = __shfl_xor_sync(0xffffffffu, sum, 1) + s[t + k] * s[t + k + 1];
  out[t] = sum;
}

// … and merges neighbouring turns.
__global__ void shuffled_turns(int* out, int n) {
  __shared__ int s[1024];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum = __shfl_xor_sync(0xffffffffu, sum, 1) + s[k];
  out[t] = sum;
}

// Nothing in the loop changes the address or the value.
__global__ void invariant(const float* __restrict__ in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  for (int k = 0; k < n; ++k) {
    asm volatile("ld.global.nc.f32 %0, [%1];" : "+f"(v) : "l"(in + i));
    out[i + k] = v;
  }
}

__device__ __noinline__ void put(float* p, float v, int n) {
  for (int k = 0; k < n; ++k) p[k * 32] = v + k;
}

__global__ void calls_store(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  put(out + i, in[i], n);
  if (n > 4) put(out, 1.0f, n / 2);
}

// A jump table.
__global__ void switched(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  switch (n) {
    case 0: out[i] = v; break;
    case 1: out[i + 1] = v * in[i + 3]; break;
    case 2: out[2 * i] = v + 7; break;
    case 3: out[3 * i] = v * v; out[3 * i + 1] = 5; break;
    case 4: out[i ^ 1] = v / 3; break;
    case 5: out[i + 4] = v % 7; break;
    case 6: out[i + 9] = in[v & 255]; break;
    default: out[i] = -v;
  }
}

// More values than registers.
__global__ void __launch_bounds__(1024, 2) spilling(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[64];
#pragma unroll
  for (int k = 0; k < 64; ++k) v[k] = in[i + k * 1024];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int k = 0; k < 64; ++k) v[k] = v[k] * v[(k * 7 + r) & 63] + v[(k + 13) & 63];
  }
#pragma unroll
  for (int k = 0; k < 64; ++k) out[i + k * 1024] = v[k];
}

// Both arms store to one address: one instruction may do for both.
__global__ void both_arms(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0.0f) {
    out[i] = in[i + n] * 2.0f;
  } else {
    out[i] = in[i + 2 * n] + 1.0f;
  }
}

// Overwritten before anybody can see it.
__global__ void dead_store(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = 1;
  s[t] = t * 2;
  __syncthreads();
  out[t] = s[63 - t];
}

// A spin lock: an atomic in a loop of the program's own.
__global__ void locked(int* lock, int* value) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *value += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Atomics in a loop that ptxas may unroll.
__global__ void counted_often(const int* in, int* total, int n) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) {
    if (in[i] > 0) atomicAdd(&s, 1);
    atomicAdd(total, in[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) total[1] = s;
}

__global__ void sum_float_often(const float* in, float* out, int n) {
  __shared__ float s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&s[i & 7], in[i]);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x];
}

// A vector of which one half is used, twice unrolled by the front end.
__global__ void halves_in_a_loop(const int4* in, int* out, int n) {
  int sum = 0;
  for (int k = threadIdx.x; k < n; k += 32) {
    int4 v = in[k];
    sum += v.y + v.z;
  }
  out[threadIdx.x] = sum;
}

}  // extern "C"
