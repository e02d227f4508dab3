// Alternatives: a loop over the bits, a table of rows, another pair of rows, another collision, and
// a swizzle in the opposite direction.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  for (int b = 0; b < B; ++b) {
    int y = M + b + (S > 0 ? S : 0), z = M + b - (S < 0 ? S : 0);
    offset ^= (offset >> y & 1) << z;
  }
  return offset;
}

LAB32_ANSWER(alike_row_1, 7);
LAB32_ANSWER(alike_row_2, 3);

LAB32_ANSWER(collision_y_1, 9);
LAB32_ANSWER(collision_x_1, 13);
LAB32_ANSWER(collision_y_2, 8);
LAB32_ANSWER(collision_x_2, 13);

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk ^ 7 - row % 8] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[row][chunk ^ 7 - row % 8]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
