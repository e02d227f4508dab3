// verdict: B2 look_up: wavefronts | failed | "where the task needs"
// The table stays where it is: no bank, and a sector for nearly every lane.
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = table[32 * row[i] + column[i / 32]];
  }
}
