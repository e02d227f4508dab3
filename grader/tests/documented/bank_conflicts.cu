// The kernels that the reduce note's story of conflicts is about, besides those of reduce.cu: its
// vectorised form, and the two ways of staging that it compares, by themselves.

// A thread brings an int4 into shared memory, adds its four ints, and the tree does the rest.
template <int kThreads>
__global__ void reduce_vectorized(const int* arr, int* out, int len) {
  __shared__ int4 quads[kThreads];
  int* sums = reinterpret_cast<int*>(quads);
  int t = threadIdx.x;
  int i = blockIdx.x * kThreads + t;
  quads[t] = 4 * i < len ? reinterpret_cast<const int4*>(arr)[i] : make_int4(0, 0, 0, 0);
  __syncthreads();
  int sum = sums[4 * t] + sums[4 * t + 1] + sums[4 * t + 2] + sums[4 * t + 3];
  __syncthreads();
  sums[t] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}
template __global__ void reduce_vectorized<32>(const int*, int*, int);

// 1024 ints a block of 256 threads, staged one int at a time ...
__global__ void stage_int(const int* in, int* out) {
  __shared__ int data[1024];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) data[t + 256 * k] = in[1024 * blockIdx.x + t + 256 * k];
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[1024 * blockIdx.x + t + 256 * k] = data[(t ^ 1) + 256 * k];
}

// ... and four at a time.
__global__ void stage_int4(const int4* in, int4* out) {
  __shared__ int4 data[256];
  int t = threadIdx.x;
  data[t] = in[256 * blockIdx.x + t];
  __syncthreads();
  out[256 * blockIdx.x + t] = data[t ^ 1];
}
