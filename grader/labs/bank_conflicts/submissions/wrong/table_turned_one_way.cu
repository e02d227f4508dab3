// verdict: B2 look_up: result | failed | "was expected"
// verdict: B2 look_up: wavefronts | failed | "counts once the result is right"
// half right
// Entries are stored where they are turned to, and looked for without the remainder.
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[256 * 32];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock) entries[entry(j / 32, j % 32)] = table[j];
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[(32 * row[i] + column[i / 32] + row[i]) % (256 * 32)];
  }
}
