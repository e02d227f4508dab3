// verdict: B1 row_scan: wavefronts | failed | "take 2 wavefronts where 1 would"
// Rows of 34 words: within the limit only with a block's tile in two halves, and every other bank.
__global__ void row_scan(const int* in, int* out, int n) {
  constexpr int kRows = 128, kPitch = 34;
  __shared__ int tile[kRows * kPitch];
  for (int half = 0; half < 2; ++half) {
    int first = kBlock * blockIdx.x + kRows * half;
    int words = max(0, 32 * min(kRows, n - first));
    for (int j = threadIdx.x; j < words; j += kBlock) {
      tile[j / 32 * kPitch + j % 32] = in[32 * first + j];
    }
    __syncthreads();
    if (32 * threadIdx.x < words) {
      int sum = 0;
      for (int c = 0; c < 32; ++c) {
        sum += tile[kPitch * threadIdx.x + c];
        tile[kPitch * threadIdx.x + c] = sum;
      }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < words; j += kBlock) {
      out[32 * first + j] = tile[j / 32 * kPitch + j % 32];
    }
    __syncthreads();
  }
}
