// The block that starts first polls until all others have finished.
template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, t = threadIdx.x;
  T sum = blockIdx.x == 0 && t < n % 4 ? in[4 * count + t] : 0;
  // A block takes a tile of neighbours at a time: DRAM likes that better than four strides of the
  // whole grid.
  for (int i = blockIdx.x * kTile + t; i < count; i += gridDim.x * kTile) {
    Four<T> got[4];
    if (i + 3 * kBestThreads < count) {
#pragma unroll
      for (int k = 0; k < 4; ++k) got[k] = fours[i + k * kBestThreads];
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        int there = i + k * kBestThreads;
        got[k] = there < count ? fours[there] : Four<T>{};
      }
    }
    sum += (got[0].sum() + got[1].sum()) + (got[2].sum() + got[3].sum());
  }
  sum = fast_block_sum(sum);

  // The first block waits for the others' sums. All are resident, so they run in the meantime.
  volatile unsigned long long* all = sum_of_block;
  if (blockIdx.x != 0) {
    if (threadIdx.x == 0) all[blockIdx.x] = marked(sum);
    return;
  }
  if (threadIdx.x != 0) sum = 0;
  for (unsigned b = 1 + threadIdx.x; b < gridDim.x; b += kBestThreads) {
    unsigned long long word;
    while ((word = all[b]) == 0) {
    }
    all[b] = 0;
    T other;
    unmark(word, &other);
    sum += other;
  }
  __syncthreads();  // the first warp has read sum_of_warp
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
