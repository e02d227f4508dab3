// verdict: B3 reduce_shuffle: wavefronts | failed | "sectors, where 33,280 are enough"
// verdict: B3 reduce_shuffle: barriers | failed | "sectors, where"
// Every thread adds its two elements to out in device memory: one barrier, and no shared memory.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  int i = blockIdx.x * 2 * blockDim.x + threadIdx.x;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = 0;
  __syncthreads();
  atomicAdd(out + blockIdx.x, sum);
}
