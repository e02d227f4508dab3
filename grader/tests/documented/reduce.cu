// The reduction of the reduce note, with its launches of 8 and of 32 threads a block: each thread
// brings one int into shared memory, a tree adds them up, thread 0 adds the block's sum.

template <int kThreads>
__global__ void reduce_eliminate_divergence(const int* arr, int* out, int len) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  int i = blockIdx.x * kThreads + t;
  sums[t] = i < len ? arr[i] : 0;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

template __global__ void reduce_eliminate_divergence<8>(const int*, int*, int);
template __global__ void reduce_eliminate_divergence<32>(const int*, int*, int);
