// verdict: B2 look_up: wavefronts | failed | "declares 33,792 bytes of shared memory, but the task allows 32,768"
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[256 * 33];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock) entries[j / 32 * 33 + j % 32] = table[j];
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[33 * row[i] + column[i / 32]];
  }
}
