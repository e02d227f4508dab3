// verdict: v8: requests | failed | "a lane moves 3.99 bytes per request"
// verdict: v8: threads | failed | "of all threads work"
// verdict: v8: instructions | failed | "counts once nearly all points are reached"
// half right
// v7's loop in v8's frame: 4 bytes per lane; and one thread adds the sums of all blocks.
LAB32_LAUNCH(reduce_v8, .block = kBestThreads, .items_per_thread = 64);

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  volatile unsigned long long* all = sum_of_block;
  if (blockIdx.x != gridDim.x - 1) {
    if (threadIdx.x == 0) all[blockIdx.x] = marked(sum);
    return;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned b = 0; b < gridDim.x - 1; ++b) {
    unsigned long long word;
    while ((word = all[b]) == 0) {
    }
    all[b] = 0;
    T other;
    unmark(word, &other);
    sum += other;
  }
  *out = sum;
}
