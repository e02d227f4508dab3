// Kernels that strain something other than arithmetic.

// The reduction of the Reduce Tutorial at 8 threads per block: a block mostly starts and stops.
__global__ void sum_by_8(const int* in, int* out) {
  __shared__ int sums[8];
  const unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * 8 + t];
  __syncthreads();
  for (unsigned step = 4; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// Each word is read by one thread and written by one; x and y may be the same allocation.
__global__ void add_one(const int* x, int* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 1;
}

// No two blocks touch shared memory alike.
__global__ void histogram(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[256];
  const unsigned t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] % 256], 1u);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}
