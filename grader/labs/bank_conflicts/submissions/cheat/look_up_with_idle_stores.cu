// verdict: B2 look_up: wavefronts | failed | "The kernel moves"
// Every look-up goes to device memory; as many stores to shared memory as a table would need.
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[kBlock];
  volatile int* own = entries + threadIdx.x;
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = table[32 * row[i] + column[i / 32]];
    *own = k;
  }
}
