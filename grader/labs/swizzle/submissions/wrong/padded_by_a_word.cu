// verdict: C2 padded: result | failed | "an access of 16 bytes needs an offset that is a multiple of 16"
// verdict: C2 padded: wavefronts | failed | "counts once the result is right"
// Padding as for single words: rows of 132 bytes, in which a chunk is not aligned any more.
template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ __align__(16) char tile[kRows][16 * kChunks + 4];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    *reinterpret_cast<uint4*>(&tile[row][16 * chunk]) = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(reinterpret_cast<uint4*>(&tile[row][16 * chunk]));
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
