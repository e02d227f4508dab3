// verdict: v7: sectors | failed | "atomics of 4 bytes cost 32 sectors where 1 would do"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// v7 without a tree: an atomic for each thread. For ints the compiler adds those of a warp; for floats it does not.
LAB32_LAUNCH(reduce_v7, .block = 128, .items_per_thread = 16);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int threads = gridDim.x * blockDim.x;
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) sum += in[i];
  atomicAdd(out, sum);
}
