// verdict: v7 int: result | failed | "; the last is in["
// verdict: v7 float: result | failed | "; the last is in["
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// As the SYSU Lecture has it: the second of two elements is read without a look at n.
template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = 2 * blockIdx.x * kThreads + threadIdx.x; i < n; i += 2 * gridDim.x * kThreads)
    sum += in[i] + in[i + kThreads];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
