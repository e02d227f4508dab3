// verdict: B2 look_up: wavefronts | failed | "sectors of device memory, where"
// The table stays in device memory, and lanes take turns: a request of one lane touches one sector,
// which is all that its four bytes need.
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i >= n) return;
    const volatile int* at = table + 32 * row[i] + column[i / 32];
#pragma unroll 1
    for (int lane = 0; lane < 32; ++lane)
      if (threadIdx.x % 32 == lane) out[i] = *at;
  }
}
