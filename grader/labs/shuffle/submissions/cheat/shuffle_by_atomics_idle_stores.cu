// verdict: B3 reduce_shuffle: wavefronts | failed | "sectors, where 33,280 are enough"
// verdict: B3 reduce_shuffle: barriers | failed | "sectors, where"
// Atomics in device memory, and half of the wavefronts of a solution for nothing.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float idle[1024];
  volatile float* own = idle + threadIdx.x;
  int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  *own = sum;
  if (threadIdx.x == 0) out[blockIdx.x] = 0;
  __syncthreads();
  atomicAdd(out + blockIdx.x, sum);
}
