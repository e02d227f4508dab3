// verdict: v8 int: result | failed | "race on partial["
// verdict: v8 float: result | failed | "race on partial["
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// The last block to draw a ticket adds up volatile sums, and no fence lies between sum and ticket.
__device__ unsigned bits_of(int v) { return unsigned(v); }
__device__ unsigned bits_of(float v) { return __float_as_uint(v); }
template <class T> __device__ T of_bits(unsigned b);
template <> __device__ int of_bits<int>(unsigned b) { return int(b); }
template <> __device__ float of_bits<float>(unsigned b) { return __uint_as_float(b); }
__device__ volatile unsigned partial[kBestBlocks];
__device__ unsigned tickets;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = bits_of(sum);
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBestThreads) sum += of_bits<T>(partial[b]);
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) *out = sum, tickets = 0;
}
