// verdict: v8 int: result | failed | "out of bounds"
// verdict: v8 float: result | failed | "out of bounds"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// Takes the memory behind out[0] for a counter of blocks.
template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = fast_block_sum(sum);
  if (threadIdx.x != 0) return;
  if (atomicAdd(reinterpret_cast<int*>(out) + 1, 1) == 0) *out = 0;
  atomicAdd(out, sum);
}
