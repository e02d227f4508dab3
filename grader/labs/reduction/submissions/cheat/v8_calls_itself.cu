// verdict: v8 int: result | failed | "stack too deep"
// verdict: v8 float: result | failed | "off by"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// One recursive call for each element, of a kind that no compiler makes a loop of.
template <class T>
__device__ __noinline__ T sum_from(const T* in, int i, int n, T one) {
  if (i >= n) return T(0);
  T rest = sum_from(in, i + 1, n, one);
  return rest * one + in[i];
}

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = sum_from(in, 0, n, T(blockDim.x / kBestThreads));
}
