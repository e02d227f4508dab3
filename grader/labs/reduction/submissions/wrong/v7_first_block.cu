// verdict: v7 int: result | failed | "It is the sum of the first block's elements alone."
// verdict: v7 float: result | failed | "n = 1000"
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// Who adds up the blocks? Each takes v6's share, and only the first one's sum arrives.
LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 1);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  T sum = block_sum<kThreads>(i < n ? in[i] : T(0));
  if (i == 0) *out = sum;
}
