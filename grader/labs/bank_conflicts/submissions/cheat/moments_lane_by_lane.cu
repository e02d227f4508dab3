// verdict: B4 row_moments: wavefronts | failed | "of all threads work"
// Each lane reads its row from device memory, one lane after the other.
__global__ void row_moments(const uchar4* in, int* out, int n) {
  int row = kBlock * blockIdx.x + threadIdx.x;
#pragma unroll 1
  for (int lane = 0; lane < 32; ++lane) {
    if (threadIdx.x % 32 != lane || row >= n) continue;
    int sum = 0;
#pragma unroll 1
    for (int q = 0; q < 8; ++q) {
      uchar4 v = in[8 * row + q];
      sum += (4 * q + 1) * v.x + (4 * q + 2) * v.y + (4 * q + 3) * v.z + (4 * q + 4) * v.w;
    }
    out[row] = sum;
  }
}
