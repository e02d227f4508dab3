// verdict: v8 int: result | failed | "a `__device__` variable keeps its value from one launch to the next"
// verdict: v8 float: result | failed | "The first launch is right"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once the result is right"
// verdict: v8: instructions | failed | "counts once nearly all points are reached"
// Right at the first launch: the count of blocks that are done goes on at the second.
__device__ unsigned blocks_done;
template <class T>
__device__ T sum_of[kBestBlocks];

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = fast_block_sum(sum);
  if (threadIdx.x != 0) return;
  sum_of<T>[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(&blocks_done, 1) != gridDim.x - 1) return;
  sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += sum_of<T>[b];
  *out = sum;
}
