// verdict: v7: sectors | failed | "touch 32 sectors where 4 would do"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// half right
// One contiguous piece per thread: the SYSU Lecture's question.
template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int piece = ceil_div(n, gridDim.x * kThreads);
  int first = (blockIdx.x * kThreads + threadIdx.x) * piece;
  T sum = 0;
  for (int i = first; i < first + piece && i < n; ++i) sum += in[i];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
