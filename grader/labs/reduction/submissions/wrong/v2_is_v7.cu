// verdict: v2: divergence | failed | "12 wavefronts, where this step's kernel has at least 60"
// A later version in an earlier one's place: v7's loop and v6's tree, with the given grid.
template <unsigned kThreads>
__device__ int unrolled(int* sums) {
  unsigned t = threadIdx.x;
#pragma unroll
  for (unsigned distance = kThreads / 2; distance > 32; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  int sum = t < 32 ? sums[t] + sums[t + 32] : 0;
  for (int distance = 16; distance > 0; distance /= 2)
    if (t < 32) sum += __shfl_down_sync(kWholeWarp, sum, distance);
  return sum;
}

__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned n = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x;
  int sum = 0;
  for (unsigned i = first + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  switch (blockDim.x) {
    case 64:
      sum = unrolled<64>(sums);
      break;
    case 128:
      sum = unrolled<128>(sums);
      break;
    case 256:
      sum = unrolled<256>(sums);
      break;
    case 512:
      sum = unrolled<512>(sums);
      break;
    default:
      sum = unrolled<1024>(sums);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
