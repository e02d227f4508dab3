// verdict: v4: idle lanes | failed | "An earlier step needs only 29 accesses per block; here there are 45."
// half right
// Both elements of a thread go through shared memory, and the tree has a step more.
__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[2 * kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i];
  sums[t + blockDim.x] = in[i + blockDim.x];
  __syncthreads();
  for (unsigned distance = blockDim.x; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
