// The given kernels of labs/reduction/reduction.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

constexpr unsigned kMostThreads = 1024;

__global__ void reduce_v1(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

template <int kThreads>
__global__ void faulty_tail(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i < n) sums[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void faulty_tail<128>(const int*, int*, int);

template <int kThreads>
__global__ void faulty_half(const int* in, int* out, int n) {
  __shared__ int sums[kThreads / 2];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  int sum = i < n ? in[i] : 0;
  if (i + kThreads < n) sum += in[i + kThreads];
  sums[t] = sum;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void faulty_half<128>(const int*, int*, int);

template <int kThreads>
__global__ void faulty_overlap(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (t + distance < kThreads) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void faulty_overlap<8>(const int*, int*, int);

}  // namespace lab32_given
