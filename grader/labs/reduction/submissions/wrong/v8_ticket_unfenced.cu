// verdict: v8 int: result | failed | "a fence (__threadfence())"
// verdict: v8 float: result | failed | "race on sum_of_block_plain["
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// The last block to draw a ticket adds up what the others have stored, and nothing says that it is
// there.
__device__ double sum_of_block_plain[kBestBlocks];
__device__ unsigned tickets;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  __shared__ bool last;
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) {
    sum_of_block_plain[blockIdx.x] = sum;
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += T(sum_of_block_plain[b]);
  *out = sum;
  tickets = 0;
}
