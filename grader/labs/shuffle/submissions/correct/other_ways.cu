// Two levels of atomics in C2, and in D1 minima and maxima by redux on the floats' bits.
__global__ void sum_by_blocks(const float* in, float* total, int n) {
  __shared__ float sum;
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float mine = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Integers in the order of floats: negative ones count backwards.
__device__ int ordered(float x) {
  int bits = __float_as_int(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__device__ float unordered(int key) { return __int_as_float(key < 0 ? key ^ 0x7fffffff : key); }

__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  int least = ordered(INFINITY), most = ordered(-INFINITY);
  for (int c = lane; c < columns; c += kWarpSize) {
    int x = ordered(in[row * columns + c]);
    least = min(least, x);
    most = max(most, x);
  }
  least = __reduce_min_sync(kAll, least);
  most = __reduce_max_sync(kAll, most);
  if (lane == 0) {
    low[row] = unordered(least);
    high[row] = unordered(most);
  }
}
