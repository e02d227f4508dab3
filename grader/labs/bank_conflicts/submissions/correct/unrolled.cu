// The loop of B1, unrolled, and both phases of the sum in one expression.
__global__ void row_scan(const int* in, int* out, int n) {
  constexpr int kPitch = 33;
  __shared__ int tile[kBlock][kPitch];
  int first = kBlock * blockIdx.x;
  int rows = min(kBlock, n - first);
  int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < rows; r += kBlock / 32) {
    tile[r][lane] = in[32 * (first + r) + lane];
  }
  __syncthreads();
  if (int(threadIdx.x) < rows) {
    int sum = 0;
#pragma unroll
    for (int c = 0; c < 32; ++c) tile[threadIdx.x][c] = sum += tile[threadIdx.x][c];
  }
  __syncthreads();
  for (int r = threadIdx.x / 32; r < rows; r += kBlock / 32) {
    out[32 * (first + r) + lane] = tile[r][lane];
  }
}
