// verdict: v7 float: result | failed | "add the elements one after the other to one float"
// verdict: v7: sectors | failed | "but the task needs fewer than"
// verdict: v7: instructions | failed | "counts once nearly all points are reached"
// An atomic per element. Ints are right in any order; floats are not in this one.
template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    atomicAdd(out, in[i]);
}
