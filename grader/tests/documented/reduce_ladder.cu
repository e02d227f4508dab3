// The other rungs of the reduce note's ladder: its first three kernels with their faults, and its
// last two. Between them stand reduce_eliminate_divergence (reduce.cu) and reduce_vectorized
// (bank_conflicts.cu).

// The first: an int a thread, neighbours first, scattered threads. Where `len` ends within a block,
// the rest of `sums` is what was there before.
template <int kThreads>
__global__ void reduce_naive(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  int i = blockIdx.x * kThreads + t;
  if (i < len) sums[t] = arr[i];
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    if (t % (2 * step) == 0 && t + step < kThreads) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void reduce_naive<128>(const int*, int*, int);

// The second: two ints a thread, and half as many words, although each thread still has one; and
// blocks that begin where their neighbour's second half does.
template <int kThreads>
__global__ void reduce_half(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads / 2];
  int t = threadIdx.x;
  int i = blockIdx.x * kThreads + t;
  int sum = i < len ? arr[i] : 0;
  if (i + kThreads < len) sum += arr[i + kThreads];
  sums[t] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void reduce_half<128>(const int*, int*, int);

// The third, as printed: who has a partner adds, so that words are written that others read.
template <int kThreads>
__global__ void reduce_overlap(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  int i = blockIdx.x * kThreads + t;
  sums[t] = i < len ? arr[i] : 0;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t + step < kThreads) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void reduce_overlap<8>(const int*, int*, int);
template __global__ void reduce_overlap<32>(const int*, int*, int);

__device__ int sum_of_int4(const int* arr, int i, int len) {
  if (4 * i >= len) return 0;
  int4 v = reinterpret_cast<const int4*>(arr)[i];
  return v.x + v.y + v.z + v.w;
}

// Four ints a thread, added before they reach shared memory.
template <int kThreads>
__global__ void reduce_coarsened(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  sums[t] = sum_of_int4(arr, blockIdx.x * kThreads + t, len);
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void reduce_coarsened<32>(const int*, int*, int);

// The same with shuffles from 64 sums on.
template <int kThreads>
__global__ void reduce_shuffle(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  sums[t] = sum_of_int4(arr, blockIdx.x * kThreads + t, len);
  __syncthreads();
  for (int step = kThreads / 2; step > 32; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t >= 32) return;
  int sum = sums[t] + (kThreads > 32 ? sums[t + 32] : 0);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (t == 0) atomicAdd(out, sum);
}
template __global__ void reduce_shuffle<128>(const int*, int*, int);
