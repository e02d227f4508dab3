// verdict: v8 int: result | failed | "race on sums_left"
// verdict: v8 float: result | failed | "lane"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// Only thread 0 learns that its block is the last one; the others leave, and it adds up alone what
// a whole block is to add.
template <class T>
__device__ T sums_left[kBestBlocks];
__device__ unsigned blocks_finished;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, step = gridDim.x * kBestThreads, t = threadIdx.x;
  int i = blockIdx.x * kBestThreads + t;
  T sum = i < n % 4 ? in[4 * count + i] : T(0);
  for (; i < count; i += step) sum += fours[i].sum();
  sum = fast_block_sum(sum);
  bool last = false;
  if (t == 0) {
    sums_left<T>[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_finished, gridDim.x - 1) == gridDim.x - 1;
  }
  if (!last) return;
  sum = 0;
  for (unsigned b = t; b < gridDim.x; b += kBestThreads) sum += sums_left<T>[b];
  sum = fast_block_sum(sum);
  if (t == 0) *out = sum;
}
