// The given kernels of labs/shuffle/shuffle.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

constexpr unsigned kAll = 0xffffffff;
constexpr int kWarpSize = 32, kBlock = 256;

__global__ void five_steps(const int* in, int* first, int* down, int* butterfly) {
  int lane = threadIdx.x;
  int v = in[lane];
  first[lane] = __shfl_down_sync(kAll, v, 16);
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  down[lane] = v;
  v = in[lane];
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
  butterfly[lane] = v;
}

template <class T>
__global__ void reduce_atomic(const T* in, T* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}
template __global__ void reduce_atomic(const int*, int*, int);
template __global__ void reduce_atomic(const float*, float*, int);

__global__ void add_ones(float from, float* out, int n) {
  for (int i = 0; i < n; ++i) from += 1.0f;
  *out = from;
}

template <class T>
__global__ void warp_sums(const T* in, T* out, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  T sum = ::warp_reduce_sum(i < n ? in[i] : T(0));
  if (i < n && i % kWarpSize == 0) out[i / kWarpSize] = sum;
}
template __global__ void warp_sums(const int*, int*, int);
template __global__ void warp_sums(const float*, float*, int);

}  // namespace lab32_given
