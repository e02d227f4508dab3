// verdict: B1 row_scan: result | failed | "out of bounds"
// verdict: B1 row_scan: wavefronts | failed | "counts once the result is right"
// The last block takes 256 rows as if it had them all.
__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ int tile[kBlock][33];
  int first = kBlock * blockIdx.x;
  for (int j = threadIdx.x; j < 32 * kBlock; j += kBlock) tile[j / 32][j % 32] = in[32 * first + j];
  __syncthreads();
  int sum = 0;
  for (int c = 0; c < 32; ++c) tile[threadIdx.x][c] = sum += tile[threadIdx.x][c];
  __syncthreads();
  for (int j = threadIdx.x; j < 32 * kBlock; j += kBlock)
    if (first + j / 32 < n) out[32 * first + j] = tile[j / 32][j % 32];
}
