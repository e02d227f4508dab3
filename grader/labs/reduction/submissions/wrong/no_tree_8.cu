// verdict: v7 float: result | failed | "Rounding explains at most"
// verdict: v7: sectors | failed | "atomics of 4 bytes cost 32 sectors where 1 would do"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// As no_tree_16, with twice as many atomics. Floats are counted although their sum is wrong: a
// kernel that is less exact must not have more points.
LAB32_LAUNCH(reduce_v7, .block = 128, .items_per_thread = 8);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int threads = gridDim.x * blockDim.x;
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum += in[i];
  atomicAdd(out, sum);
}
